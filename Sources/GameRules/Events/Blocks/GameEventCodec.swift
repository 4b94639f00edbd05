package import BatchFoundation
package import BatchStore

package struct GameEventCodec: EventCodec {
  package init() {}

  package func cursor(of block: [UInt8]) throws -> any EventCursor { try GameEventCursor(block) }

  package func writer(_ limits: BlockLimits) -> any BlockWriter { GameBlockWriter(limits) }

  package func appendBody(
    of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer
  ) throws {
    try unsafe GameBlockReader.appendBody(of: block, to: &body)
  }
}

package final class GameEventCursor: EventCursor {
  private var reader: GameBlockReader

  package init(_ block: [UInt8]) throws {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: block.count)
    defer { unsafe copy.deallocate() }
    _ = unsafe copy.initialize(from: block)
    reader = try unsafe GameBlockReader(UnsafeBufferPointer(copy))
  }

  package func next() throws -> Bool { try reader.next() }

  package var timestamp: Instant { reader.timestamp }
  package var emission: Int64 { reader.emission }
  package var device: Text { reader.device }
  package var isExpired: Bool { false }
  package var source: StoredSource { reader.source }

  package var type: Text { reader.eventName }

  package func appendJSON(to target: inout ByteBuffer) { reader.appendJSON(to: &target) }

  /// Returns the event as a value with all memory in the arena.
  package func event(in arena: Arena) -> GameEvent { reader.event(in: arena) }
}

private final class GameBlockWriter: BlockWriter {
  private var encoder: GameBlockEncoder
  private let arena = Arena()
  private var events: [GameEvent] = []

  init(_ limits: BlockLimits) { encoder = GameBlockEncoder(limits: limits) }

  func append(_ event: any EventCursor, emission: Int64) {
    // Stores pass a codec only the cursors that it made.
    guard let cursor = event as? GameEventCursor else { preconditionFailure("a cursor of another codec") }
    var copy = cursor.event(in: arena)
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
