import BatchFoundation
import Testing

@testable import BatchWire

@Suite struct XMLWriterTests {
  @Test func writesNestedElements() throws {
    var writer = XMLWriter()
    try writer.element("A", attributes: [XMLAttribute(name: "k", value: "<\"&'\n")]) { a in
      try a.element("B", text: "1 < 2 & 3 > 2\r")
      try a.element("C", cdata: "")
      a.empty("D")
    }
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == "<A k=\"&lt;&quot;&amp;'&#10;\"><B>1 &lt; 2 &amp; 3 &gt; 2&#13;</B><C></C><D/></A>")
  }

  @Test(arguments: [
    ("5 < 6 & \"x\" ]]> end", "<![CDATA[5 < 6 & \"x\" ]]]]><![CDATA[> end]]>"),
    ("]]>", "<![CDATA[]]]]><![CDATA[>]]>"),
    ("]]]>]]>", "<![CDATA[]]]]]><![CDATA[>]]]]><![CDATA[>]]>"),
    ("]]", "<![CDATA[]]]]>"),
    ("a\rb", "<![CDATA[a]]>&#13;<![CDATA[b]]>"),
    ("", ""),
  ])
  func splitsCDATA(_ value: String, _ written: String) throws {
    var writer = XMLWriter()
    try writer.cdata(value)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == written)
  }

  @Test(arguments: [0x00, 0x0B, 0x1F, 0xFFFE, 0xFFFF] as [UInt32])
  func refusesWhatXMLCannotCarry(_ value: UInt32) throws {
    let text = String(try #require(Unicode.Scalar(value)))
    var writer = XMLWriter()
    #expect(throws: XMLError.unrepresentable(scalar: value)) { try writer.text(text) }
    #expect(throws: XMLError.unrepresentable(scalar: value)) { try writer.element("a", cdata: text) }
  }

  /// Any text that can be written comes back as it was, in every position.
  @Test(arguments: UInt64(1)...200)
  func comesBackAsItWas(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let pieces = [
      "]", "]]>", "<", ">", "&", "\"", "'", "\r", "\n", "\t", " ", "é", "e\u{301}", "😀", "\u{85}", "\u{2028}", "x",
    ]
    let value = (0..<Int.random(in: 0...24, using: &random)).map { _ in
      pieces[Int.random(in: 0..<pieces.count, using: &random)]
    }.joined()
    var writer = XMLWriter()
    try writer.element("a", attributes: [XMLAttribute(name: "k", value: value)]) { a in
      try a.element("t", text: value)
      try a.element("c", cdata: value)
    }
    let root = try XMLDocument.parse(writer.bytes)
    #expect(Array(root.attribute("k")?.utf8 ?? "".utf8) == Array(value.utf8))
    #expect(Array(root.first("t")?.text.utf8 ?? "".utf8) == Array(value.utf8))
    #expect(Array(root.first("c")?.text.utf8 ?? "".utf8) == Array(value.utf8))
  }
}
