package import BatchFoundation
package import BatchStore

/// Universal Behavior events in blocks (``BlockReader``, ``EventBlockEncoder``).
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
    // Cursors of another codec never come here: a store has one.
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
