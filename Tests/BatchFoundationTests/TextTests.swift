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
}
