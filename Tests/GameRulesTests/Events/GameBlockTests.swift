import BatchFoundation
import BatchStore
import GameRules
import Testing

@Suite("Blocks of games") struct GameBlockTests {
  @Test("Each event keeps where it was read")
  func sources() throws {
    let arena = Arena()
    var tape = JSONTape()
    var reader = JSONLineReader()
    _ = try reader.read(arena.text(#"{"level":3}"#).bytes, onto: &tape)
    let sources = [
      StoredSource(file: 2, line: 9), StoredSource(file: 2, line: 1), .unknown, StoredSource(file: 7, line: 1 << 40),
    ]
    let events = sources.enumerated().map { index, source in
      GameEvent(
        name: "levelUp", userID: "u", sessionID: "s", eventUUID: EventUUID(arena.text("e\(index)")),
        parameters: tape.view(at: 0),
        timestamp: Instant(milliseconds: 1_768_467_600_000 + Int64(index)), device: "d", emission: Int64(index + 1),
        consent: [], isStored: false, source: source)
    }
    var encoder = EventBlockWriter(.game, limits: BlockLimits(maxEvents: 100, maxBodyBytes: 1 << 20))
    let block = events.withUnsafeBufferPointer { encoder.encode($0) }.block(0)
    let cursor = try EventBlockReader(block, .game)
    var read: [StoredSource] = []
    while try cursor.next() {
      #expect(try GameEvent(cursor, in: arena).source == cursor.source)
      read.append(cursor.source)
    }
    #expect(read == sources)
  }
}
