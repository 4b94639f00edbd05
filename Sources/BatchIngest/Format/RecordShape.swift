package import BatchFoundation

/// The record types of a platform, cases named as exports name them, with the fields of each.
public protocol RecordShape: CaseIterable, RawRepresentable<UInt8>, Sendable {
  /// What records of every type may have beside ``RecordField/type``.
  static var head: [RecordField] { get }

  /// What records of the type have besides.
  var fields: [FieldUse] { get }

  /// Whether `events` inputs may name the type; others are known by their fields or by their input.
  var isExported: Bool { get }
}

extension RecordShape {
  /// The fields of the format; all others are unknown.
  package static var allFields: Set<RecordField> {
    Set(head + [.type, .action, .channel, .recordId] + allCases.flatMap { $0.fields.map(\.field) })
  }

  /// The type by the name that `events` inputs use.
  package init?(exportName name: Text) {
    guard let type = Self.allCases.first(where: { $0.isExported && "\($0)" == name.description }) else { return nil }
    self = type
  }

  /// What a misspelled name was perhaps meant to be.
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
    // A record of consent has one of them at least.
    dictionary.alternatives = ["use": "export"]
    return dictionary
  }
}
