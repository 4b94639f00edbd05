import BatchFoundation
import Testing

@testable import BatchConfiguration

@Suite struct DocumentReaderTests {
  @Test func readsBothFormatsAlike() throws {
    let json = """
      {"a": {"b": 1, "c": [true, "x"], "d": 1.5}}
      """
    let plist = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <!-- a comment -->
      <plist version="1.0"><dict><key>a</key><dict><key>b</key><integer>1</integer>
      <key>c</key><array><true/><string>x</string></array><key>d</key><real>1.5</real></dict></dict></plist>
      """
    #expect(try DocumentReader.read(Array(json.utf8)) == DocumentReader.read(Array(plist.utf8)))
  }

  @Test func keepsLines() throws {
    let json = try DocumentReader.read(Array("{\n\"a\":\n 1,\n\"b\": 2}".utf8))
    guard case .object(let members) = json.value else {
      Issue.record("no dictionary")
      return
    }
    #expect(members.map(\.line) == [2, 4])
    #expect(members.map(\.value.line) == [3, 4])
    let plist = try DocumentReader.read(
      Array("\n<plist>\n<dict>\n<key>a</key>\n\n<string>x</string>\n</dict></plist>".utf8))
    guard case .object(let pairs) = plist.value else {
      Issue.record("no dictionary")
      return
    }
    #expect(pairs.map(\.line) == [4])
    #expect(pairs.map(\.value.line) == [6])
  }

  struct Refused: CustomTestStringConvertible {
    var text: String
    var line: Int?
    var problem: String
    var hint: String?

    var testDescription: String { problem }
  }

  static let values = "true, false, null, a number, a string in double quotes, [ or {"

  /// A syntax error of JSON, with what is missing.
  static func missing(_ text: String, _ line: Int, _ column: Int, _ words: String) -> Refused {
    Refused(text: text, line: line, problem: "not valid JSON (column \(column)): \(words)")
  }

  @Test func readsJSONWithCommentsAndTrailingCommas() throws {
    let text = """
      // nightly
      {
        "a": [1, 2, /* three */ 3,],
        // "b": 1,
        "c": {"d": "// no comment",},
      }
      """
    let plain = #"{"a": [1, 2, 3], "c": {"d": "// no comment"}}"#
    let document = try DocumentReader.read(Array(text.utf8))
    #expect(try document == DocumentReader.read(Array(plain.utf8)))
    guard case .object(let members) = document.value else {
      Issue.record("no dictionary")
      return
    }
    #expect(members.map(\.line) == [3, 5])
  }

  static let refused: [Refused] = [
    Refused(text: "bplist00\u{1}", problem: "not a readable binary property list: the file is truncated"),
    Refused(text: "bplist15\u{1}", problem: "not a readable binary property list: only version 00 is supported"),
    Refused(
      text: "{\n  General = { a = 1; };\n}", line: 2, problem: "the file is an OpenStep property list",
      hint: "convert it with 'plutil -convert xml1 FILE' (macOS) or write JSON"),
    Refused(
      text: "{ \"General\" = 1; }", line: 1, problem: "the file is an OpenStep property list",
      hint: "convert it with 'plutil -convert xml1 FILE' (macOS) or write JSON"),
    Refused(
      text: "name: nightly\n", problem: "the file looks like YAML",
      hint: "write JSON; comments and trailing commas are allowed"),
    Refused(
      text: "---\nname: nightly\n", problem: "the file looks like YAML",
      hint: "write JSON; comments and trailing commas are allowed"),
    Refused(
      text: "SQLite format 3\u{0}", problem: "the file is a SQLite database, perhaps a store",
      hint: "to use a store, name it with --store"),
    Refused(text: "", problem: "the file is empty"),
    Refused(text: " \n\t", problem: "the file is empty"),
    missing("{\n\"a\": 1\n\"b\": 2}", 3, 1, "expected ',' or '}' after the value of 'a' on line 2"),
    missing("{\"a\": [1,\n2\n3]}", 3, 1, "expected ',' or ']' after an element of 'a' on line 2"),
    missing("{\"a\": {\"b\": \"x\"}\n", 2, 1, "expected ',' or '}' after the value of 'a' on line 1"),
    missing("{\"a\"\n 1}", 2, 2, "expected ':' after the key 'a' on line 1"),
    missing("{\"a\": tru}", 1, 7, "expected a value for 'a': \(values)"),
    missing("{\"a\": }", 1, 7, "expected a value for 'a': \(values)"),
    missing("{\"a\": 1,,}", 1, 9, "expected a key in double quotes or '}' in the document, which begins on line 1"),
    missing(
      "{'a': 1}", 1, 2, "expected a key in double quotes, not single quotes, in the document, which begins on line 1"),
    missing("{\"a\": {\n", 2, 1, "expected a key in double quotes or '}' in 'a', which begins on line 1"),
    missing("[1, 'x']", 1, 5, "expected an element of the document or ']': \(values)"),
    missing("{\"a\": \"x\n\"}", 1, 9, "expected '\"' at the end of the string that begins on line 1"),
    missing("{\"a\": \"x", 1, 7, "expected '\"' at the end of the string that begins here"),
    missing(#"{"a": "\d"}"#, 1, 8, #"expected an escape such as \n, \", \\ or \u00e9"#),
    missing("{} {", 1, 4, "unexpected content after the end of the document"),
    missing("{ // a\n/* b\n", 2, 1, "write comments as // to the end of the line, or between /* and */"),
    Refused(
      text: "<plist><dict>\n<key>a</key></dict></plist>", line: 2, problem: "the key 'a' has no value"),
    Refused(
      text: "<plist><dict>\n<true/></dict></plist>", line: 2,
      problem: "<true> in a <dict> has no <key> before it"),
    Refused(
      text: "<plist>\n<dict><key>a</key>\n<key>b</key><true/></dict></plist>", line: 2,
      problem: "the key 'a' has no value"),
    Refused(text: "<plist><true/><true/></plist>", line: 1, problem: "<plist> must contain one value, but contains 2"),
    Refused(text: "<html/>", line: 1, problem: "the file is XML, but not a property list: its root is <html>"),
    Refused(text: "<plist><int>1</int></plist>", line: 1, problem: "<int> is not an element of a property list"),
    Refused(
      text: "<plist><integer>1.5</integer></plist>", line: 1,
      problem: "<integer> does not contain a 64-bit integer"),
    Refused(
      text: "<plist><array>x<true/></array></plist>", line: 1,
      problem: "<array> contains text, but must contain only elements"),
    Refused(
      text: "\n<!DOCTYPE plist [ <!ENTITY a \"b\"> ]>\n<plist><string>&a;</string></plist>", line: 2,
      problem: "the DOCTYPE contains declarations", hint: "remove the part from [ to ]"),
  ]

  @Test(arguments: refused)
  func refuses(_ case: Refused) {
    #expect(throws: DocumentReader.Failure(line: `case`.line, `case`.problem, hint: `case`.hint)) {
      try DocumentReader.read(Array(`case`.text.utf8))
    }
  }

  @Test(arguments: [[0xFF, 0xFE, 0x7B, 0x00], [0x7B, 0x00, 0x7D, 0x00]] as [[UInt8]])
  func refusesUTF16(bytes: [UInt8]) {
    #expect(throws: DocumentReader.Failure("the file is not UTF-8 text", hint: "save it as UTF-8")) {
      try DocumentReader.read(bytes)
    }
  }

  @Test func survivesDeepNesting() {
    #expect(throws: DocumentReader.Failure.self) {
      try DocumentReader.read([UInt8](repeating: UInt8(ascii: "["), count: 200_000))
    }
    let opened = String(repeating: "<array>", count: 20_000)
    #expect(throws: DocumentReader.Failure.self) { try DocumentReader.read(Array("<plist>\(opened)".utf8)) }
  }

  @Test func skipsAByteOrderMark() throws {
    #expect(try DocumentReader.read([0xEF, 0xBB, 0xBF] + Array("{}".utf8)).value == .object([]))
    #expect(
      try DocumentReader.read([0xEF, 0xBB, 0xBF] + Array("<plist><dict/></plist>".utf8)).value == .object([]))
  }

  @Test func readsBackWhatItWrites() throws {
    let document = SettingsSchema.current.defaults
    #expect(try DocumentReader.read(Array((document.text() + "\n").utf8)) == document)
    #expect(try DocumentReader.read(Array(PropertyListText.of(document).utf8)) == document)
  }

  @Test func escapesWhatEachFormatNeeds() throws {
    let document = JSONNode(.array(["<&>\"\\\n\té\u{1F600}'", true, 3, JSONNode(.object([]))]))
    #expect(try DocumentReader.read(Array((document.text() + "\n").utf8)) == document)
    #expect(try DocumentReader.read(Array(PropertyListText.of(document).utf8)) == document)
  }
}
