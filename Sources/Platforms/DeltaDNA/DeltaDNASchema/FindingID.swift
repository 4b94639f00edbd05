/// What can be wrong with an event; the raw value is its id in findings and reports (reference deltadna 6).
package enum FindingID: String, CaseIterable, Sendable {
  case badName
  case badTimestamp
  case emptyValue
  case formatMismatch
  case missingRequired
  case notInEnumeration
  case nullValue
  case reservedName
  case tooLarge
  case unknownEvent
  case unknownParameter
  case unpublishedEvent
  case wrongType
}

/// One thing that is wrong with an event, and where.
package struct EventFinding: Equatable, Sendable {
  package var id: FindingID
  /// A JSON Pointer (RFC 6901) into the event, as UTF-8; empty for the event as a whole.
  package var path: [UInt8]

  package init(id: FindingID, path: [UInt8]) {
    self.id = id
    self.path = path
  }

  /// The order in which findings are listed: bytes of the path, then of the id.
  package static func precedes(_ one: EventFinding, _ other: EventFinding) -> Bool {
    guard one.path == other.path else { return one.path.lexicographicallyPrecedes(other.path) }
    return one.id.rawValue.utf8.lexicographicallyPrecedes(other.id.rawValue.utf8)
  }
}
