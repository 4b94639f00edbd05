package import BatchFoundation
package import BatchStore

/// The codec of Universal Behavior events in blocks (``BlockReader``, ``EventBlockEncoder``).
package struct EngageEventCodec: EventCodec {
  package init() {}

  package func cursor(of block: [UInt8]) throws -> any EventCursor { EngageEventCursor(try BlockReader(block)) }

  package func writer(_ limits: BlockLimits) -> any BlockWriter { EngageBlockWriter(limits) }

  package func appendBody(of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer) throws {
    try unsafe BlockReader.appendBody(of: block, contact: version == 1, to: &body)
  }
}

private final class EngageEventCursor: EventCursor {
  private var reader: BlockReader

  init(_ reader: consuming BlockReader) { self.reader = reader }

  func next() throws -> Bool { try reader.next() }

  var timestamp: Instant { reader.timestamp }
  var emission: Int64 { reader.emission }
  var device: Text { reader.device() }
  var type: Text { reader.type() }
  var isExpired: Bool { reader.isExpired }
  var isLate: Bool { reader.isLate }
  var source: StoredSource { reader.source }

  func appendJSON(to target: inout ByteBuffer) { reader.appendJSON(to: &target) }

  func event(in arena: Arena) -> Event { reader.event(in: arena) }
}

private final class EngageBlockWriter: BlockWriter {
  private var encoder: EventBlockEncoder
  private let arena = Arena(blockSize: 1 << 16)
  private var events: [Event] = []

  init(_ limits: BlockLimits) { encoder = EventBlockEncoder(limits: limits) }

  func append(_ event: any EventCursor, emission: Int64) {
    // A store has one codec, so cursors of another never occur.
    guard let cursor = event as? EngageEventCursor else { return }
    var copy = cursor.event(in: arena).copied(to: arena)
    copy.emission = emission
    events.append(copy)
  }

  func finish() -> EventBlocks {
    let blocks = unsafe events.withUnsafeBufferPointer { unsafe encoder.encode($0) }
    events.removeAll(keepingCapacity: true)
    arena.reset()
    return blocks
  }
}

/// Writes events in the form of the wire and of `--events-out` (reference formats 4.2).
package enum EventJSON {
  static let beforeCode: Text = "{\"eventTypeCode\":\""
  static let beforeTimestamp: Text = "\",\"eventTimestamp\":\""
  static let beforeAttributes: Text = "\",\"attributes\":["
  static let beforeContact: Text = "\",\"contactId\":"
  static let afterContact: Text = ",\"attributes\":["
  static let beforeName: Text = "{\"name\":\""
  static let beforeValue: Text = "\",\"value\":\""
  static let afterValue: Text = "\"}"
  static let afterAttributes: Text = "]}"

  /// The bytes around the name and value of one attribute, including the comma after it.
  static let attributeBytes = 23
  /// The bytes of an event besides its code and attributes; the last attribute has no comma.
  static let eventBytes = 18 + 20 + 24 + 16 + 2 - 1

  static let bodyStart: Text = "{\"events\":["
  static let bodyEnd: Text = "]}"

  package static func append(_ event: Event, to target: inout ByteBuffer) {
    append(event.code, event.timestamp, event.wireAttributes, to: &target)
  }

  /// Appends an event with these attributes, in this order, without a line end.
  package static func append(
    _ code: Text, _ timestamp: Instant, _ attributes: [Attribute], to target: inout ByteBuffer
  ) {
    target.append(beforeCode)
    CanonicalJSON.appendEscaped(code, to: &target)
    target.append(beforeTimestamp)
    unsafe target.append(limit: 24) { bytes in
      unsafe timestamp.write(to: bytes)
      return 24
    }
    target.append(beforeAttributes)
    for (index, attribute) in attributes.enumerated() {
      if index > 0 { target.append(UInt8(ascii: ",")) }
      target.append(beforeName)
      CanonicalJSON.appendEscaped(attribute.name, to: &target)
      target.append(beforeValue)
      CanonicalJSON.appendEscaped(attribute.value, to: &target)
      target.append(afterValue)
    }
    target.append(afterAttributes)
  }
}
