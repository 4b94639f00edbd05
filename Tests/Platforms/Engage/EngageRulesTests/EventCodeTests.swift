import BatchConfiguration
import BatchFoundation
import EngageEvents
import EngagePlatform
import TestSupport
import Testing

@testable import EngageRules

/// Codes and attributes of `General.eventCodes` (reference events 1.8).
@Suite struct EventCodeTests {
  private func acousticMobile() -> Fixture {
    let fixture = Fixture()
    var settings = Settings.defaults
    settings.general.eventCodes = .acousticMobile
    settings.attributeNames.currentCampaign = "attribution"
    settings.attributeNames.sessionDuration = "sessionLength"
    fixture.settings = RuleSettings(settings, identity: false, lookups: [], in: fixture.arena)
    fixture.settings.augmentation.plugins = []
    return fixture
  }

  @Test func everyEventHasTheCodeOfTheMobileProfile() throws {
    let fixture = acousticMobile()
    try fixture.add(.launch, at: "2026-01-01T10:00:00Z") { record in
      record.mobileUserId = "m-1"
      record.channelId = "c-1"
      record.appKey = "k-1"
    }
    try fixture.add(.notificationOpened, at: "2026-01-01T10:00:10Z") { record in
      record.body = try fixture.json(
        #"{"CurrentCampaign":"Spring","notification-action":{"type":"dial","value":3420948209}}"#)
    }
    try fixture.add(.pushReceived, at: "2026-01-01T10:00:20Z") { $0.body = try fixture.json("{}") }
    try fixture.add(.namedEvent, at: "2026-01-01T10:00:30Z") { record in
      record.subject = "Opened cart"
      record.params = try fixture.json(#"{"items":3}"#)
    }
    try fixture.add(.goalCompleted, at: "2026-01-01T10:00:40Z") { $0.subject = "Bought" }
    try fixture.add(.pushDisabled, at: "2026-01-01T10:00:50Z")
    try fixture.add(.background, at: "2026-01-01T10:02:59Z")
    let (events, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    #expect(
      events.map(\.line) == [
        "89@2026-01-01T10:00:00.000Z", "91@2026-01-01T10:00:00.000Z", "94@2026-01-01T10:00:10.000Z",
        "95@2026-01-01T10:00:30.000Z", "95@2026-01-01T10:00:40.000Z", "104@2026-01-01T10:00:50.000Z",
        "92@2026-01-01T10:02:59.000Z",
      ])
    #expect(rules.output.warnings.map(\.kind) == [.noEventCode])
    let ids = ["mobileUserId": "m-1", "channelId": "c-1", "appKey": "k-1"]
    #expect(
      events[2].others
        == ids.merging(
          [
            "attribution": "Spring", "channel": "push", "type": "dial", "value": "3420948209", "Call To Action": "",
            "Displayed Message": "",
          ]) { $1 })
    #expect(
      events[3].others
        == ids.merging(["attribution": "Spring", "Event Name": "Opened cart", "items": "3"]) { $1 })
    #expect(events[5].others == ids.merging(["attribution": "Spring"]) { $1 })
    // 179 seconds are two whole minutes.
    #expect(events[6].others == ids.merging(["attribution": "Spring", "sessionLength": "2"]) { $1 })
  }

  @Test func anAttributeThatNoRecordNamesIsAbsent() throws {
    let fixture = acousticMobile()
    try fixture.add(.namedEvent, at: "2026-01-01T10:00:00Z") { $0.subject = "a" }
    let (events, _) = try fixture.run(asOf: "2026-01-01T10:00:00Z")
    #expect(events.map(\.code.description) == ["95"])
    #expect(events[0].others == ["Event Name": "a", "attribution": ""])
  }

  @Test func aLinkThatStartsASessionIsAnEventBesideTheStart() throws {
    let fixture = acousticMobile()
    try fixture.add(.launch, at: "2026-01-01T09:00:00Z") { $0.mobileUserId = "m-1" }
    try fixture.add(.background, at: "2026-01-01T09:01:00Z")
    try fixture.add(.deepLink, at: "2026-01-01T10:00:00Z") { $0.subject = "shop://cart?CurrentCampaign=Sale" }
    let (events, _) = try fixture.run(asOf: "2026-01-01T10:00:00Z")
    #expect(events.map(\.code.description) == ["89", "91", "92", "91", "95"])
    #expect(events[4].others["CurrentCampaign"] == "Sale")
  }

  @Test func pushSettingsBecomeNothingWithTheCodesOfTheSDKs() throws {
    let fixture = Fixture()
    try fixture.add(.pushEnabled, at: "2026-01-01T10:00:00Z") { record in
      record.mobileUserId = "m-1"
      record.channelId = "c-1"
    }
    let (events, rules) = try fixture.run(asOf: "2026-01-01T12:00:00Z")
    #expect(events.isEmpty)
    #expect(rules.output.counts.sessionsStarted == 0)
    #expect(rules.output.warnings.map(\.kind) == [.noEventCode])
    #expect(try fixture.reloaded(rules.state).channelId == "c-1")
  }
}
