import BatchFoundation
import TestSupport
import Testing

@testable import EventSchemas

@Suite struct FindingTallyTests {
  private func finding(_ id: FindingID, _ path: String) -> EventFinding { EventFinding(id: id, path: Array(path.utf8)) }

  @Test func countsByIdAndEventWithTheFirstPathAsExample() {
    var tally = FindingTally()
    tally.add(
      [finding(.emptyValue, "/eventParams/b"), finding(.emptyValue, "/eventParams/c")], ofEvent: "e", eventUUID: "U")
    tally.add([finding(.emptyValue, "/eventParams/a"), finding(.badName, "/eventName")], ofEvent: "e", eventUUID: "U")
    tally.add([finding(.emptyValue, "/eventParams/z")], ofEvent: "d", eventUUID: "U")
    #expect(
      tally.rows.map { "\($0.id) \($0.event) \($0.row.count) \(String(decoding: $0.row.example.path, as: UTF8.self))" }
        == [
          "badName e 1 /eventName", "emptyValue d 1 /eventParams/z", "emptyValue e 3 /eventParams/a",
        ])
  }

  @Test func partsAddUpToTheWholeHoweverTheyAreCut() {
    let arena = Arena()
    var random = SplitMix64(seed: 7)
    var whole = FindingTally()
    var parts = [FindingTally(), FindingTally(), FindingTally()]
    for _ in 0..<2000 {
      let name = arena.text("event \(random.below(300))")
      let findings = [finding(.wrongType, "/eventParams/\(random.below(9))")]
      let id = arena.text("\(random.below(50))")
      whole.add(findings, ofEvent: name, eventUUID: id)
      parts[random.below(3)].add(findings, ofEvent: name, eventUUID: id)
    }
    var sum = parts[2]
    sum.add(parts[0])
    sum.add(parts[1])
    #expect(whole.rows.count == 200)
    #expect(sum.rows.map(\.event) == whole.rows.map(\.event))
    #expect(sum.rows.map(\.row) == whole.rows.map(\.row))
  }
}
