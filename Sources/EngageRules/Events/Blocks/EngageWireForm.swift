package import BatchFoundation
package import BatchStore

extension WireForm {
  /// Universal Behavior events: the ten core attributes first, then the others (reference formats 4.2).
  package static let engage = WireForm(
    body: ("{\"events\":[", "]}"),
    pieces: [
      .text("{\"eventTypeCode\":\""), .type, .text("\",\"eventTimestamp\":\""), .timestamp, .text("\""),
      .contact(",\"contactId\":", shared: CoreAttribute.recipientId.rawValue),
      .text(",\"attributes\":[{\"name\":\"Device Name\",\"value\":\""), .shared, .fields, .text("\"}]}"),
    ],
    shared: [
      Shared(""), Shared("\"},{\"name\":\"Device Version\",\"value\":\""),
      Shared("\"},{\"name\":\"OS Name\",\"value\":\""),
      Shared("\"},{\"name\":\"OS Version\",\"value\":\""),
      Shared("\"},{\"name\":\"App Name\",\"value\":\""),
      Shared("\"},{\"name\":\"App Version\",\"value\":\""),
      Shared("\"},{\"name\":\"Device Id\",\"value\":\""),
      Shared("\"},{\"name\":\"Primary User Id\",\"value\":\""),
      Shared("\"},{\"name\":\"Anonymous Id\",\"value\":\""),
      Shared("\"},{\"name\":\"Recipient Id\",\"value\":\""),
    ],
    device: CoreAttribute.deviceId.rawValue,
    names: ("\"},{\"name\":\"", "\"},{\"name\":\"", "\",\"value\":\""))
}

extension EventBlockWriter {
  /// Encodes events without moving them.
  ///
  /// - Parameter places: the indices of the events in the order of ``Event/precedes(_:_:)``; nil if they are in order.
  package mutating func encode(_ made: UnsafeBufferPointer<Event>, at places: [Int]? = nil) -> EventBlocks {
    for place in places ?? Array(made.indices) {
      let event = unsafe made[place]
      // An array literal for a type from another target would allocate an array for each event.
      var flags = EventFlags(rawValue: 0)
      if event.expired { flags.insert(.isExpired) }
      if event.identityIsFixed { flags.insert(.isFixed) }
      if event.isLate { flags.insert(.isLate) }
      let core = unsafe UnsafeRawPointer(event.core).assumingMemoryBound(to: Text.self)
      unsafe append(
        EventHead(
          type: event.code, timestamp: event.timestamp, device: event.device, emission: event.emission,
          source: event.source, flags: flags),
        shared: UnsafeBufferPointer(start: core, count: CoreAttribute.count), fields: event.attributes)
    }
    return take()
  }
}

extension Event {
  /// Creates an event from a reader's current event, copied into the arena.
  package init(_ event: EventBlockReader, in arena: Arena) {
    var core = CoreTexts()
    for slot in core.values.indices { core.values[slot] = event.shared(slot) }
    let attributes = event.wireFields.map { Attribute(event.unescaped($0.name), event.unescaped($0.value)) }
    self = unsafe attributes.withUnsafeBufferPointer { attributes in
      unsafe Event(
        code: event.type, timestamp: event.timestamp, device: event.device, emission: event.emission,
        core: core.placed(in: arena), attributes: attributes, expired: event.isExpired,
        identityIsFixed: event.flags.contains(.isFixed), isLate: event.isLate, source: event.source
      ).copied(to: arena)
    }
  }
}

/// Writes events that are not in a block, in the wire format (reference formats 4.2).
package enum EventJSON {
  package static func append(_ event: Event, to target: inout ByteBuffer) {
    append(event.code, event.timestamp, event.wireAttributes, to: &target)
  }

  /// Appends an event with these attributes, in this order, without a line ending.
  package static func append(
    _ code: Text, _ timestamp: Instant, _ attributes: [Attribute], to target: inout ByteBuffer
  ) {
    target.append("{\"eventTypeCode\":")
    CanonicalJSON.appendString(code, to: &target)
    target.append(",\"eventTimestamp\":\"")
    unsafe target.append(limit: 24) { bytes in
      unsafe timestamp.write(to: bytes)
      return 24
    }
    target.append("\",\"attributes\":[")
    for (index, attribute) in attributes.enumerated() {
      target.append(index > 0 ? ",{\"name\":" : "{\"name\":")
      CanonicalJSON.appendString(attribute.name, to: &target)
      target.append(",\"value\":")
      CanonicalJSON.appendString(attribute.value, to: &target)
      target.append("}")
    }
    target.append("]}")
  }
}
