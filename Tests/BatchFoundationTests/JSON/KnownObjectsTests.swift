import Testing

@testable import BatchFoundation

/// What lines repeat is read once; that may not be seen in anything that is read.
@Suite struct KnownObjectsTests {
  private struct Outcome: Equatable {
    var tape: [UInt8] = []
    var flaws: [Int?] = []
    var error: JSONSyntaxError?
  }

  private static func read(_ line: String, _ reader: inout JSONLineReader) -> Outcome {
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
    var reader = JSONLineReader()
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
      var fresh = JSONLineReader()
      #expect(Self.read(line, &reader) == Self.read(line, &fresh), "line \(number): \(line)")
    }
  }
}
