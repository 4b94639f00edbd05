package import BatchFoundation

/// The form of events on the wire and in `--events-out` (reference deltadna 5).
package enum EventJSON {
  /// Returns the bytes that the value takes without white space.
  package static func count(_ value: JSONView) -> Int {
    switch value.kind {
    case .null, .yes: return 4
    case .no: return 5
    case .number: return value.number?.count ?? 0
    case .string: return quotedCount(value.string ?? .empty)
    case .array:
      var elements = value.elements
      var count = 1
      while let element = elements.next() { count += Self.count(element) + 1 }
      return max(count, 2)
    case .object:
      var members = value.members
      var count = 1
      while let (key, member) = members.next() { count += quotedCount(key) + Self.count(member) + 2 }
      return max(count, 2)
    }
  }

  @inline(__always)
  static func quotedCount(_ text: Text) -> Int { CanonicalJSON.escapedCount(text) + 2 }
}

extension GameEvent {
  static let beforeName: Text = "{\"eventName\":"
  static let beforeUserID: Text = ",\"userID\":"
  static let beforeSessionID: Text = ",\"sessionID\":"
  static let beforeEventUUID: Text = ",\"eventUUID\":"
  static let beforeTimestamp: Text = ",\"eventTimestamp\":\""
  static let beforeParameters: Text = "\",\"eventParams\":"

  /// Appends the event without a line end.
  package func appendJSON(to target: inout ByteBuffer) {
    Self.appendJSON(
      name: name, userID: userID, sessionID: sessionID, eventUUID: eventUUID, timestamp: timestamp, to: &target
    ) { CanonicalJSON.append(parameters, to: &$0) }
  }

  @inline(__always)
  static func appendJSON(
    name: Text, userID: Text, sessionID: Text, eventUUID: EventUUID, timestamp: Instant, to target: inout ByteBuffer,
    parameters: (inout ByteBuffer) -> Void
  ) {
    target.append(beforeName)
    CanonicalJSON.appendString(name, to: &target)
    target.append(beforeUserID)
    CanonicalJSON.appendString(userID, to: &target)
    if !sessionID.isEmpty {
      target.append(beforeSessionID)
      CanonicalJSON.appendString(sessionID, to: &target)
    }
    target.append(beforeEventUUID)
    eventUUID.appendJSON(to: &target)
    target.append(beforeTimestamp)
    unsafe target.append(limit: 24) { bytes in
      unsafe timestamp.writeEventTimestamp(to: bytes)
      return Instant.eventTimestampBytes
    }
    target.append(beforeParameters)
    parameters(&target)
    target.append(UInt8(ascii: "}"))
  }

  /// The number of bytes that ``appendJSON(to:)`` appends.
  package var byteCount: Int {
    Self.frame + EventJSON.quotedCount(name) + EventJSON.quotedCount(userID)
      + (sessionID.isEmpty ? 0 : Self.beforeSessionID.count + EventJSON.quotedCount(sessionID))
      + eventUUID.escapedCount + 2 + EventJSON.count(parameters)
  }

  /// An upper bound of ``byteCount``, cheap to compute: no byte of a text or of a value's view becomes more than six.
  package var byteBound: Int {
    Self.frame + Self.beforeSessionID.count + 8
      + 6 * (name.count + userID.count + sessionID.count + eventUUID.count + parameters.size)
  }

  /// The bytes of every event besides its texts, session and parameters.
  static let frame =
    beforeName.count + beforeUserID.count + beforeEventUUID.count + beforeTimestamp.count
    + Instant.eventTimestampBytes + beforeParameters.count + 1
}
