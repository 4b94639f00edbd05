/// What can be wrong with an event; the raw value is its id in findings and reports (reference deltadna 6).
package enum FindingID: String, CaseIterable, Sendable, Codable {
  case badName
  case badTimestamp
  case emptyValue
  case formatMismatch
  case missingRequired
  case notInEnumeration
  case nullValue
  case reservedName
  case tooLarge
  case tooLong
  case unknownEvent
  case unknownParameter
  case unpublishedEvent
  case wrongType
}

extension FindingID {
  /// What whoever sees the finding should do (`docs/event-schema.md` has more).
  package var advice: String {
    switch self {
    case .badName: "rename it where it is recorded"
    case .badTimestamp: "write yyyy-MM-dd HH:mm:ss.SSS, in UTC"
    case .emptyValue: "leave it out, or set DeltaDNA.dropEmpty"
    case .formatMismatch: "fix the value, or the expression in the schema"
    case .missingRequired: "record it"
    case .notInEnumeration: "fix the value, or add it to the schema; currencies are codes of ISO 4217"
    case .nullValue: "leave it out"
    case .reservedName: "rename it: the event has a member of that name beside eventParams"
    case .tooLarge: "shorten the event, or raise DeltaDNA.maxBytesPerRequest"
    case .tooLong: "shorten the value, or raise maxLength in the schema"
    case .unknownEvent: "add it to the schema and the environment, or stop recording it"
    case .unknownParameter: "add it to the event in the schema, or stop recording it"
    case .unpublishedEvent: "publish it, or send to DEV"
    case .wrongType: "fix the exporter; nothing is converted"
    }
  }
}

/// One thing that is wrong with an event, and where.
package struct EventFinding: Equatable, Sendable {
  package var id: FindingID
  /// A JSON Pointer (RFC 6901) into the event, as UTF-8; empty for the event as a whole.
  package var path: [UInt8]

  /// The order in which findings are listed: bytes of the path, then of the id.
  package static func precedes(_ one: EventFinding, _ other: EventFinding) -> Bool {
    guard one.path == other.path else { return one.path.lexicographicallyPrecedes(other.path) }
    return one.id.rawValue.utf8.lexicographicallyPrecedes(other.id.rawValue.utf8)
  }
}
