import BatchFoundation
import Testing

@testable import EngageRules

/// Automatic events before the user id is known, and the start by a link (reference decisions 5, 6, 14 and 15).
@Suite struct HeldSessionEventTests {
  @Test func onlyTheAutomaticEventsWait() throws {
    let fixture = Fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.named("00:01:00")
    try fixture.push("00:02:00", "{}")
    let (events, rules) = try fixture.day("00:02:00")
    #expect(events.brief("Primary User Id") == ["17 00:01:00, Primary User Id=", "48 00:02:00, Primary User Id="])
    #expect(rules.state.heldCount == 2)
    #expect(rules.output.sessionStarts.count == 1)
  }

  @Test func eachReleasedEventHasItsInstantAndCampaign() throws {
    let fixture = Fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.push("00:00:30", #"{"CurrentCampaign":"old","CampaignValidFor":"10 minutes"}"#)
    try fixture.lifecycle(.background, "00:01:01")
    try fixture.lifecycle(.foreground, "01:00:00")
    try fixture.push("01:10:00", #"{"CurrentCampaign":"new"}"#)
    try fixture.lifecycle(.setMobileUserId, "02:00:00", id: "u-1")
    let events = try fixture.day("02:00:00").events
    #expect(
      events.filter { $0.code != "48" }.brief("Primary User Id", "Last Campaign", "Campaign Name", "Session Duration")
        == [
          "14 00:01:01, Primary User Id=u-1, Campaign Name=old, Session Duration=61",
          "12 02:00:00, Primary User Id=u-1, Last Campaign=new", "13 02:00:00, Primary User Id=u-1, Campaign Name=new",
          "13 02:00:00, Primary User Id=u-1, Campaign Name=new",
        ])
  }

  @Test func aRecordsOwnIdReleasesBeforeTheRecordItself() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00")
    try fixture.named("00:01:00", id: "u-1")
    let events = try fixture.day("00:01:00").events
    #expect(events.brief() == ["17 00:00:00", "13 00:01:00", "17 00:01:00"])
  }

  @Test func endOfAKnownSessionThatExpiresBeforeItsRecordsIdWaitsAndLeavesWithIt() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00")
    try fixture.named("01:00:00", id: "u-1")
    let events = try fixture.day("01:00:00").events
    #expect(
      events.brief("Primary User Id") == [
        "17 00:00:00, Primary User Id=", "14 00:00:00, Primary User Id=u-1", "13 01:00:00, Primary User Id=u-1",
        "13 01:00:00, Primary User Id=u-1", "17 01:00:00, Primary User Id=u-1",
      ])
  }

  @Test func heldEventsSurviveTheEndOfARun() throws {
    let fixture = Fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.link("00:00:00", "app://h?a=1")
    let state = try fixture.day("00:00:00").rules.state
    try fixture.lifecycle(.setMobileUserId, "00:05:00", id: "u-1")
    #expect(try fixture.day("00:05:00", after: state).events.brief("a") == ["12 00:05:00", "13 00:05:00, a=1"])
  }

  /// A device that nobody names gathers them as long as it is used: each took a quarter of a kilobyte.
  @Test func thousandsWaitInFewBytesAndLeaveAFewAtATime() throws {
    let fixture = Fixture()
    let sessions = 3000
    for session in 0..<sessions {
      try fixture.add(.foreground, at: Self.time(session * 10_000))
      try fixture.add(.background, at: Self.time(session * 10_000 + 1))
    }
    let state = try fixture.reloaded(fixture.run(asOf: Self.time(sessions * 10_000)).rules.state)
    #expect(state.heldSessionEvents.count == 2 * sessions)
    #expect(state.encoded().count < 2 * sessions * 25)

    try fixture.add(.setMobileUserId, at: Self.time(sessions * 10_000)) { $0.mobileUserId = "u-1" }
    let record = try #require(fixture.records.first)
    let whole = try fixture.run(asOf: Self.time(sessions * 10_000), state: state).rules
    #expect(whole.output.events.count == 2 * sessions)
    var parts = DeviceRules(
      settings: fixture.settings, links: DeepLinkRouter(routes: nil), knownUntil: record.timestamp, arena: fixture.arena
    )
    parts.begin(state)
    var lines: [String] = []
    for _ in 0..<2 * sessions / DeviceRules.releasedAtOnce {
      let isDone = parts.advance(record)
      #expect(!isDone)
      #expect(parts.output.events.count == DeviceRules.releasedAtOnce)
      lines += parts.output.events.map(\.line)
      parts.output.removeAll()
    }
    let isDone = parts.advance(record)
    #expect(isDone)
    parts.finish()
    #expect(lines + parts.output.events.map(\.line) == whole.output.events.map(\.line))
    #expect(parts.state.encoded() == whole.state.encoded())
  }

  /// So many seconds after the beginning of 2026.
  private static func time(_ seconds: Int) -> String {
    Instant(milliseconds: 1_767_225_600_000 + Int64(seconds) * 1000).rfc3339
  }

  @Test func automaticIdHoldsNothingBackAndGivesWayToARecordedOne() throws {
    let fixture = Fixture()
    fixture.settings.generatesMobileUserIds = true
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.named("00:01:00", id: "u-1")
    try fixture.named("00:02:00")
    let events = try fixture.day("00:02:00").events
    let automatic = AutomaticMobileUserId.id(of: "d-1")
    #expect(events.compactMap { $0["Primary User Id"] } == [automatic, automatic, "u-1", "u-1"])
    #expect(AutomaticMobileUserId.id(of: "device-1").count == 36)
    #expect(automatic == automatic.uppercased())
  }

  @Test func endCarriesDeviceAndIdsAsOfThePause() throws {
    let fixture = Fixture()
    try fixture.add(.launch, at: Fixture.day("00:00:00")) { $0.deviceValues[.appVersion] = "1" }
    try fixture.lifecycle(.background, "00:01:00")
    try fixture.add(.identify, at: Fixture.day("00:02:00")) {
      $0.deviceValues[.appVersion] = "2"
      $0.mobileUserId = "u-2"
    }
    let events = try fixture.day("01:00:00", after: Fixture.known).events
    #expect(
      events.brief("App Version", "Primary User Id") == [
        "13 00:00:00, App Version=1, Primary User Id=u-1", "14 00:01:00, App Version=1, Primary User Id=u-1",
      ])
  }

  // MARK: - Starts by link

  @Test func linkOfTheSameInstantTakesThePlaceOfTheAutomaticStart() throws {
    let fixture = Fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.link("00:00:00", "app://h?a=1&CurrentCampaign=c")
    try fixture.link("00:00:00", "app://h?a=2")
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(
      events.brief("a", "Campaign Name") == ["13 00:00:00, a=1, Campaign Name=c", "13 00:00:00, a=2, Campaign Name=c"])
    #expect(events.map { $0.emission - EmissionNumber.begin(at: $0.timestamp) } == [1, 2])
    #expect(rules.output.sessionStarts.count == 1)
  }

  @Test(arguments: [true, false])
  func linkWithoutParametersIsStillNoAutomaticStart(isKnown: Bool) throws {
    let fixture = Fixture()
    try fixture.link("00:00:00", "app://h")
    try fixture.link("00:00:00", "app://h?a=2")
    try fixture.lifecycle(.setMobileUserId, "00:00:01", id: "u-1")
    let events = try fixture.day("00:00:01", after: isKnown ? Fixture.known : nil).events
    #expect(
      events.brief("a")
        == (isKnown ? ["13 00:00:00", "13 00:00:00, a=2"] : ["13 00:00:00, a=2", "13 00:00:01"]))
  }

  @Test func laterLinkAddsItsOwnStart() throws {
    let fixture = Fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.link("00:00:00.001", "app://h?a=1")
    #expect(
      try fixture.day("00:00:01", after: Fixture.known).events.brief("a") == ["13 00:00:00", "13 00:00:00.001, a=1"])
  }

  @Test func linkResumesAPausedSession() throws {
    let fixture = Fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:01:00")
    try fixture.link("00:02:00", "app://h?a=1")
    try fixture.lifecycle(.background, "00:03:00")
    #expect(
      try fixture.day("01:00:00", after: Fixture.known).events.brief("Session Duration") == [
        "13 00:00:00", "13 00:02:00", "14 00:03:00, Session Duration=120",
      ])
  }
}
