/// The names that lines of a platform may use, for suggesting the intended one for a misspelling.
package struct FieldDictionary: Sendable {
  package var fields: Set<String> = []
  /// The known values of fields that have a fixed set.
  package var values: [String: [String]] = [:]
  /// The required kinds of fields in words, such as `a text`.
  package var kinds: [String: String] = [:]

  /// Fields that may be replaced by another one.
  package var alternatives: [String: String] = [:]

  package init() {}
}

extension RecordVocabulary {
  package var dictionary: FieldDictionary { FieldDictionary() }
}
