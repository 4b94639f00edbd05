import BatchConfiguration
import BatchFoundation
import Engage
import TestSupport
import Testing

@testable import EngageRules

/// Codes and attributes of `General.eventCodes` (reference events 1.8).
@Suite struct EventCodeTests {
  private func acousticMobile(
    _ codes: String = "acoustic-mobile", _ more: [(name: String, value: String)] = []
  ) -> Fixture {
    let fixture = Fixture()
    fixture.settings = RuleSettings(
      .stored([("General.eventCodes", codes)] + more), identity: false, lookups: [], in: fixture.arena)
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
            "attribution": "Spring", "channel": "push", "type": "dial", "value": "3420948209",
          ]) { $1 })
    #expect(
      events[3].others
        == ids.merging(["attribution": "Spring", "Event Name": "Opened cart", "items": "3"]) { $1 })
    #expect(events[5].others == ids.merging(["attribution": "Spring"]) { $1 })
    // 179 seconds are two whole minutes.
    #expect(events[6].others == ids.merging(["attribution": "Spring", "sessionLength": "2"]) { $1 })
  }

  /// `"093"` passed the check for codes that only the service gives.
  @Test(arguments: [
    ("93", false), ("093", false), (" 93", false), ("90 ", false), ("930", true), ("193", true), ("9", true),
  ])
  func codesOfTheServiceAreNumbers(code: String, isSent: Bool) throws {
    let fixture = acousticMobile()
    try fixture.add(.custom, at: "2026-01-01T10:00:00Z") { $0.subject = fixture.arena.text(code) }
    let (events, rules) = try fixture.run(asOf: "2026-01-01T10:00:00Z")
    #expect(events.map(\.code.description) == (isSent ? [code] : []))
    #expect(rules.output.warnings.map(\.kind) == (isSent ? [] : [.noEventCode]))
  }

  @Test func anAttributeThatNoRecordNamesIsAbsent() throws {
    let fixture = acousticMobile()
    try fixture.add(.namedEvent, at: "2026-01-01T10:00:00Z") { $0.subject = "a" }
    let (events, _) = try fixture.run(asOf: "2026-01-01T10:00:00Z")
    #expect(events.map(\.code.description) == ["95"])
    #expect(events[0].others == ["Event Name": "a"])
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
    #expect(rules.output.sessionStarts.count == 0)
    #expect(rules.output.warnings.map(\.kind) == [.noEventCode])
    #expect(try fixture.reloaded(rules.state).channelId == "c-1")
  }

  /// Codes and attributes of each row of `acoustic-mobile`, and of nothing but it.
  @Test(
    arguments: [
      (
        RecordType.localNotificationOpened, #"{"alertBody":"b","CurrentCampaign":"c"}"#, "94",
        ["channel": "local", "Displayed Message": "b", "attribution": "c"]
      ),
      (.notificationOpened, #"{"aps":{"alert":"b"}}"#, "94", ["channel": "push", "Displayed Message": "b"]),
      (.goalCompleted, "{}", "95", ["Goal Name": "s"]), (.goalAbandoned, "{}", "95", ["Goal Name": "s"]),
      (.namedEvent, "{}", "95", ["Event Name": "s"]), (.pushEnabled, "{}", "103", [:]),
      (.pushDisabled, "{}", "104", [:]),
    ] as [(RecordType, String, String, [String: String])])
  func aRowOfTheMobileProfile(type: RecordType, body: String, code: String, attributes: [String: String]) throws {
    let fixture = acousticMobile()
    try fixture.add(type, at: "2026-01-01T10:00:00Z") { record in
      record.subject = "s"
      record.body = try fixture.json(body)
      record.appKey = "k"
    }
    let (events, _) = try fixture.run(asOf: "2026-01-01T10:00:00Z")
    #expect(events.map(\.code.description) == [code])
    #expect(events[0].others == attributes.merging(["appKey": "k"]) { $1 })
  }

  /// The campaign's name replaced one that the user had chosen.
  @Test func aNameOfTheUsersOwnHoldsForTheMobileProfile() throws {
    let fixture = acousticMobile("acoustic-mobile", [("UBFFieldNames.UBFCurrentCampaignFieldName", "Promotion")])
    try fixture.push("10:00:00", #"{"CurrentCampaign":"Spring"}"#)
    try fixture.named("10:00:01")
    let events = try fixture.day("10:00:01").events
    #expect(events.map(\.others) == [["Event Name": "E", "Promotion": "Spring"]])
  }

  @Test func aTableSaysWhatDiffersFromItsProfile() throws {
    let fixture = acousticMobile(
      #"""
      {"base": "acoustic-mobile", "names": {"channelId": "Channel", "activeSeconds": "Length"},
       "everyEvent": ["channelId"], "receivedNotification": {"code": "174", "attributes": ["campaign", "channel"]},
       "sessionEnded": {"attributes": ["activeSeconds"]}, "pushDisabled": {"code": ""}}
      """#)
    try fixture.lifecycle(.launch, "10:00:00", id: "m-1")
    try fixture.add(.pushReceived, at: Fixture.day("10:00:01")) { record in
      record.body = try fixture.json(#"{"CurrentCampaign":"Spring"}"#)
      record.channelId = "c-1"
      record.appKey = "k-1"
    }
    try fixture.add(.pushDisabled, at: Fixture.day("10:00:02"))
    try fixture.lifecycle(.background, "10:01:59")
    let (events, rules) = try fixture.day("12:00:00")
    #expect(events.map(\.code.description) == ["89", "91", "174", "92"])
    #expect(events[2].others == ["attribution": "Spring", "channel": "push", "Channel": "c-1"])
    #expect(events[3].others == ["Length": "119", "Channel": "c-1"])
    #expect(rules.output.warnings.map(\.kind) == [.noEventCode])
  }

  @Test func codesOfTheServiceAreNotSent() throws {
    let fixture = acousticMobile()
    try fixture.add(.custom, at: Fixture.day("10:00:00")) { $0.subject = "93" }
    try fixture.raw("10:00:01", "90", "[]")
    try fixture.raw("10:00:02", "96", "[]")
    let (events, rules) = try fixture.day("10:00:02")
    #expect(events.map(\.code.description) == ["96"])
    #expect(rules.output.warnings.map(\.kind) == [.noEventCode, .noEventCode])
  }

  /// An event that waited for a sample got ids that a later record had named.
  @Test func anEventThatWaitsForASampleHasTheIdsOfItsOwnTime() throws {
    let fixture = acousticMobile()
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("02:00:00")
    try fixture.add(.namedEvent, at: Fixture.day("02:00:05")) { record in
      record.subject = "F"
      record.channelId = "c-1"
    }
    try fixture.location("02:00:10", 3, 4)
    let events = try fixture.day("12:00:00", after: Fixture.known).events
    #expect(events.map { $0["channelId"] } == [nil, "c-1"])
  }
}
