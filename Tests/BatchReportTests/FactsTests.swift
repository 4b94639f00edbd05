import BatchFoundation
import BatchReport
import Testing

@Suite struct FactsTests {
  private func facts() -> Facts {
    var facts: Facts = ["id": 7]
    facts.add(subject: "Device\u{1B} d")
    facts.add("session", titled: "session", "none", "later")
    facts.add("state", titled: "now", [])
    facts.add("place", titled: "at", "here")
    facts.add("seconds", nil, "no seconds")
    facts.addLine("a\tb", "1")
    facts.note("only for people")
    return facts
  }

  @Test func `programs get the values that have a key, in order`() {
    #expect(
      facts().document.compactText
        == #"{"id":7,"subject":"Device\u001b d","session":["none","later"],"place":["here"]}"#)
  }

  @Test func `people get headings in a column, and notes apart`() {
    let lines = facts().lines
    #expect(
      lines.map(\.text) == [
        #"Device\u{1b} d"#, "  session  none", "           later", "  at       here", "no seconds", "a\\u{9}b\t1",
        "only for people",
      ])
    #expect(lines.map(\.isNote) == [false, false, false, false, false, false, true])
  }
}
