import Testing

@testable import BatchFoundation

/// What lines repeat, whole objects and the order of keys, is read once; that may not be seen in anything that is read.
@Suite struct RepeatedJSONTests {
  private struct Outcome: Equatable {
    var tape: [UInt8] = []
    var flaws: [Int?] = []
    var error: JSONSyntaxError?
  }

  private static func read(_ line: String, _ reader: inout JSONReader) -> Outcome {
    var line = line
    return line.withUTF8 { (text) -> Outcome in
      var tape = JSONTape(capacity: 64)
      do throws(JSONSyntaxError) {
        let flaws = try reader.read(text, onto: &tape)
        return Outcome(
          tape: Array(tape.bytes),
          flaws: [
            flaws.unpairedSurrogate, flaws.tooDeep, flaws.duplicateKey, flaws.nulCharacter, flaws.numberOutOfRange,
          ])
      } catch {
        return Outcome(error: error)
      }
    }
  }

  private static let objects = [
    "{}", "{ }", #"{"name":"Phone","version":"15,2"}"#, #"{"name":"Phone","version":"15,2" }"#, #"{"name":"Phone"}"#,
    #"{"name":"a}b","x":1}"#, #"{"name":"a\"}","x":1}"#, #"{"name":"\u00e9\ud83d\ude00\n","x":[1,2,[3]]}"#,
    #"{"a":1,"a":2}"#, #"{"a":1e999}"#, #"{"a":"\ud800"}"#, #"{"a":"\u0000"}"#, #"{"o":{"p":1},"q":2}"#, #"{"o":{}}"#,
    #"{"a":[{}]}"#, #"{"a":[{"b":1}],"c":null}"#, #"{"a":tru}"#, #"{"a":1,}"#, #"{"a" :true , "b":false}"#,
    "{\"long\":\"\(String(repeating: "x", count: 520))\"}", "{\"edge\":\"\(String(repeating: "y", count: 500))\"}",
    "{\"deep\":\(String(repeating: "[", count: 70))\(String(repeating: "]", count: 70))}", "[{\"a\":1}]", "1", "\"}\"",
  ]

  @Test(arguments: [1, 2, 3, 4]) func aReaderThatKnowsObjectsReadsLikeANewOne(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var reader = JSONReader()
    for number in 0..<3000 {
      var members: [String] = []
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let key =
          ["device", "params", "payload", "d\(Int.random(in: 0...2, using: &random))"].randomElement(using: &random)
          ?? ""
        var object = Self.objects.randomElement(using: &random) ?? ""
        if Int.random(in: 0...3, using: &random) == 0 { object = "{\"n\":\(Int.random(in: 0...999, using: &random))}" }
        members.append("\"\(key)\":\(object)")
      }
      var line = "{\(members.joined(separator: ","))}"
      switch Int.random(in: 0...9, using: &random) {
      case 0: line = String(line.dropLast(Int.random(in: 0...line.count, using: &random)))
      case 1: line = "{\"outer\":\(line)}"
      case 2: line = "[\(line)]"
      default: break
      }
      var fresh = JSONReader()
      #expect(Self.read(line, &reader) == Self.read(line, &fresh), "line \(number): \(line)")
    }
  }

  private static let keys =
    (0..<10).map { "key\($0)" } + [
      "", "k", "kk", "timestamp", "twentynine bytes with quotes.", "a key of exactly 30 bytes here",
      "a key of exactly 29 bytes her", "a key that is longer than thirty-two bytes", #"esc\u0061ped"#, "escaped",
      #"q\"uote"#,
      "\u{E9}", "mobileUserId",
    ]

  @Test("A reader that expects keys reads like a new one", arguments: [1, 2, 3, 4]) func expectedKeys(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    func key() -> String {
      // More of them than are kept, now and then.
      let isNew = Int.random(in: 0...40, using: &random) == 0
      return isNew ? "n\(random.next() % 1000)" : Self.keys.randomElement(using: &random) ?? ""
    }
    func value(_ depth: Int) -> String {
      switch Int.random(in: 0...(depth > 3 ? 3 : 6), using: &random) {
      case 0: "1"
      case 1: #""text of some bytes""#
      case 2: "null"
      case 3: "[1,2]"
      case 4: "[\(object(depth + 1)),\(object(depth + 1))]"
      default: object(depth + 1)
      }
    }
    func object(_ depth: Int) -> String {
      // Most objects begin alike, as those of an export do.
      var members = (0..<Int.random(in: 0...3, using: &random)).map { "\"key\($0)\":\(value(depth))" }
      for _ in 0..<Int.random(in: 0...[0, 1, 3, 40][Int.random(in: 0...3, using: &random)], using: &random)
      where depth < 3 {
        let space = Int.random(in: 0...20, using: &random) == 0 ? " " : ""
        members.append("\(space)\"\(key())\"\(space):\(space)\(depth > 1 ? "0" : value(depth + 1))")
      }
      return "{\(members.joined(separator: ","))}"
    }
    var reader = JSONReader()
    for number in 0..<1500 {
      var line = object(0)
      if Int.random(in: 0...9, using: &random) == 0 {
        line = String(line.dropLast(Int.random(in: 0...line.count, using: &random)))
      }
      var fresh = JSONReader()
      #expect(Self.read(line, &reader) == Self.read(line, &fresh), "line \(number): \(line)")
    }
  }

  @Test("A key that comes again behind expected ones is told with its place") func repeatedBehindExpected() {
    var reader = JSONReader()
    let line =
      #"{"first":1,"second":2,"third":{"first":3,"second":4},"last":"so that nothing is near the end of the line"}"#
    for _ in 0..<2 { #expect(Self.read(line, &reader).flaws.allSatisfy { $0 == nil }) }
    for repeated in ["first", "second", "third"] {
      let prefix = #"{"first":1,"second":2,"third":{"first":3,"second":4},"#
      let outcome = Self.read(prefix + #""\#(repeated)":"so that nothing is near the end of the line"}"#, &reader)
      #expect(outcome.flaws == [nil, nil, prefix.utf8.count, nil, nil])
    }
  }

  /// Twice the steps that are kept, in one object each.
  @Test("Shapes beyond what is kept are read as others") func manyShapes() {
    var reader = JSONReader()
    for round in 0..<2 {
      for shape in 0..<600 {
        let line =
          "{\"s\(shape)\":1,\"t\(shape)\":{\"u\":\(round)},\"v\":\"so that nothing is near the end of the line\"}"
        var fresh = JSONReader()
        #expect(Self.read(line, &reader) == Self.read(line, &fresh))
      }
    }
  }
}
