import Testing

@testable import BatchWire

@Suite struct XMLDocumentTests {
  func parse(_ text: String, _ limits: XMLLimits = .answer) throws -> XMLElement {
    try XMLDocument.parse(Array(text.utf8), limits: limits)
  }

  @Test func readsElementsAttributesTextAndPlaces() throws {
    let root = try parse(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!-- <not> an element -->
      <a one="1 &amp; &#38; 2"
         two='&lt;"'>x<b>&lt;y&gt;</b>
      <![CDATA[<raw> & ]]]]><![CDATA[>]]><c/><b>2</b></a>
      """)
    #expect(root.name == "a")
    #expect(root.line == 3)
    #expect(root.attribute("one") == "1 & & 2")
    #expect(root.attribute("two") == "<\"")
    #expect(root.text == "x\n<raw> & ]]>")
    #expect(root.all("b").map(\.text) == ["<y>", "2"])
    #expect(root.all("b").map(\.line) == [4, 5])
    #expect(root.first("c")?.line == 5)
    #expect(root.first("d") == nil)
  }

  @Test func commentsAndInstructionsInsideAValueChangeNothing() throws {
    #expect(try parse("<S>TR<!-- -->U<?x y?>E</S>").text == "TRUE")
  }

  @Test func keepsPrefixes() throws {
    let root = try parse("<p:a xmlns:p=\"urn:x\" p:k=\"v\"><b xmlns=\"urn:y\"/></p:a>")
    #expect(root.name == "p:a")
    #expect(root.attributes == [XMLAttribute(name: "p:k", value: "v")])
    #expect(root.elements.first?.name == "b")
  }

  @Test func skipsAByteOrderMark() throws {
    #expect(try parse("\u{FEFF}<a>é</a>").text == "é")
  }

  @Test func readsUnicodeOutsideTheBasicPlane() throws {
    #expect(try parse("<a>Zoë 東京 &#x1F600;😀</a>").text == "Zoë 東京 😀😀")
  }

  struct Refusal: CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    var error: XMLError
    var testDescription: String { name }

    init(_ name: String, _ text: String, _ error: XMLError) {
      self.init(name, bytes: Array(text.utf8), error)
    }
    init(_ name: String, bytes: [UInt8], _ error: XMLError) {
      (self.name, self.bytes, self.error) = (name, bytes, error)
    }
  }

  static let refusals: [Refusal] = [
    Refusal("empty", "", .empty),
    Refusal("blank", "  \n", .malformed(line: 2, code: 4)),
    Refusal("truncated", "<Envelope><Body><RESULT><SUCCESS>TRUE</SUCCESS>", .malformed(line: 1, code: 77)),
    Refusal("cut in a tag", "<a><b", .malformed(line: 1, code: 73)),
    Refusal("trailing text", "<a/>x", .malformed(line: 1, code: 5)),
    Refusal("second root", "<a/><b/>", .malformed(line: 1, code: 5)),
    Refusal("mismatch", "<a>\n</b>", .malformed(line: 2, code: 76)),
    Refusal("duplicate attribute", "<a k='1' k='2'/>", .malformed(line: 1, code: 42)),
    Refusal("undefined entity", "<a>x&e;y</a>", .malformed(line: 1, code: 26)),
    Refusal("undefined entity in an attribute", "<a k='&e;'/>", .malformed(line: 1, code: 26)),
    Refusal("undeclared prefix", "<p:a/>", .malformed(line: 1, code: 201)),
    Refusal("control character", "<a>\u{1}</a>", .malformed(line: 1, code: 9)),
    Refusal("control character by reference", "<a>&#1;</a>", .malformed(line: 1, code: 9)),
    Refusal("plain text", "Service Unavailable", .malformed(line: 1, code: 4)),
    Refusal("JSON", "{\"a\":1}", .malformed(line: 1, code: 4)),
    Refusal("HTML", "<html><body><p>Bad gateway<br></body></html>", .malformed(line: 1, code: 76)),
    Refusal("HTML with a document type", "<!DOCTYPE html><html></html>", .documentType(line: 1)),
    Refusal(
      "outside file", "<!DOCTYPE a [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>\n<a>&e;</a>", .documentType(line: 1)),
    Refusal(
      "entity expansion", "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY x \"y\"><!ENTITY z \"&x;&x;\">]><a>&z;</a>",
      .documentType(line: 2)),
    Refusal("NUL", "<a/>\u{0}<b/>", .notUTF8),
    Refusal("invalid UTF-8 in text", bytes: Array("<a>".utf8) + [0xFF] + Array("</a>".utf8), .notUTF8),
    Refusal("invalid UTF-8 in a name", bytes: Array("<a".utf8) + [0xC3, 0x28] + Array("/>".utf8), .notUTF8),
    Refusal("overlong UTF-8", bytes: Array("<a>".utf8) + [0xC0, 0xAF] + Array("</a>".utf8), .notUTF8),
    Refusal("surrogate in UTF-8", bytes: Array("<a>".utf8) + [0xED, 0xA0, 0x80] + Array("</a>".utf8), .notUTF8),
    Refusal("UTF-16", bytes: [0xFF, 0xFE, 0x3C, 0x00, 0x61, 0x00], .notUTF8),
    Refusal("other encoding", "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>", .encoding("ISO-8859-1")),
    Refusal(
      "deep", String(repeating: "<a>", count: 65) + String(repeating: "</a>", count: 65), .tooDeep(line: 1, limit: 64)),
    Refusal(
      "many attributes", "<a " + (0..<65).map { "k\($0)=''" }.joined(separator: " ") + "/>",
      .tooManyAttributes(line: 1, limit: 64)),
    Refusal(
      "large", "<a>" + String(repeating: "x", count: 1 << 20) + "</a>", .tooLarge(bytes: 1_048_583, limit: 1 << 20)),
    Refusal(
      "many elements", "<a>" + String(repeating: "<b/>", count: 100_000) + "</a>", .tooManyElements(limit: 100_000)),
  ]

  @Test(arguments: refusals)
  func refuses(_ refusal: Refusal) {
    #expect(throws: refusal.error) { try XMLDocument.parse(refusal.bytes) }
  }

  @Test func acceptsAnotherEncodingForPlainASCII() throws {
    #expect(try parse("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>x</a>").text == "x")
  }

  @Test func everyPrefixOfADocumentIsRefused() throws {
    let whole = Array("<?xml version=\"1.0\"?><E k=\"v&amp;\"><B><![CDATA[é<]]></B><!--c--><S>TRUE</S></E>".utf8)
    #expect(try XMLDocument.parse(whole).first("S")?.text == "TRUE")
    for count in whole.indices {
      #expect(throws: XMLError.self, "\(count) bytes") { try XMLDocument.parse(Array(whole[..<count])) }
    }
  }

  @Test func takesAMegabyteOfTextWithinTheLimit() throws {
    let text = String(repeating: "é&amp;", count: 120_000)
    #expect(try parse("<a>\(text)</a>").text.utf8.count == 360_000)
  }
}
