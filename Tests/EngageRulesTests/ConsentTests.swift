import BatchFoundation
import Testing

@testable import EngageRules

/// Nothing that is recorded while consent is denied goes out (reference events 3.5).
@Suite struct ConsentTests {
  private func fixture() -> Fixture {
    let fixture = Fixture()
    fixture.settings.appliesConsent = true
    return fixture
  }

  private func consent(_ fixture: Fixture, _ time: String, use: Bool? = nil, export: Bool? = nil) throws {
    try fixture.add(.consent, at: Fixture.day(time)) { ($0.use, $0.export) = (use, export) }
  }

  private var identified: DeviceState {
    var state = DeviceState(device: "d-1")
    state.core[.primaryUserId] = "u-1"
    return state
  }

  @Test func eventsOfThatTimeAreWithheldAndWarnedOf() throws {
    let fixture = fixture()
    try fixture.named("00:00:00")
    try consent(fixture, "00:10:00", use: false)
    try fixture.named("00:11:00")
    try fixture.push("00:12:00", #"{"CurrentCampaign":"spring"}"#)
    try fixture.raw("00:13:00", "17", "[]")
    try fixture.add(.identify, at: Fixture.day("00:14:00"))
    try fixture.location("00:14:30", 1, 2)
    try consent(fixture, "00:15:00", use: true)
    try fixture.named("00:16:00")
    let (events, rules) = try fixture.day("00:16:00", after: identified)
    // The session ends as of its last event, and no campaign was set.
    #expect(
      events.brief("Session Duration", "Current Campaign") == [
        "13 00:00:00", "17 00:00:00", "14 00:00:00, Session Duration=0", "13 00:16:00", "17 00:16:00",
      ])
    #expect(rules.output.checks.isEmpty)
    #expect(rules.state.campaign == nil)
    #expect(rules.output.warnings.map(\.kind) == Array(repeating: .consentDenied, count: 4))
    #expect(rules.output.warnings.map(\.detail) == ["namedEvent", "pushReceived", "rawEvent", "identify"])
  }

  @Test func eachPurposeStaysUntilItIsSaidAgain() throws {
    let fixture = fixture()
    try consent(fixture, "00:00:00", use: false, export: false)
    try consent(fixture, "00:01:00", use: true)
    try fixture.named("00:02:00")
    let denied = try fixture.day("00:02:00", after: identified)
    #expect(denied.events.isEmpty)
    try consent(fixture, "00:03:00", export: true)
    try fixture.named("00:04:00")
    #expect(try fixture.day("00:04:00", after: denied.rules.state).events.brief() == ["13 00:04:00", "17 00:04:00"])
  }

  @Test func aSessionInUseEndsWithoutAnEvent() throws {
    let fixture = fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try consent(fixture, "00:10:00", export: false)
    try fixture.lifecycle(.background, "00:20:00")
    try fixture.lifecycle(.foreground, "02:00:00")
    try consent(fixture, "03:00:00", export: true)
    try fixture.lifecycle(.foreground, "03:10:00")
    let (events, rules) = try fixture.day("23:00:00", after: Fixture.known)
    #expect(events.brief() == ["13 00:00:00", "13 03:10:00"])
    #expect(rules.output.sessionEnds.count == 0)
    #expect(rules.output.warnings.isEmpty)
  }

  @Test func anInstallationIsToldAtTheFirstLaunchWithConsent() throws {
    let fixture = fixture()
    try consent(fixture, "00:00:00", use: false)
    try fixture.lifecycle(.launch, "00:01:00", id: "u-1")
    try consent(fixture, "00:02:00", use: true)
    try fixture.lifecycle(.launch, "00:03:00")
    #expect(try fixture.day("00:03:00").events.brief() == ["12 00:03:00", "13 00:03:00"])
  }

  @Test func anOptOutIsAskedForAllTheSame() throws {
    let fixture = fixture()
    try consent(fixture, "00:00:00", use: false)
    try fixture.add(.optIn, at: Fixture.day("00:01:00"))
    try fixture.add(.optOut, at: Fixture.day("00:02:00"))
    let rules = try fixture.day("00:03:00", after: identified).rules
    #expect(rules.output.checks.map(\.instruction) == [.optOut])
    #expect(rules.output.warnings.map(\.detail) == ["optIn"])
  }

  @Test func whatWaitedForAUserIdGoesOutWithConsent() throws {
    let fixture = fixture()
    try fixture.named("00:00:00")
    try consent(fixture, "00:01:00", use: false)
    try fixture.named("00:02:00", id: "u-1")
    let waiting = try fixture.day("00:02:00")
    #expect(waiting.events.brief() == ["17 00:00:00"])
    #expect(waiting.rules.output.counts.heldForUserId == 2)
    try consent(fixture, "00:03:00", use: true)
    // The start with the time of its release, the end with its own.
    #expect(
      try fixture.day("00:03:00", after: waiting.rules.state).events.brief("Primary User Id") == [
        "14 00:00:00, Primary User Id=u-1", "13 00:03:00, Primary User Id=u-1",
      ])
  }

  @Test func aPlaceOfThatTimeCountsForNoEvent() throws {
    let fixture = fixture()
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    fixture.settings.augmentation.timeout = Milliseconds(60_000)
    try fixture.named("00:00:00")
    try consent(fixture, "00:00:10", use: false)
    try fixture.location("00:00:20", 1, 2)
    try fixture.placemark("00:00:21", city: "Bonn")
    try consent(fixture, "00:00:30", use: true)
    try fixture.named("00:30:00")
    try fixture.location("00:30:10", 3, 4)
    let (events, rules) = try fixture.day("01:00:00", after: identified)
    #expect(
      events.filter { $0.code == "17" }.brief("Latitude") == ["17 00:00:00", "17 00:30:00, Latitude=3"])
    #expect(rules.output.locations.isEmpty)
  }

  @Test func aLateRecordGoesByTheConsentOfNow() throws {
    let fixture = fixture()
    try consent(fixture, "10:00:00", use: false)
    let state = try fixture.day("11:00:00", after: identified).rules.state
    try fixture.named("09:00:00")
    try consent(fixture, "09:30:00", use: true)
    try fixture.named("09:40:00")
    let (events, rules) = try fixture.day("11:00:00", after: state)
    #expect(events.brief() == ["17 09:40:00"])
    #expect(
      rules.output.warnings.map(\.kind) == [.lateRecord, .consentDenied, .lateRecord, .lateRecord])
  }

  @Test func byDefaultItIsCheckedAndIgnored() throws {
    let fixture = Fixture()
    try fixture.add(.consent, at: Fixture.day("00:00:00")) {
      $0.use = false
      $0.mobileUserId = "u-1"
    }
    try fixture.named("00:01:00")
    let (events, rules) = try fixture.day("00:02:00")
    #expect(
      events.brief("Primary User Id") == ["13 00:01:00, Primary User Id=u-1", "17 00:01:00, Primary User Id=u-1"])
    #expect(rules.output.warnings.map(\.kind) == [.ignoredConsent])
  }
}
