import BatchFoundation
import Testing

/// What RFC 8259 allows and forbids, corner by corner, for both readers, alone and inside of other values.
@Suite struct JSONSuiteTests {
  /// Texts and what they say, in the one way that values are written.
  static let accepted: [(text: String, canonical: String)] =
    [
      // Values on their own, with white space of all four kinds.
      ("null", "null"), ("true", "true"), ("false", "false"), ("\"\"", "\"\""), ("[]", "[]"), ("{}", "{}"), ("0", "0"),
      (" \t\r\n null \n\r\t ", "null"), ("[ ]", "[]"), ("{ }", "{}"), ("[\n[\t]\r]", "[[]]"),
      // Numbers.
      ("-0", "-0"), ("-1", "-1"), ("10", "10"), ("123456789012345678", "123456789012345678"), ("0.5", "0.5"),
      ("1e0", "1e0"), ("1E+2", "1E+2"), ("1e-2", "1e-2"), ("0e0", "0e0"), ("-0.0e-0", "-0.0e-0"), ("1.25E1", "1.25E1"),
      ("1e-400", "1e-400"), ("0.00000000000000000000000000000000001", "0.00000000000000000000000000000000001"),
      ("1e308", "1e308"), ("-1e308", "-1e308"),
      // Strings: every short escape, escapes by number in both cases, pairs, and all that needs none.
      (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\b\f\n\r\t""#), (#""\u0041\u00e9\u00C9""#, "\"A\u{E9}\u{C9}\""),
      (#""\uD83D\uDE00""#, "\"\u{1F600}\""), (#""\ud834\udd1e""#, "\"\u{1D11E}\""),
      ("\"\u{1F600}\"", "\"\u{1F600}\""), ("\"\u{7F}\"", "\"\u{7F}\""),
      ("\"\u{2028}\u{2029}\"", "\"\u{2028}\u{2029}\""),
      ("\"\u{FEFF}\"", "\"\u{FEFF}\""), ("\"\u{FFFD}\u{FFFF}\"", "\"\u{FFFD}\u{FFFF}\""),
      ("\"\u{10FFFF}\"", "\"\u{10FFFF}\""), (#""\uFFFF""#, "\"\u{FFFF}\""), (#""/*//""#, #""/*//""#),
      ("\"a'b\"", "\"a'b\""), (#""\\u0041""#, #""\\u0041""#),
      // Keys are strings like others, told apart by their bytes.
      (#"{"":0}"#, #"{"":0}"#), (#"{"a":{"a":0}}"#, #"{"a":{"a":0}}"#), (#"{"\n":0}"#, #"{"\n":0}"#),
      ("{\"\u{E9}\":0,\"e\u{301}\":1}", "{\"e\u{301}\":1,\"\u{E9}\":0}"), (#"{"A":0,"a":1}"#, #"{"A":0,"a":1}"#),
      ("[0,[1,[2,{\"k\":[]}]]]", "[0,[1,[2,{\"k\":[]}]]]"),
    ]

  static let refused: [String] = [
    // Nothing, or more than one value.
    "", " ", "1 2", "{}{}", "[] []", "null,", ",null",
    // Literals.
    "nul", "nulll", "Null", "TRUE", "tru", "truee", "falsee", "undefined", "NaN", "Infinity", "-Infinity",
    // Numbers.
    "+1", "-", "--1", "00", "01", "-01", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1E-", "1e1.0", "0x10", "1_000", "1a",
    "1 000", "0e", "\u{FF11}", "1e5e5", "1.2.3",
    // Strings.
    "\"", "\"a", "a\"", "'a'", "\"\\\"", "\"\\a\"", "\"\\'\"", "\"\\0\"", "\"\\x41\"", "\"\\u\"", "\"\\u1\"",
    "\"\\u12\"",
    "\"\\u123\"", "\"\\uG000\"", "\"\\u 000\"", "\"\\U0041\"", "\"\\u+041\"", "\"\t\"", "\"\n\"", "\"\r\"",
    "\"\u{1F}\"", "\"\u{0}\"", "\"\\\u{1F600}\"",
    // Escapes by number that are half a pair, or no character.
    "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\ud800\\ud800\"", "\"\\ude00\\ud83d\"", "\"\\ud800x\"",
    "\"\\ud800\\n\"",
    // Arrays.
    "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1;2]", "[1}", "[1:2]", "[[]", "[]]", "[\"a\"",
    "[a]",
    // Objects.
    "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{,\"a\":1}", "{\"a\" 1}", "{\"a\",1}",
    "{\"a\"::1}", "{a:1}", "{1:1}", "{null:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":1]", "{\"a\":1}}", "{[]:1}",
    "{\"a\":1;\"b\":2}",
    // What other languages allow.
    "// c\n1", "/* c */1", "1//", "#1", "[1,2,3...]", "(1)", "<a/>", "{\"a\":1}#",
    // White space that JSON does not have.
    "\u{A0}1", "\u{2003}1", "\u{B}1", "\u{C}1", "\u{85}1", "[\u{2028}]",
  ]

  /// Sequences of bytes that are no UTF-8, as the text of a string.
  static let broken: [[UInt8]] = [
    [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF],
    [0xE2, 0x82],
    [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x8F, 0xBF, 0xBF],
    [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE],
    [0xFF], [0x61, 0xCC],
  ]

  /// Whether the reader of records takes the line without a flaw.
  private func isLine(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { text in
      guard firstInvalidUTF8(text) == nil else { return false }
      var reader = JSONReader()
      var tape = JSONTape()
      // What it refuses is all that is asked here.
      guard let flaws = try? reader.read(text, onto: &tape) else { return false }
      return !flaws.hasAny
    }
  }

  /// The text alone, and as the value of an array and of an object.
  private func nested(_ text: [UInt8]) -> [[UInt8]] {
    [text, Array("[0,".utf8) + text + Array("]".utf8), Array("{\"k\":".utf8) + text + Array("}".utf8)]
  }

  @Test func takesWhatIsJSON() throws {
    for (text, canonical) in Self.accepted {
      for (index, bytes) in nested(Array(text.utf8)).enumerated() {
        let written = try JSONNode.parse(bytes).canonicalText
        let expected = [canonical, "[0,\(canonical)]", "{\"k\":\(canonical)}"][index]
        #expect(written.utf8.elementsEqual(expected.utf8), "\(text.debugDescription): \(written)")
        #expect(isLine(bytes), "\(text.debugDescription)")
      }
    }
  }

  @Test func refusesWhatIsNot() {
    for text in Self.refused {
      let bytes = Array(text.utf8)
      #expect(throws: JSONError.self, "\(text.debugDescription)") { try JSONNode.parse(bytes) }
      #expect(!isLine(bytes), "\(text.debugDescription)")
      // Inside of an array or an object most of them are refused too; the readers agree in any case.
      for bytes in nested(bytes) {
        let isNode = (try? JSONNode.parse(bytes)) != nil
        #expect(isNode == isLine(bytes), "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
      }
    }
  }

  /// A file may begin with one; where lines begin, the reader of files has taken it away.
  @Test func takesAByteOrderMarkAtTheStartOfADocumentOnly() throws {
    #expect(try JSONNode.parse(Array("\u{FEFF}null".utf8)).canonicalText == "null")
    for text in ["\u{FEFF}\u{FEFF}null", "null\u{FEFF}", "[\u{FEFF}]"] {
      #expect(throws: JSONError.self, "\(text.debugDescription)") { try JSONNode.parse(Array(text.utf8)) }
      #expect(!isLine(Array(text.utf8)), "\(text.debugDescription)")
    }
  }

  @Test func refusesTextThatIsNoUTF8() {
    for sequence in Self.broken {
      for text in [sequence, Array("ab".utf8) + sequence, sequence + Array("\u{E9}".utf8)] {
        let bytes = [0x22] + text + [0x22]
        #expect(throws: JSONError.self, "\(sequence)") { try JSONNode.parse(bytes) }
        #expect(!isLine(bytes), "\(sequence)")
        #expect(!isLine(Array("{".utf8) + bytes + Array(":1}".utf8)), "\(sequence)")
      }
    }
    for text in ["[1]", "\"a\""] {
      let wide = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
      #expect(throws: JSONError.self) { try JSONNode.parse(wide) }
      #expect(throws: JSONError.self) { try JSONNode.parse([0xFF, 0xFE] + wide) }
    }
  }

  /// Every text, cut at every byte: what is left is JSON only where the whole text may end there.
  @Test func readersAgreeAboutTextsThatAreCut() {
    for (text, _) in Self.accepted {
      for bytes in nested(Array(text.utf8)) {
        for end in 0..<bytes.count {
          let cut = Array(bytes[..<end])
          let isNode = (try? JSONNode.parse(cut)) != nil
          #expect(isNode == isLine(cut), "\(String(decoding: cut, as: UTF8.self).debugDescription)")
        }
      }
    }
  }
}
