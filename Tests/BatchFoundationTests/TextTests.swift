import BatchFoundation
import Testing

@Suite struct TextTests {
  @Test func comparesBytesAndNotCharacters() {
    let composed: Text = "\u{E9}"
    let decomposed: Text = "e\u{301}"
    #expect(composed != decomposed)
    #expect(decomposed < composed)
    #expect(Text("ab") < Text("abc"))
    #expect(!(Text("b") < Text("abc")))
  }

  @Test func anArenaKeepsCopiesUntilReset() {
    let arena = Arena(blockSize: 64)
    let texts = (0..<100).map { arena.text("text number \($0)") }
    #expect(texts[0] == Text("text number 0"))
    #expect(texts[99].description == "text number 99")
    #expect(arena.text("") == .empty)
  }

  @Test(
    "An escape of a damaged block that is none stays as it stands",
    arguments: [
      ("a\\u0007\\\"\\n", "a\u{7}\"\n"), ("\\u~\\\\\\\\!", "u~\\\\!"), ("\\u00/g", "u00/g"), ("\\u00", "u00"),
      ("\\", "\\"),
    ])
  func unescapes(escaped: String, text: String) {
    let arena = Arena(blockSize: 64)
    #expect(CanonicalJSON.unescaped(arena.text(escaped), in: arena) == arena.text(text))
  }
}
