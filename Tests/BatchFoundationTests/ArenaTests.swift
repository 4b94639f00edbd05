import Testing

@testable import BatchFoundation

struct ArenaTests {
  @Test func handsOutMemoryThatStaysUntilItIsTakenBack() {
    let arena = Arena(blockSize: 64)
    let texts = (0..<100).map { arena.text("text number \($0)") }
    #expect(texts.map(\.description) == (0..<100).map { "text number \($0)" })
    arena.reset()
    #expect(arena.text("again") == "again")
  }

  @Test func givesALargeRequestABlockOfItsOwn() {
    let arena = Arena(blockSize: 64)
    let long = String(repeating: "long ", count: 1000)
    let first = arena.text(long)
    let second = arena.text("short")
    #expect(first.description == long)
    #expect(second == "short")
  }

  @Test func trapsWhereAViewOutlivesItsArenasReset() async {
    await #expect(processExitsWith: .failure) {
      let arena = Arena()
      let view = arena.text("stale")
      arena.reset()
      if view[0] == UInt8(ascii: "s") { return }
    }
  }

  @Test func trapsWhereAViewLooksBehindItsText() async {
    await #expect(processExitsWith: .failure) {
      let text: Text = "four"
      if text[4] == 0 { return }
    }
  }
}
