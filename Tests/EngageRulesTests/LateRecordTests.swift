import BatchFoundation
import Testing

@testable import EngageRules

@Suite struct LateRecordTests {
  /// A record at nine, when an earlier run was at ten.
  private func late(_ lateRecords: LateRecordPolicy) throws -> (
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
        == ["earlier than the time up to which its device was processed; processed outside sessions and campaigns"])
    #expect(rules.output.late.isEmpty)
  }

  @Test func oneThatIsSetAsideGivesNoEventAndNoWarning() throws {
    let (events, rules, _) = try late(.quarantine)
    #expect(events.isEmpty)
    #expect(rules.output.warnings.isEmpty)
    #expect(rules.output.late.map(\.line) == [1])
  }

  @Test func aWarningOutlivesTheMemoryOfTheRecord() throws {
    let fixture = Fixture()
    var rules = DeviceRules(
      settings: fixture.settings, links: DeepLinkRouter(routes: nil), knownUntil: Instant(milliseconds: 10),
      arena: Arena())
    var memory = Array("D1".utf8)
    memory.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      let device = Text(base: base, count: 2)
      var state = DeviceState(device: device)
      state.lastSeen = Instant(milliseconds: 5)
      rules.begin(state)
      for line in 1...2 {
        rules.process(
          Record(
            device: device, timestamp: Instant(milliseconds: 4), type: .namedEvent, kind: .events,
            position: RecordPosition(file: 0, line: UInt64(line))))
      }
      buffer.update(repeating: UInt8(ascii: "?"))
    }
    #expect(rules.output.warnings.map(\.device) == ["D1", "D1"])
  }

  private func earlier(_ fixture: Fixture) throws -> DeviceState {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.push("00:10:00", #"{"CurrentCampaign":"c","CampaignValidFor":"1 h"}"#)
    try fixture.lifecycle(.background, "00:20:00")
    return try fixture.day("00:20:00", after: Fixture.known).rules.state
  }

  @Test func acceptedOneGoesOutByItsOwnTimeAndRewindsNothing() throws {
    let fixture = Fixture()
    let state = try earlier(fixture)
    try fixture.add(.namedEvent, at: Fixture.day("00:05:00")) {
      $0.subject = "E"
      $0.mobileUserId = "u-2"
    }
    try fixture.push("00:06:00", #"{"CurrentCampaign":"late"}"#)
    try fixture.lifecycle(.foreground, "00:07:00")
    try fixture.named("00:21:00")
    let (events, rules) = try fixture.day("00:21:00", after: state)
    #expect(
      events.brief("Primary User Id", "Campaign Name") == [
        "17 00:05:00, Primary User Id=u-2, Campaign Name=", "48 00:06:00, Primary User Id=u-1, Campaign Name=late",
        "17 00:21:00, Primary User Id=u-1, Campaign Name=c",
      ])
    #expect(rules.output.campaignSets.count == 0)
    #expect(rules.output.warnings.filter { $0.kind == .lateRecord }.count == 3)
    guard case .paused(let pause) = rules.state.session else {
      Issue.record("the session is no longer paused")
      return
    }
    #expect(pause.at.rfc3339 == "2026-01-01T00:20:00.000Z")
  }

  /// It went out with the campaign of a notification that was opened after it.
  @Test func aLateEventDoesNotCarryACampaignThatWasSetAfterIt() throws {
    let fixture = Fixture()
    try fixture.push("08:30:00", #"{"CurrentCampaign":"Spring"}"#)
    let state = try fixture.day("09:00:00").rules.state
    try fixture.named("08:01:00")
    #expect(try fixture.day("10:00:00", after: state).events.brief("Campaign Name") == ["17 08:01:00, Campaign Name="])
  }

  @Test func aLateLinkCarriesItsOwnCampaignAndSetsNone() throws {
    let fixture = Fixture()
    let state = try earlier(fixture)
    try fixture.link("00:05:00", "app://x?CurrentCampaign=own")
    let (events, rules) = try fixture.day("00:25:00", after: state)
    #expect(events.brief("Campaign Name") == ["13 00:05:00, Campaign Name=own"])
    #expect(rules.state.campaign?.name == "c")
  }

  @Test func whatComesOfASilenceThatEndedASessionIsLate() throws {
    let fixture = Fixture()
    let state = try earlier(fixture)
    let ended = try fixture.day("01:00:00", after: state)
    #expect(ended.events.brief() == ["14 00:20:00"])
    try fixture.lifecycle(.foreground, "00:50:00")
    try fixture.named("00:50:00")
    let (late, after) = try fixture.day("01:00:00", after: ended.rules.state)
    #expect(late.brief("Campaign Name") == ["17 00:50:00, Campaign Name="])
    try fixture.lifecycle(.foreground, "00:50:00.001")
    #expect(try fixture.day("01:00:00", after: after.state).events.brief() == ["13 00:50:00.001"])
  }

  @Test func aLateSampleCompletesNothing() throws {
    let fixture = Fixture()
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:00:00", 1, 2)
    try fixture.lifecycle(.background, "00:10:00")
    let state = try fixture.day("00:10:00", after: Fixture.known).rules.state
    try fixture.location("00:09:00", 3, 4)
    try fixture.named("00:11:00")
    #expect(try fixture.day("01:00:00", after: state).events.brief("Latitude") == ["17 00:11:00, Latitude=1"])
  }

  @Test func recordOfTheLastInstantIsNotLate() throws {
    let fixture = Fixture()
    let state = try earlier(fixture)
    try fixture.lifecycle(.foreground, "00:20:00")
    let rules = try fixture.day("00:20:00", after: state).rules
    #expect(!rules.output.warnings.contains { $0.kind == .lateRecord })
  }

  @Test func lateEventThatIsHeldForASampleIsNotLost() throws {
    let fixture = Fixture()
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    fixture.settings.augmentation.sampleLife = Milliseconds(1000)
    try fixture.location("00:00:00", 1, 2)
    try fixture.lifecycle(.background, "00:10:00")
    let state = try fixture.day("00:10:00", after: Fixture.known).rules.state
    try fixture.named("00:09:55")
    let held = try fixture.day("00:10:05", after: state).rules
    #expect(held.state.held.count == 1)
    #expect(try fixture.day("00:10:11", after: held.state).events.brief() == ["17 00:09:55"])
  }
}
