import BatchFoundation
import Testing

/// What reaches a terminal takes no control of it.
@Suite struct TerminalTextTests {
  @Test(arguments: [
    ("plain é 日本 😀\n\tx", "plain é 日本 😀\n\tx"),
    ("\u{1B}[2J", "\\u001b[2J"),
    ("a\u{9B}31m\u{7F}\r", "a\\u009b31m\\u007f\\u000d"),
    ("\u{202E}gnp\u{2066}\u{200F}", "\\u202egnp\\u2066\\u200f"),
  ])
  func controlAndDirectionCharactersAreSpelledOut(text: String, expected: String) {
    #expect(TerminalText.spelledOut(text) == expected)
  }

  @Test func charactersCutByPiecesArriveWhole() {
    let bytes = Array("é\u{9B}日😀\u{202E}x".utf8)
    for size in 1...bytes.count {
      var terminal = TerminalText()
      var written: [UInt8] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { written += terminal.spelledOut($0) }
      }
      #expect(String(decoding: written, as: UTF8.self) == "é\\u009b日😀\\u202ex")
    }
  }

  @Test func bytesThatAreNoTextAreReplaced() {
    var terminal = TerminalText()
    let written = [UInt8(ascii: "a"), 0x9B, UInt8(ascii: "b")].withUnsafeBytes { terminal.spelledOut($0) }
    #expect(String(decoding: written, as: UTF8.self) == "a\u{FFFD}b")
  }

  @Test func longTextsAreShortenedBetweenCharacters() {
    #expect("short".shortened() == "short")
    #expect(String(repeating: "é", count: 100).shortened(to: 5) == "éé... (200 bytes)")
  }
}
