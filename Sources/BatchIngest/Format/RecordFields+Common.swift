public import BatchFoundation

extension RecordFields {
  /// Returns the device that the line names; empty with faults.
  @inlinable @inline(__always)
  public func device(_ faults: inout FieldFaults) -> Text {
    check(.filled(.deviceId), &faults)
    return text(.deviceId) ?? .empty
  }

  /// - Parameter spelling: parses a text.
  /// - Returns: the beginning of 1970 with faults.
  @inlinable
  public func time(
    _ field: RecordField, _ faults: inout FieldFaults, spelling: (Text) -> Instant? = { Instant(exportText: $0) }
  ) -> Instant {
    let instant: Instant?
    switch self[field]?.kind {
    case .string: instant = text(field).flatMap(spelling)
    case .number: instant = self[field]?.number.flatMap { Instant(epoch: $0) }
    case nil:
      faults.missing(field.name)
      return Instant(milliseconds: 0)
    default:
      faults.wrong(field.name)
      return Instant(milliseconds: 0)
    }
    if instant == nil { faults.badTimestamp(field.name) }
    return instant ?? Instant(milliseconds: 0)
  }

  /// Whether the line is an event as a phone stored it for Engage.
  @inlinable public var areOfRawEvent: Bool {
    self[.type] == nil && self[.eventTypeCode] != nil && self[.attributes] != nil
  }

  /// Returns device (the last `Device Id` attribute) and time of a raw event (reference formats 3.6).
  public func rawEvent(_ faults: inout FieldFaults) -> (device: Text, timestamp: Instant) {
    check(.required(.eventTypeCode), &faults)
    let oldName = self[.eventTimestamp] == nil && self[.eventTimeStamp] != nil
    let timestamp = time(oldName ? .eventTimeStamp : .eventTimestamp, &faults)
    check(.required(.attributes), &faults)
    guard let attributes = self[.attributes], attributes.kind == .array else { return (.empty, timestamp) }
    var device: JSONView?
    for (number, attribute) in attributes.elements.enumerated() {
      func place(_ member: Text = .empty) -> FieldPlace { FieldPlace("attributes", .empty, number, member) }
      guard attribute.kind == .object else {
        faults.wrong(place())
        continue
      }
      guard let given = attribute["name"], !given.isNull else {
        faults.missing(place("name"))
        continue
      }
      guard let name = given.string else {
        faults.wrong(place("name"))
        continue
      }
      if name == "Device Id" { device = attribute["value"] }
    }
    if let device, !device.isNull, device.string == nil { faults.wrong("Device Id") }
    let text = device?.string ?? .empty
    if device?.isNull != false || device?.kind == .string && text.isEmpty { faults.missing("Device Id") }
    return (text, timestamp)
  }

  /// Reads a line of a `notifications` input: `action` and `channel` stand in for the type (reference decisions 10).
  /// Their faults do not hide a missing payload (reference decisions 29).
  public func notification(
    _ faults: inout FieldFaults
  ) -> (isOpened: Bool, isLocal: Bool, body: JSONView?) {
    check(.required(.action), &faults)
    let isOpened = text(.action) == "opened"
    if let action = text(.action), !isOpened, action != "received" { faults.unknown("action") }
    check(.optional(.channel), &faults)
    let isLocal = text(.channel) == "local"
    if let channel = text(.channel), !isLocal, channel != "push" { faults.unknown("channel") }
    let body: RecordField =
      isLocal && self[.payload] == nil && self[.notification] != nil ? .notification : .payload
    check(.required(body), &faults)
    return (isOpened, isLocal, self[body])
  }
}
