import Testing

@testable import BatchFoundation

/// What lines repeat, whole objects and everything between values, is parsed once. No result may differ for it.
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

  // MARK: Shapes

  private static let lines = [
    #"{"deviceId":"A1","timestamp":"2026-01-01T00:00:00Z","type":"custom","params":{"value":420,"on":true},"last":null}"#,
    #"{"deviceId":"A1","tags":["a","b"],"price":-0.25,"empty":{},"none":[],"deep":[[{"x":[1,{"y":""}]}]]}"#,
    #"{ "spaced" : "a" , "list" : [ 1 , 2 ] } "#,
    #"{"a key that is longer than thirty-two bytes":"x","second":{"another that is longer than that":1}}"#,
    "{\"long\":\"\(String(repeating: "x", count: 300))\",\"edge\":\"\(String(repeating: "y", count: 254))\"}",
    #"{"é":"é"}"#,
    #"{"a":1,"b":2,"c":3,"d":4,"e":5}"#, #"{"":"","k":"v","number":100000000000000000000}"#, #"["top",1,{"a":2}]"#,
    #""only a text""#, "12.5", "{}", #"{"a":1,"b":null}"#, #"{"a":"text"}"#, #"{"a":"text","b":-1}"#, #"{"a":true}"#,
  ]

  /// Returns the line with other values, which have the same kinds.
  private static func vary(_ line: String, _ random: inout SplitMix64) -> String {
    var result = ""
    for character in line {
      let isDigit = ("1"..."9").contains(character)
      let isOther = isDigit && Bool.random(using: &random)
      result += isOther ? "\(Int.random(in: 1...99, using: &random))" : "\(character)"
      if character == "x" { result += String(repeating: "z", count: Int.random(in: 0...20, using: &random)) }
    }
    return result
  }

  /// Returns the line with a byte that is missing, added or replaced.
  private static func damage(_ line: String, _ random: inout SplitMix64) -> String {
    var bytes = Array(line.utf8)
    let place = Int.random(in: 0..<bytes.count, using: &random)
    let byte = Array(#""\{}[]:,-+.eE019 tfn/a"#.utf8).randomElement(using: &random) ?? 0
    switch Int.random(in: 0...3, using: &random) {
    case 0: bytes.remove(at: place)
    case 1: bytes.insert(byte, at: place)
    case 2: bytes[place] = byte
    default: bytes.removeLast(bytes.count - place)
    }
    return String(validating: bytes, as: UTF8.self) ?? line
  }

  @Test(arguments: [1, 2, 3, 4]) func aReaderThatKnowsShapesReadsLikeANewOne(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var reader = JSONReader()
    for number in 0..<6000 {
      var line = Self.vary(Self.lines.randomElement(using: &random) ?? "", &random)
      if number.isMultiple(of: 3) { line = Self.damage(line, &random) }
      var fresh = JSONReader()
      #expect(Self.read(line, &reader) == Self.read(line, &fresh), "line \(number): \(line)")
    }
  }

  /// Returns whether a line is read by its shape after others have been learned.
  private static func isShaped(_ line: String, after lines: [String]) -> Bool {
    var shapes = LineShapes()
    for _ in 0..<20 { for var line in lines { line.withUTF8 { shapes.learn($0) } } }
    var line = line
    var tape = JSONTape(capacity: 64)
    return line.withUTF8 { shapes.read($0, onto: &tape) }
  }

  @Test func aLineOfAKnownShapeIsNotParsed() {
    for line in Self.lines { #expect(Self.isShaped(line, after: Self.lines), "\(line)") }
    #expect(Self.isShaped(#"{"a":10,"b":-2.5,"c":0,"d":400000,"e":5}"#, after: Self.lines))
  }

  @Test(arguments: [
    #"{"a":01,"b":2,"c":3,"d":4,"e":5}"#, #"{"a":1e1,"b":2,"c":3,"d":4,"e":5}"#, #"{"a":1.,"b":2,"c":3,"d":4,"e":5}"#,
    #"{"a":1,"b":2,"c":3,"d":4,"e":5"#, #"{"a":1,"b":2,"c":3,"d":4,"e":5}}"#, #"{"a":1,"b":2,"c":3,"d":4,"a":5}"#,
    #"["to\p",1,{"a":2}]"#, "[\"t\u{1F}p\",1,{\"a\":2}]", #""only a text"#, "{} ", "",
  ]) func aLineOfAnotherShapeIsParsed(line: String) {
    #expect(!Self.isShaped(line, after: Self.lines))
  }

  /// Too many levels, bytes of a key or of the line, bounds of arrays without a value between them; escapes, exponents.
  @Test(arguments: [
    #"[[[[[[[[["a"]]]]]]]]]"#, "{\"\(String(repeating: "k", count: 130))\":1}", "[{},{},{},{},{},{},{},{},{}]",
    #"{"a\n":1}"#, #"{"a":"\n"}"#, #"{"a":1e1}"#, "\"\(String(repeating: "v", count: 1 << 14))\"",
  ]) func aLineWithTooMuchOfAnythingIsNotLearnt(line: String) {
    #expect(!Self.isShaped(line, after: [line]))
  }

  @Test func shapesBeyondWhatIsKeptAreParsed() {
    var reader = JSONReader()
    for round in 0..<2 {
      for shape in 0..<1500 {
        let line = "{\"s\(shape)\":1,\"t\(shape)\":{\"u\":\(round)},\"v\":\"text\"}"
        var fresh = JSONReader()
        #expect(Self.read(line, &reader) == Self.read(line, &fresh))
      }
    }
  }
}
