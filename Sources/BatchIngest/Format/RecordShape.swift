package import BatchFoundation

/// The record types of a platform, with cases named as in exports, and the fields of each.
public protocol RecordShape: CaseIterable, RawRepresentable<UInt8>, Sendable {
  /// The fields that records of every type may have in addition to ``RecordField/type``.
  static var head: [RecordField] { get }

  /// The additional fields of the type.
  var fields: [FieldUse] { get }

  /// Whether `events` inputs may name the type; others are recognized by their fields or input.
  var isExported: Bool { get }
}

extension RecordShape {
  /// The fields of the format; all others are unknown.
  package static var allFields: Set<RecordField> {
    Set(head + [.type, .action, .channel, .recordId] + allCases.flatMap { $0.fields.map(\.field) })
  }

  package init?(exportName name: Text) {
    guard let type = Self.allCases.first(where: { $0.isExported && "\($0)" == name.description }) else { return nil }
    self = type
  }

  /// The names for suggesting the intended one for a misspelling.
  package static var dictionary: FieldDictionary {
    var dictionary = FieldDictionary()
    dictionary.values = [
      "type": allCases.filter(\.isExported).map { "\($0)" }, "action": ["received", "opened"],
      "channel": ["push", "local"],
    ]
    for field in allFields {
      dictionary.fields.insert("\(field)")
      dictionary.kinds["\(field)"] = field.kind.words
    }
    // A record of consent has at least one of them.
    dictionary.alternatives = ["use": "export"]
    return dictionary
  }
}
