import BatchFoundation
import GameRules
import TestSupport
import Testing

/// One export gives the same bytes whatever the order of its lines and wherever it is cut into runs.
@Suite struct CutTests {
  private static func export(_ seed: UInt64) -> [String] {
    var random = SplitMix64(seed: seed)
    func pick<T>(_ list: [T]) -> T { list[Int(random.next() % UInt64(list.count))] }
    return (0..<120).map { number in
      let device = pick(["a", "b"])
      let time = 1_700_000_000_000 + Int64(random.next() % 4_000_000)
      let rest = pick([
        #""type":"launch""#, #""type":"foreground""#, #""type":"background""#, #""type":"terminate""#,
        #""type":"newSession""#, #""type":"gameEvent","name":"x","params":{"n":\#(number)}"#,
        #""type":"gameEvent","name":"newPlayer""#, #""type":"pushToken","token":"\#(pick(["A", "B", ""]))""#,
        #""type":"crossGameUserId","crossGameUserId":"\#(pick(["A", "B"]))""#,
        #""type":"setUserId","userId":"\#(pick(["u", "v"]))""#,
        #""type":"forgetMe""#, #""type":"stopTracking""#, #""type":"consent","use":\#(pick(["true", "false"]))"#,
        #""type":"clearPersistentData""#, #""type":"engagement","decisionPoint":"d""#,
        #""type":"gameEvent","name":"y","device":{"osName":"\#(pick(["iOS", "Android"]))","country":"GB"}"#,
      ])
      if number % 10 == 0 {
        return
          #"{"eventName":"\#(pick(["s", "ddnaForgetMe"]))","userID":"\#(device)","eventTimestamp":\#(time),"eventParams":{"n":\#(number)}}"#
      }
      return #"{"deviceId":"\#(device)","timestamp":\#(time),"recordId":\#(number),\#(rest)}"#
    }
  }

  @Test(arguments: 1...40)
  func `cuts and shuffles change no byte`(seed: Int) throws {
    var lines = Self.export(UInt64(seed))
    let whole = try Replay(lines).run()
    #expect(!whole.lines.isEmpty)
    var random = SplitMix64(seed: UInt64(seed) &+ 1000)
    for _ in 0..<3 {
      // Lines of one instant would change places with their line numbers; the export has none.
      for index in lines.indices.dropFirst().reversed() {
        lines.swapAt(index, Int(random.next() % UInt64(index + 1)))
      }
      let cuts = (0..<4).map { _ in Instant(milliseconds: 1_700_000_000_000 + Int64(random.next() % 4_000_000)) }
        .sorted()
      let cut = try Replay(lines).run(cuts: cuts)
      #expect(cut.lines == whole.lines)
      #expect(cut.counts == whole.counts)
      #expect(cut.engagements == whole.engagements)
    }
  }

  @Test(arguments: 1...10)
  func `blocks give the lines back`(seed: Int) throws {
    let result = try Replay(Self.export(UInt64(seed))).run()
    let inside = result.bodies.map { $0.dropFirst(#"{"eventList":["#.count).dropLast(2) }
    #expect(inside.joined(separator: ",") == result.lines.joined(separator: ","))
  }

  @Test func `an explanation has a step for every record`() throws {
    let lines = Self.export(7)
    #expect(try Replay(lines).run(explains: true).explanation.count == lines.count)
  }
}
