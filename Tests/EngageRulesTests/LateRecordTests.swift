import EngageModel
import Testing

@testable import EngageRules

@Suite struct LateRecordTests {
  /// A record at nine, when an earlier run was at ten.
  private func late(_ lateRecords: LateRecords) throws -> (
    events: [Event], rules: DeviceRules, fixture: Fixture
  ) {
    let fixture = Fixture()
    fixture.settings.lateRecords = lateRecords
    try fixture.add(.namedEvent, at: "2026-01-01T10:00:00Z") { $0.subject = "first" }
    let first = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    try fixture.add(.namedEvent, at: "2026-01-01T09:00:00Z") { $0.subject = "late" }
    let second = try fixture.run(asOf: "2026-01-02T00:00:00Z", state: fixture.reloaded(first.rules.state))
    return (second.events, second.rules, fixture)
  }

  @Test func anAcceptedOneKeepsItsTimeAndIsWarnedOf() throws {
    let (events, rules, _) = try late(.accept)
    #expect(events.map(\.line) == ["17@2026-01-01T09:00:00.000Z"])
    #expect(rules.output.warnings.map(\.kind) == [.lateRecord])
    #expect(
      rules.output.warnings.map(\.detail)
        == ["older than what an earlier run processed of its device; state is not wound back"])
    #expect(rules.output.late.isEmpty)
  }

  @Test func oneThatIsSetAsideGivesNoEventAndNoWarning() throws {
    let (events, rules, _) = try late(.quarantine)
    #expect(events.isEmpty)
    #expect(rules.output.warnings.isEmpty)
    #expect(rules.output.late.map(\.position.line) == [1])
  }
}
