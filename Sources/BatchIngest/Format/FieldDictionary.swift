/// The names that lines of a platform may use, for telling what a misspelled one was perhaps meant to be.
package struct FieldDictionary: Sendable {
  /// Every field of a line.
  package var fields: Set<String> = []
  /// Fields of which only some values are known, with those values.
  package var values: [String: [String]] = [:]
  /// What fields have to be, in words such as `a text`.
  package var kinds: [String: String] = [:]

  /// Fields in whose place another one would do.
  package var alternatives: [String: String] = [:]

  package init() {}
}

extension RecordVocabulary {
  /// Nothing is known.
  package var dictionary: FieldDictionary { FieldDictionary() }
}
