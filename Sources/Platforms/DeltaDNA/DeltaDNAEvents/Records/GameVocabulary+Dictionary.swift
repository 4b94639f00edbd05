import BatchFoundation
package import BatchIngest

extension GameVocabulary {
  package var dictionary: FieldDictionary {
    var dictionary = FieldDictionary()
    dictionary.fields = Set(GameField.allCases.map { "\($0.name)" })
    dictionary.values = [
      "type": GameRecordType.exported.map(\.name.description), "action": ["received", "opened"],
      "channel": ["push", "local"],
    ]
    for field in GameField.allCases { dictionary.kinds["\(field.name)"] = field.kindInWords }
    return dictionary
  }
}

extension GameField {
  /// What the field has to be; a time stamp may be a text or a number.
  fileprivate var kindInWords: String? {
    switch self {
    case .params, .device, .notification, .payload, .ids, .received, .spent, .response, .eventParams: "an object"
    case .latitude, .longitude: "a number"
    case .attributes: "an array"
    case .timestamp, .eventTimestamp, .eventTimeStamp: "a text or a number"
    case .eventTypeCode: "a text or a whole number"
    case .didLaunch, .use, .export: "true or false"
    case .recordId: nil
    default: "a text"
    }
  }
}
