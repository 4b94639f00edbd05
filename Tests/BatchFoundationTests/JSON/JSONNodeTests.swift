import BatchFoundation
import Testing

@Suite struct JSONNodeTests {
  private func parse(_ text: String, _ options: JSONOptions = []) throws(JSONError) -> JSONNode {
    try JSONNode.parse(Array(text.utf8), options: options)
  }

  @Test func keepsOrderPlacesAndNumbersAsWritten() throws {
    let node = try parse(#"{"b":1.50,"a":[true,null,"x\u00e9\ud83d\ude00\/"]}"#)
    #expect(node.members?.map(\.key) == ["b", "a"])
    #expect(node.members?.map(\.place?.column) == [2, 11])
    guard case .number(let text)? = node["b"]?.value else { throw JSONError.syntax(offset: 0) }
    #expect(text == "1.50")
    #expect(node["a"]?.array?[2].string == "x\u{E9}\u{1F600}/")
    #expect(node["a"]?.array?[2].place == TextPlace(line: 1, column: 26))
  }

  @Test(arguments: [
    ("", 0), ("{", 1), (#"{"a" 1}"#, 5), ("[1,]", 3), ("[1 2]", 3), ("01", 0), ("1.", 0), ("+1", 0), ("nul", 0),
    (#""a"#, 0), (#""\x""#, 1), (#""\u12""#, 1), ("{} x", 3), ("\"a\nb\"", 2), ("[1]]", 3), ("{,}", 1), ("NaN", 0),
    (#"{"a":1,}"#, 7), ("// c\n1", 0),
  ])
  func refusesWhatIsNoJSON(text: String, offset: Int) {
    #expect(throws: JSONError.syntax(offset: offset)) { try parse(text) }
  }

  @Test func namesFlawsByTheirPlace() {
    #expect(throws: JSONError.duplicateKey(offset: 7)) { try parse(#"{"a":1,"\u0061":2}"#) }
    #expect(throws: JSONError.invalidUTF8(offset: 2)) { try parse(#"["\ud800"]"#) }
    #expect(throws: JSONError.nulCharacter(offset: 2)) { try parse(#"["\u0000"]"#) }
    #expect(throws: JSONError.numberOutOfRange(offset: 1)) { try parse("[1e309]") }
    #expect(throws: JSONError.tooDeep(offset: 64)) {
      try parse(String(repeating: "[", count: 65) + String(repeating: "]", count: 65))
    }
    #expect(throws: JSONError.invalidUTF8(offset: 1)) { try JSONNode.parse([0x22, 0xC0, 0xAF, 0x22]) }
  }

  @Test(arguments: 0...24)
  func undoesAnEscapeAtEveryPlace(place: Int) throws {
    let escapes = [
      (#"\n"#, "\n"), (#"\\"#, "\\"), (#"\""#, "\""), (#"\u00e9"#, "\u{E9}"), (#"\ud83d\ude00"#, "\u{1F600}"),
    ]
    for (escape, meaning) in escapes {
      for between in 0...17 {
        let (before, middle) = (String(repeating: "é", count: place), String(repeating: "y", count: between))
        let node = try parse("[\"\(before)\(escape)\(middle)\(escape)\(middle)\"]")
        #expect(node.array?[0].string == before + meaning + middle + meaning + middle)
      }
    }
  }

  @Test(arguments: 0...80)
  func findsInvalidUTF8AtEveryPlace(place: Int) {
    var bytes = Array(repeating: UInt8(ascii: "x"), count: 81) + Array("é".utf8)
    #expect(bytes.withUnsafeBufferPointer { firstInvalidUTF8($0) } == nil)
    bytes[place] = 0xC3
    #expect(bytes.withUnsafeBufferPointer { firstInvalidUTF8($0) } == place)
  }

  @Test func findsARepeatedKeyInAHugeObjectWithoutComparingAllPairs() throws {
    let members = (0..<200_000).map { #""key\#($0)":0"# }.joined(separator: ",")
    #expect(try parse("{\(members)}").members?.count == 200_000)
    let offset = members.utf8.count + 2
    #expect(throws: JSONError.duplicateKey(offset: offset)) { try parse("{\(members),\"key77\":0}") }
  }

  @Test func acceptsCommentsAndRepeatedKeysOnRequest() throws {
    let bytes = Array("{\"a\":1, /* x */ \"a\":2 // end\n}".utf8)
    let document = try JSONNode.document(bytes, options: [.comments, .duplicateKeys])
    #expect(document.root.members?.count == 2)
    #expect(document.root["a"]?.integer == 2)
    #expect(document.comment == TextPlace(line: 1, column: 9))
    #expect(document.root.members?.map(\.place?.column) == [2, 17])
    #expect(LineStarts(bytes).position(of: 29) == TextPlace(line: 2))
  }

  @Test func checksWhatIsTooDeepToTheEnd() {
    let opening = String(repeating: #"{"a":["#, count: 500_000)
    let closing = String(repeating: "]}", count: 500_000)
    #expect(throws: JSONError.tooDeep(offset: 192)) { try parse("\(opening)1,\"x\",null\(closing)") }
    #expect(throws: JSONError.syntax(offset: opening.utf8.count)) { try parse("\(opening)}") }
    #expect(throws: JSONError.invalidUTF8(offset: opening.utf8.count + 1)) {
      try parse("\(opening)\"\\ud800\"\(closing)")
    }
  }

  @Test func readsDeepAndDamagedTextWithoutRecursion() {
    let opening = String(repeating: "[", count: 1_000_000)
    #expect(throws: JSONError.syntax(offset: 1_000_000)) { try parse(opening) }
  }

  @Test("A parsed line is written like the tree of it")
  func writesViews() throws {
    let json = #"{"a":[1,{"b":[]},{}],"c":"x\"\u0001é","d":null,"e":[true,false,-1.50e3],"":{"g":{"h":[[[[0]]]]}}}"#
    var reader = JSONReader()
    var tape = JSONTape()
    _ = try Array(json.utf8).withUnsafeBufferPointer { try reader.read($0, onto: &tape) }
    for indentation in [0, 4, 40] {
      var target = ByteBuffer()
      tape.view(at: 0).append(indentation: indentation, to: &target)
      #expect(String(decoding: target.array, as: UTF8.self) == (try parse(json)).text(indentation: indentation))
    }
  }
}
