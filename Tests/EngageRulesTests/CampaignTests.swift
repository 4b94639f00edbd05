import BatchFoundation
import Testing

@testable import EngageRules

/// What links and payloads make of campaigns and attributes (reference decisions 16, 17 and 21).
@Suite struct CampaignTests {
  @Test(arguments: [
    (#"{"CurrentCampaign":"c"}"#, "2026-01-02T00:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignEndTimeStamp":"1767229200"}"#, "2026-01-01T01:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignEndTimeStamp":"253402300799"}"#, "9999-12-31T23:59:59.000Z"),
    (#"{"CurrentCampaign":"c","CampaignEndTimeStamp":"253402300800"}"#, "2026-01-02T00:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignEndTimeStamp":"1767229200000"}"#, "2026-01-02T00:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignEndTimeStamp":"12.5"}"#, "2026-01-02T00:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignEndTimeStamp":1767229200}"#, "2026-01-01T01:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignEndTimeStamp":1767229200.0}"#, "2026-01-02T00:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignEndTimeStamp":" 1767229200"}"#, "2026-01-02T00:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignExpiresAt":"soon","CampaignValidFor":"1h"}"#, "2026-01-01T01:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignExpiresAt":"2h","CampaignValidFor":"1h"}"#, "2026-01-01T02:00:00.000Z"),
    (#"{"CurrentCampaign":"c","CampaignExpiresAt":"1969/12/31 23:59:59"}"#, "1969-12-31T23:59:59.000Z"),
    (#"{"CurrentCampaign":"c","a":{"CampaignValidFor":"1h"},"CampaignValidFor":""}"#, "2026-01-02T00:00:00.000Z"),
    (#"{"CurrentCampaign":"c","ParamCampaignValidFor":"1h"}"#, "2026-01-02T00:00:00.000Z"),
  ])
  func findsTheExpiryOfAPayload(payload: String, expiry: String) throws {
    let fixture = Fixture()
    try fixture.push("00:00:00", payload)
    #expect(try fixture.day("00:00:00").rules.state.campaign?.expiresAt.rfc3339 == expiry)
  }

  @Test(arguments: [
    ("CurrentCampaign=c&ParamCampaignValidFor=1h", "2026-01-01T01:00:00.000Z"),
    ("CurrentCampaign=c&ParamCampaignExpiresAt=1h&CampaignValidFor=2h", "2026-01-01T02:00:00.000Z"),
    ("CurrentCampaign=c&ParamCampaignExpiresAt=1h&ParamCampaignValidFor=2h", "2026-01-01T01:00:00.000Z"),
    (
      "CurrentCampaign=c&ParamCampaignExpiresAt=x&CampaignValidFor=x&ParamCampaignValidFor=3h",
      "2026-01-01T03:00:00.000Z"
    ),
    ("CurrentCampaign=c&CampaignExpiresAt=2026/01/01%2003:00:00", "2026-01-01T03:00:00.000Z"),
    ("CurrentCampaign=c&CampaignExpiresAt=2026/01/01+03:00:00", "2026-01-02T00:00:00.000Z"),
  ])
  func findsTheExpiryOfALink(query: String, expiry: String) throws {
    let fixture = Fixture()
    try fixture.link("00:00:00", "app://h?\(query)")
    #expect(try fixture.day("00:00:00").rules.state.campaign?.expiresAt.rfc3339 == expiry)
  }

  @Test func campaignIsActiveUpToItsExpiryAndTheEndTimeStampToo() throws {
    let fixture = Fixture()
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c","CampaignEndTimeStamp":"1767225600"}"#)
    try fixture.named("00:00:00")
    try fixture.named("00:00:00.001")
    let (events, rules) = try fixture.day("00:00:01", after: Fixture.known)
    #expect(
      events.brief("Campaign Name") == [
        "48 00:00:00, Campaign Name=c", "17 00:00:00, Campaign Name=c", "17 00:00:00.001, Campaign Name=",
      ])
    #expect(rules.output.campaignExpiries.count == 1)
  }

  @Test func everyStoringCountsAndEveryExpiryOnce() throws {
    let fixture = Fixture()
    let push = #"{"CurrentCampaign":"c","CampaignValidFor":"1m"}"#
    for time in ["00:00:00", "00:00:30", "00:05:00"] { try fixture.push(time, push) }
    try fixture.push("00:05:01", #"{"CurrentCampaign":""}"#)
    try fixture.named("00:05:02")
    let first = try fixture.day("00:06:00", after: Fixture.known).rules
    #expect(first.output.campaignSets.count == 3)
    #expect(first.output.campaignExpiries.count == 1)
    let second = try fixture.day("00:06:00.001", after: first.state).rules
    #expect(second.output.campaignExpiries.count == 1)
    try fixture.named("00:07:00")
    #expect(try fixture.day("02:00:00", after: second.state).rules.output.campaignExpiries.count == 0)
  }

  @Test func rawEventsSeeNoCampaign() throws {
    let fixture = Fixture()
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c","CampaignValidFor":"1m"}"#)
    try fixture.raw("00:02:00", "17", "[]")
    let rules = try fixture.day("00:00:30", after: Fixture.known).rules
    #expect(rules.output.campaignExpiries.count == 0)
  }

  @Test(
    arguments: [
      (#"{"a":{"k":"deep"},"k":"top"}"#, "top"), (#"{"a":{"k":"deep"},"k":5}"#, "5"),
      (#"{"a":{"k":1.50},"k":true}"#, "1.50"),
      (#"{"b":{"k":"b"},"a":{"k":"a"}}"#, "a"), (#"{"b":{"k":"b"},"a":{"x":{"k":"deeper"}}}"#, "b"),
      (#"{"a":[{"k":"in an array"}]}"#, nil), (#"{"K":"case"}"#, nil), (#"{"k":"","a":{"k":"x"}}"#, ""),
      (#"{"a":{"z":{"k":"1"}},"a ":{"b":{"k":"2"}}}"#, "1"),
      (#"{"b":{"x":{"k":"1"}},"a":{"y":{"k":"2"}},"c":{"k":"3"}}"#, "3"),
      (#"{"b":{"z":{"k":"1"},"a":{"k":"0"}},"a":{"z":{"k":"2"}}}"#, "2"),
      (#"{"a":{"x":{"y":{"k":"deep"}}},"b":{"x":{"k":"less deep"}}}"#, "less deep"),
      (#"{"c":{"x":{"k":"1"}},"a":{"x":{"y":{"k":"2"}}},"b":{"x":{"k":"3"}}}"#, "3"),
    ] as [(String, String?)])
  func shallowestStringWins(payload: String, found: String?) throws {
    let fixture = Fixture()
    #expect(PayloadSearch.text("k", in: try fixture.json(payload))?.description == found)
  }

  @Test func endOfASessionCarriesTheCampaignOfItsPause() throws {
    let fixture = Fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.push("00:00:01", #"{"CurrentCampaign":"one"}"#)
    try fixture.lifecycle(.background, "00:01:00")
    try fixture.push("00:02:00", #"{"CurrentCampaign":"two"}"#)
    let events = try fixture.day("01:00:00", after: Fixture.known).events
    #expect(events.filter { $0.code == "14" }.brief("Campaign Name") == ["14 00:01:00, Campaign Name=one"])
  }

  // MARK: - Links

  @Test func parametersOfALinkAreTheCallers() throws {
    let fixture = Fixture()
    let query = "Device%20Id=x&Campaign%20Name=mine&a=b=c&d=e&d=f&g=1+2&=h&i&j=&CallToAction=Buy"
    try fixture.link("00:00:00", "app://h?\(query)")
    let event = try #require(try fixture.day("00:00:00", after: Fixture.known).events.first)
    #expect(event["Device Id"] == "x")
    #expect(
      event.others == [
        "Campaign Name": "mine", "a": "b=c", "d": "f", "g": "1+2", "j": "", "CallToAction": "Buy",
        "Call To Action": "Buy",
      ])
  }

  @Test func callToActionOfALinkGivesWayToItsOwnName() throws {
    let fixture = Fixture()
    try fixture.link("00:00:00", "app://h?CallToAction=Buy&Call%20To%20Action=own")
    let event = try #require(try fixture.day("00:00:00", after: Fixture.known).events.first)
    #expect(event["Call To Action"] == "own")
  }

  @Test func paramsOfALinkRecordWinAndSetNoCampaign() throws {
    let fixture = Fixture()
    try fixture.link("00:00:00", "app://h?a=link", #"{"a":"params","CurrentCampaign":"c"}"#)
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(events.brief("a", "Campaign Name") == ["13 00:00:00, a=params, Campaign Name="])
    #expect(rules.state.campaign == nil)
  }

  @Test func unusableLinkIsAnEventAllTheSame() throws {
    let fixture = Fixture()
    for url in ["", "not a url", "%%%", "app://h?a=%zz&%zz=1"] { try fixture.link("00:00:00", url) }
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(events.map(\.code) == ["13", "13", "13", "13"])
    #expect(events[3]["a"] == "%zz")
    #expect(events[3]["%zz"] == "1")
    #expect(!rules.output.warnings.isEmpty)
  }

  @Test(arguments: [
    ("campaign", "CurrentCampaign"), ("campaign_name", "CurrentCampaign"), ("currentCampaign", "CurrentCampaign"),
    ("CurrentCampain", "CurrentCampaign"), ("Call To Action", "CallToAction"),
    ("campaignexpires-at", "CampaignExpiresAt"),
  ])
  func tellsOfAKeyThatIsNearlyAParameter(key: String, meant: String) throws {
    let fixture = Fixture()
    try fixture.add(.pushReceived, at: "2026-01-01T00:00:00Z") {
      $0.body = try fixture.json(#"{"aps":{"alert":"x"},"data":{"\#(key)":"spring"}}"#)
    }
    let (_, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    #expect(rules.output.warnings.map(\.kind) == [.nearParameter])
    #expect(rules.output.warnings.map(\.detail) == ["payload key '\(key)' is not read; did you mean '\(meant)'?"])
  }

  /// What is taken does not change: none of these sets a campaign.
  @Test(arguments: [
    (#"{"data":{"payload":"{\"CurrentCampaign\":\"x\"}"}}"#, "data.payload.CurrentCampaign"),
    (#"{"custom":" [{\"a\":{\"current_campaign\":\"x\"}}] "}"#, "custom.a.current_campaign"),
    (#"{"list":[1,{"CurrentCampaign":"x"}]}"#, "list.CurrentCampaign"),
    (#"{"actions":{"^d":"app://a/b?CurrentCampaign=x"}}"#, "actions.^d.CurrentCampaign"),
    (#"{"u":"https://a.example/#/b?c=d&amp;campaignValidFor=x"}"#, "u.campaignValidFor"),
    (#"{"u":"https://a.example/?to=b%3FCurrentCampaign%3Dx"}"#, "u.CurrentCampaign"),
    (#"{"d[CURRENTCAMPAIGN]":"x"}"#, "d[CURRENTCAMPAIGN]"),
    (##"{"#CurrentCampaign":"x"}"##, "#CurrentCampaign"),
    (#"{"amp;CurrentCampaign":"x"}"#, "amp;CurrentCampaign"), (#"{"CurrentCampaign":true}"#, "CurrentCampaign"),
    (#"{"CampaignEndTimeStamp":1768464000}"#, "CampaignEndTimeStamp"),
  ])
  func tellsOfACampaignWhereNoneIsTaken(payload: String, place: String) throws {
    let fixture = Fixture()
    for type in [RecordType.pushReceived, .notificationOpened, .localNotificationOpened] {
      try fixture.add(type, at: "2026-01-01T00:00:00Z") { $0.body = try fixture.json(payload) }
    }
    let (_, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    let warning = "the payload sets no campaign, but its '\(place)' may be intended to set one"
    #expect(rules.output.warnings.map(\.detail) == [warning, warning, warning])
    #expect(rules.state.campaign == nil)
  }

  @Test(arguments: [
    #"{"a":"CurrentCampaign","b":"{\"c\":1}","d":"app://a?x=y#z","e":null,"CurrentCampaign":null}"#,
    #"{"CurrentCampaign":"x","data":"{\"CurrentCampaign\":\"y\"}"}"#,
    #"{"data":"{\"a\":\"{\\\"CurrentCampaign\\\":1}\"}"}"#, #"{"data":"{\"CurrentCampaign\""}"#,
  ])
  func tellsNothingOfAPayloadWithoutOneOrWithOneThatIsTaken(payload: String) throws {
    let fixture = Fixture()
    try fixture.add(.pushReceived, at: "2026-01-01T00:00:00Z") { $0.body = try fixture.json(payload) }
    let (_, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    #expect(rules.output.warnings.map(\.detail) == [])
  }

  /// As long as it is looked into, and longer.
  @Test(arguments: [(65_536, 1), (65_537, 0)])
  func looksIntoTextsUpToALength(length: Int, count: Int) throws {
    let fixture = Fixture()
    let text = #"{\"CurrentCampaign\":\"x\"}"#
    let blanks = String(repeating: "a", count: length - 30)
    try fixture.add(.pushReceived, at: "2026-01-01T00:00:00Z") {
      $0.body = try fixture.json(#"{"t":"\#(text.dropLast()),\"b\":\"\#(blanks)\"}"}"#)
    }
    let (_, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    #expect(rules.output.warnings.count == count)
  }

  @Test(arguments: [
    ("app://a/5?currentCampaign=x", "currentCampaign"), ("app://a?Current%20Campaign=x", "Current Campaign"),
    ("app://a?Current+Campaign=x", "Current+Campaign"), ("app://a?CurrentCampaign[]=x", "CurrentCampaign[]"),
    ("https://a.example/?b=c&amp;CurrentCampaign=x", "amp;CurrentCampaign"),
    ("intent://x#Intent;scheme=app;S.CurrentCampaign=x;end", "#.S.CurrentCampaign"),
    ("https://a.example/#/b/5?CurrentCampaign=x", "#.CurrentCampaign"),
    ("app://a#CurrentCampaign=x", "#.CurrentCampaign"),
    ("app://a?data=%7B%22CurrentCampaign%22%3A%22x%22%7D", "data.CurrentCampaign"),
    ("app://a?to=https%3A%2F%2Fb.example%2F%3FCurrentCampaign%3Dx", "CurrentCampaign"),
    ("app://a?CurrentCampaign", "CurrentCampaign"),
  ])
  func tellsOfACampaignThatALinkDoesNotSet(url: String, place: String) throws {
    let fixture = Fixture()
    try fixture.link("00:00:00", url)
    let (_, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(
      rules.output.warnings.filter { $0.kind == .nearParameter }.map(\.detail)
        == ["the link sets no campaign, but its '\(place)' may be intended to set one"])
    #expect(rules.state.campaign == nil)
  }

  @Test(arguments: [
    "app://CurrentCampaign/a?b=c#d", "app://a?CurrentCampaign=", "app://a?CurrentCampaign=x#CurrentCampaign=y",
    "app://a?campaign=x",
    "app://a?ParamCampaignValidFor=1%20day&CurrentCampaign=x",
  ])
  func tellsNothingOfOtherLinks(url: String) throws {
    let fixture = Fixture()
    try fixture.link("00:00:00", url)
    let (_, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(rules.output.warnings.filter { $0.kind == .nearParameter }.map(\.detail) == [])
  }

  @Test("What was found of a key holds for the next push, and of more keys than are kept") func tellsOfAKeyEachTime()
    throws
  {
    let fixture = Fixture()
    let others = (0..<40).map { #""customer\#($0)":1"# }.joined(separator: ",")
    for hour in 0..<3 {
      try fixture.add(.pushReceived, at: "2026-01-01T0\(hour):00:00Z") {
        $0.body = try fixture.json(#"{"campaign":"a",\#(others),"campaign_name":"b","CallToAction":"go"}"#)
      }
    }
    let (_, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    let told = ["campaign", "campaign_name"].map {
      "payload key '\($0)' is not read; did you mean 'CurrentCampaign'?"
    }
    #expect(rules.output.warnings.map(\.detail) == told + told + told)
  }

  /// An object of that name sets no campaign either, and said nothing.
  @Test func tellsOfAnObjectThatIsNearlyAParameter() throws {
    let fixture = Fixture()
    try fixture.add(.pushReceived, at: "2026-01-01T00:00:00Z") {
      $0.body = try fixture.json(
        #"{"aps":{"alert":"x"},"campaign":{"name":"spring"},"data":{"campaign":{"campaign":1}}}"#)
    }
    let (_, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    let words = "payload key 'campaign' is not read; did you mean 'CurrentCampaign'?"
    #expect(rules.output.warnings.map(\.detail) == [words, words])
    let other = Fixture()
    try other.add(.pushReceived, at: "2026-01-01T00:00:00Z") {
      $0.body = try other.json(#"{"aps":{"alert":"x"},"campaign":{"CurrentCampaign":"spring"}}"#)
    }
    #expect(try other.run(asOf: "2026-01-02T00:00:00Z").1.output.warnings.map(\.detail) == [])
  }

  @Test func leavesKeysOfOtherWordsAlone() throws {
    let fixture = Fixture()
    try fixture.add(.notificationOpened, at: "2026-01-01T00:00:00Z") {
      $0.body = try fixture.json(
        #"{"aps":{"alert":"x","category":"c","content-available":1},"CurrentCampaign":"s","CallToAction":"go","campaignId":"7","customer":"n"}"#
      )
    }
    let (_, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    #expect(rules.output.warnings.isEmpty)
  }
}
