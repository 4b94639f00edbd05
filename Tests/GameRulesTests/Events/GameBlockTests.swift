import BatchFoundation
import BatchStore
import Testing

@testable import GameRules

@Suite("Blocks of games") struct GameBlockTests {
  @Test("Each event keeps where it was read")
  func sources() throws {
    let arena = Arena()
    var tape = JSONTape()
    var reader = JSONReader()
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
    var encoder = EventBlockWriter(.game, limits: RequestLimits(maxEvents: 100, maxBodyBytes: 1 << 20))
    let block = events.withUnsafeBufferPointer { encoder.encode($0) }.block(0)
    let cursor = try EventBlockReader(block, .game)
    var read: [StoredSource] = []
    while try cursor.next() {
      #expect(try GameEvent(cursor, in: arena).source == cursor.source)
      read.append(cursor.source)
    }
    #expect(read == sources)
  }

  @Test("An event is on the wire as the contract says, also after a copy", arguments: [false, true])
  func wire(isCopied: Bool) throws {
    let arena = Arena()
    let parameters =
      #"{"a":"x\"y\u0001é","f":-1.5,"l":[1,true,null,{"k":"\\"}],"long":123456789,"n":7,"o":{},"platform":"IOS"}"#
    var tape = JSONTape()
    var reader = JSONReader()
    _ = try reader.read(arena.text(parameters).bytes, onto: &tape)
    let events = [("876F6F14-41B3-5359-BFD7-F39D391E628C", "s\"1"), ("876f6f14-\"", ""), ("", "s\"1")].enumerated().map
    {
      index, event in
      GameEvent(
        name: "level\"Up", userID: "u\\", sessionID: arena.text(event.1), eventUUID: EventUUID(arena.text(event.0)),
        parameters: tape.view(at: 0), timestamp: Instant(milliseconds: 1_768_467_600_000), device: "d\"",
        emission: Int64(index + 1), consent: .use, isStored: index == 1)
    }
    var writer = EventBlockWriter(.game, limits: RequestLimits(maxEvents: 100, maxBodyBytes: 1 << 20))
    var blocks = events.withUnsafeBufferPointer { writer.encode($0) }
    if isCopied { blocks = try WireForm.game.copy(of: blocks.block(0)) }
    var body = ByteBuffer()
    try blocks.block(0).withUnsafeBufferPointer { try WireForm.game.appendBody(of: $0, version: 0, to: &body) }
    func wire(_ session: String, _ id: String) -> String {
      #"{"eventName":"level\"Up","userID":"u\\"\#(session),"eventUUID":"\#(id)","eventTimestamp":"2026-01-15 09:00:00.000","#
        + #""eventParams":\#(parameters)}"#
    }
    let session = #","sessionID":"s\"1""#
    let expected = [
      wire(session, "876F6F14-41B3-5359-BFD7-F39D391E628C"), wire("", #"876f6f14-\""#), wire(session, ""),
    ]
    #expect(String(decoding: body.array, as: UTF8.self) == #"{"eventList":["# + expected.joined(separator: ",") + "]}")
    #expect(blocks.entries.map(\.bodyBytes) == [body.count])
    #expect(blocks.entries.map(\.group) == [Int(PIPLConsent.use.rawValue)])
    let read = try EventBlockReader(blocks.block(0), .game)
    for (event, wire) in zip(events, expected) {
      #expect(try read.next())
      var outline = ByteBuffer()
      read.appendOutline(to: &outline)
      #expect(
        String(decoding: outline.array, as: UTF8.self)
          == String(wire.dropLast(parameters.count + 1)) + "{}}", "the same without its parameters")
      let copy = try GameEvent(read, in: arena)
      #expect(try copy.json == event.json)
      #expect(try event.byteCount == event.json.count)
      #expect(copy.eventUUID.description == event.eventUUID.description)
      #expect((copy.isStored, copy.consent, copy.emission) == (event.isStored, event.consent, event.emission))
      #expect(read.device == "d\"")
    }
    #expect(try !read.next())
  }
}

extension GameEvent {
  /// The event in the form of the wire.
  var json: [UInt8] {
    get throws {
      var writer = EventBlockWriter(.game, limits: RequestLimits(maxEvents: 1, maxBodyBytes: .max))
      return try WireForm.game.event(writer.encode(self)).json
    }
  }
}
