import BatchFoundation
package import BatchIngest

extension EngageVocabulary {
  package var dictionary: FieldDictionary {
    var dictionary = FieldDictionary()
    dictionary.fields = Set(RecordField.allCases.map { "\($0.name)" })
    dictionary.values = [
      "type": RecordType.exportNames, "action": ["received", "opened"], "channel": ["push", "local"],
    ]
    for field in RecordField.allCases { dictionary.kinds["\(field.name)"] = field.kindInWords }
    return dictionary
  }
}

extension RecordType {
  /// The types that `events` inputs may name.
  static let exportNames = allCases.map { "\($0)" }.filter { name in
    var name = name
    return name.withUTF8 { bytes in
      unsafe bytes.baseAddress.flatMap { unsafe RecordType(exportName: Text(base: $0, count: bytes.count)) } != nil
    }
  }
}

extension RecordField {
  /// What the field has to be; a time stamp may be a text or a number.
  fileprivate var kindInWords: String? {
    switch self {
    case .params, .device, .notification, .payload, .ids: "an object"
    case .latitude, .longitude: "a number"
    case .attributes: "an array"
    case .timestamp, .eventTimestamp, .eventTimeStamp: "a text or a number"
    case .eventTypeCode, .contactListId, .programId: "a text or a whole number"
    case .use, .export: "true or false"
    case .recordId: nil
    default: "a text"
    }
  }
}
