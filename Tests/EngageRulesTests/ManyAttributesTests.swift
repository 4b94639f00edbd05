import BatchFoundation
import Testing

@testable import EngageRules

/// An exporter may give one event as many attributes as a line has room for.
@Suite struct ManyAttributesTests {
  /// Looking through what is there for each of them would be twenty thousand million comparisons.
  @Test func setting200000AttributesLooksEachUpOnce() {
    let arena = Arena()
    var draft = EventDraft(code: "17", timestamp: Instant(milliseconds: 0), core: CoreTexts())
    let names = (0..<200_000).map { arena.text("attribute \($0)") }
    for name in names { draft.set(name, "first") }
    for name in names.reversed() { draft.set(name, "second") }
    draft.add(names[7], "automatic")
    draft.add("Event Name", "automatic")
    #expect(draft.others.count == 200_001)
    #expect(draft.value(of: names[0]) == "second")
    #expect(draft.value(of: names[199_999]) == "second")
    #expect(draft.value(of: names[7]) == "second")
    #expect(draft.value(of: "Event Name") == "automatic")
    #expect(!draft.has("attribute"))
    let ordered = draft.ordered(in: arena)
    #expect(ordered.count == 200_001)
    #expect(ordered[0].name == "Event Name")
    #expect(ordered[1].name == "attribute 0")
  }

  /// 24 are looked through, from 25 on they have an index.
  @Test(arguments: 22...28) func fewAndManyAttributesAreSetAlike(count: Int) {
    let arena = Arena()
    var draft = EventDraft(code: "17", timestamp: Instant(milliseconds: 0), core: CoreTexts())
    for round in 0..<3 {
      for number in 0..<count { draft.set(arena.text("n\(number)"), arena.text("\(round)")) }
    }
    #expect(draft.others.map { "\($0.name)=\($0.value)" } == (0..<count).map { "n\($0)=2" })
  }
}
