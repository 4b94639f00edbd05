import BatchFoundation
import Testing

@testable import EngageRules

/// Points on which readings differed (reference decisions 22 to 28), a test for each.
@Suite struct DecisionTests {
  private let fixture = Fixture()

  private func local(_ type: RecordType, _ body: String, _ params: String? = nil) throws {
    try fixture.add(type, at: Fixture.day("00:00:00")) {
      $0.body = try fixture.json(body)
      if let params { $0.params = try fixture.json(params) }
    }
  }

  private func others(_ events: [Event]) -> [[String: String]] { events.map(\.others) }

  // MARK: 22

  @Test(arguments: [
    ("{}", "", ""), (#"{"alertAction":"Go"}"#, "Go", ""), (#"{"alertBody":"Hi"}"#, "", "Hi"),
    (#"{"alertAction":null,"alertBody":7}"#, "", ""), (#"{"alertAction":["x"],"alertBody":{"a":1}}"#, "", ""),
  ])
  func decision22LocalNotificationAlwaysHasActionAndMessage(body: String, action: String, message: String) throws {
    try local(.localNotification, body)
    try local(.localNotificationOpened, body)
    let events = try fixture.day("00:00:00", after: Fixture.known).events
    #expect(events.map(\.code) == ["48", "49"])
    #expect(
      others(events)
        == Array(
          repeating: ["Call To Action": action, "Displayed Message": message, "Campaign Name": ""], count: 2))
  }

  @Test func decision22CallersValuesOfALocalNotificationWin() throws {
    try local(.localNotification, #"{"alertAction":"Go"}"#, #"{"Displayed Message":"mine","Call To Action":""}"#)
    let events = try fixture.day("00:00:00", after: Fixture.known).events
    #expect(others(events) == [["Call To Action": "", "Displayed Message": "mine", "Campaign Name": ""]])
  }

  @Test func decision22NullTagsOfAPayloadAreAbsent() throws {
    try fixture.push("00:00:00", #"{"Tags":null}"#)
    try fixture.push("00:00:01", #"{"Tags":["a",null,"b"]}"#)
    try fixture.push("00:00:02", #"{"Tags":{"a":1}}"#)
    let (events, rules) = try fixture.day("00:00:02", after: Fixture.known)
    #expect(events.map { $0["Tags"] } == [nil, "a,b", nil])
    #expect(rules.output.warnings.map(\.detail) == ["the tags of a payload are an object; dropped"])
  }

  // MARK: 23

  @Test func decision23CallToActionOfALinkComesFromItsOwnQueryOnly() throws {
    try fixture.link("00:00:00", "app://h?CallToAction=Link", #"{"CallToAction":"Params"}"#)
    try fixture.link("00:00:01", "app://h?a=1", #"{"CallToAction":"Params"}"#)
    try fixture.link("00:00:02", "app://h?CallToAction=Link", #"{"Call To Action":"own"}"#)
    let events = try fixture.day("00:00:02", after: Fixture.known).events
    #expect(
      others(events) == [
        ["Campaign Name": "", "CallToAction": "Params", "Call To Action": "Link"],
        ["Campaign Name": "", "CallToAction": "Params", "a": "1"],
        ["Campaign Name": "", "CallToAction": "Link", "Call To Action": "own"],
      ])
  }

  @Test func decision23HoldsForALinkWhoseStartWaitsForTheUserId() throws {
    try fixture.link("00:00:00", "app://h?CallToAction=Link", #"{"CallToAction":"Params"}"#)
    let state = try fixture.day("00:00:00").rules.state
    try fixture.lifecycle(.setMobileUserId, "00:01:00", id: "u-1")
    let events = try fixture.day("00:01:00", after: state).events
    #expect(
      others(events) == [["Campaign Name": "", "CallToAction": "Params", "Call To Action": "Link"]])
  }

  @Test func lateLinkHasItsParamsToo() throws {
    try fixture.named("00:10:00")
    let state = try fixture.day("00:10:00", after: Fixture.known).rules.state
    try fixture.link("00:05:00", "app://h?a=link&CallToAction=Link", #"{"a":"params"}"#)
    let events = try fixture.day("00:10:00", after: state).events
    #expect(
      others(events) == [["Campaign Name": "", "a": "params", "CallToAction": "Link", "Call To Action": "Link"]])
  }

  // MARK: 25

  @Test func decision25NumbersOfAPayloadCountLikeStrings() throws {
    try fixture.push(
      "00:00:00",
      #"{"CurrentCampaign":7.50,"CampaignEndTimeStamp":1767229200,"x":{"CallToAction":1e2},"CallToAction":true}"#)
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(
      others(events) == [["Campaign Name": "7.50", "Call To Action": "1e2", "Displayed Message": ""]])
    #expect(rules.state.campaign?.expiresAt.rfc3339 == "2026-01-01T01:00:00.000Z")
    #expect(rules.output.warnings.isEmpty)
  }

  @Test func decision25EndTimeStampIsTakenLiterally() throws {
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c","CampaignEndTimeStamp":"1767229200 "}"#)
    let rules = try fixture.day("00:00:00", after: Fixture.known).rules
    #expect(rules.state.campaign?.expiresAt.rfc3339 == "2026-01-02T00:00:00.000Z")
    #expect(rules.output.warnings.map(\.kind) == [.unreadableExpiration])
  }

  // MARK: 26

  @Test func decision26TagsOfRawEventsMayBeAnArray() throws {
    try fixture.raw(
      "00:00:00", "17",
      #"[{"name":"Tags","value":["a","",null,["x"],1.50,"b"]},{"name":"Other","value":["a"]}]"#)
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(others(events) == [["Tags": "a,1.5,b"]])
    #expect(rules.output.warnings.map(\.kind) == [.nestedAttribute])
  }

  @Test func decision26RawEventsNeitherCountNorCauseTheExpiryOfACampaign() throws {
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c","CampaignValidFor":"1m"}"#)
    try fixture.raw("00:05:00", "17", "[]")
    let first = try fixture.day("00:00:30", after: Fixture.known).rules
    #expect(first.output.campaignExpiries.count == 0)
    #expect(first.state.campaign?.expiryWasSeen == false)
    try fixture.named("00:05:00")
    #expect(try fixture.day("00:00:30", after: first.state).rules.output.campaignExpiries.count == 1)
  }

  // MARK: 27

  @Test func decision27CallerOverAutomaticOverCoreAlsoUnderACoreName() throws {
    fixture.settings.fields[.eventName] = "Device Name"
    fixture.settings.fields[.campaign] = "App Name"
    for params in [nil, #"{"Device Name":"mine"}"#, #"{"App Name":""}"#] { try fixture.named("00:00:00", params) }
    let events = try fixture.day("00:00:00", after: Fixture.known).events
    #expect(
      events.brief("Device Name", "App Name") == [
        "17 00:00:00, Device Name=E, App Name=", "17 00:00:00, Device Name=mine, App Name=",
        "17 00:00:00, Device Name=E, App Name=",
      ])
    #expect(others(events) == [[:], [:], [:]])
    #expect(events.allSatisfy { $0.attributes.isEmpty })
  }

  @Test func decision27HoldsForAnEventThatWaitsForItsSample() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    fixture.settings.fields[.latitude] = "OS Name"
    fixture.settings.fields[.longitude] = "OS Version"
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("02:00:00", #"{"OS Name":"mine"}"#)
    let state = try fixture.day("02:00:00", after: Fixture.known).rules.state
    #expect(state.held.count == 1)
    try fixture.location("02:00:10", 3, 4)
    let events = try fixture.day("02:00:10", after: state).events
    #expect(events.brief("OS Name", "OS Version") == ["17 02:00:00, OS Name=mine, OS Version=4"])
  }

  @Test func decision27AutomaticIdUnderACoreNameIsNotReplacedLater() throws {
    fixture.settings.fields[.eventName] = "Recipient Id"
    try fixture.named("00:00:00")
    let events = try fixture.day("00:00:00", after: Fixture.known).events
    #expect(events.brief("Recipient Id") == ["17 00:00:00, Recipient Id=E"])
    #expect(events[0].identityIsFixed)
  }

  // MARK: 28

  @Test(arguments: [("02:00:00", 1), ("02:00:15", 1), ("02:00:15.001", 0), ("01:59:59.999", 1)])
  func decision28EventThatASampleCouldStillCompleteWaits(asOf: String, held: Int) throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("02:00:00")
    let (events, rules) = try fixture.day(asOf, after: Fixture.known)
    #expect(events.count == 1 - held)
    #expect(rules.output.counts.heldForSamples == held)
    #expect(rules.output.counts.heldForUserId == 0)
  }

  @Test func decision28RecordAfterTheTimeoutEndsTheWait() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("02:00:00")
    try fixture.lifecycle(.setMobileUserId, "02:00:15.001")
    let (events, rules) = try fixture.day("02:00:00", after: Fixture.known)
    #expect(events.map(\.expired) == [true])
    #expect(rules.output.counts.heldForSamples == 0)
  }

  @Test func waitForTheUserIdIsCountedApart() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.named("00:01:00")
    let counts = try fixture.day("00:01:00").rules.output.counts
    #expect(counts.heldForUserId == 2)
    #expect(counts.heldForSamples == 0)
  }

  // MARK: 30

  /// All people who had such a text were one.
  @Test func anIDOfNobodyIsNoColumn() throws {
    let fixture = Fixture()
    try fixture.add(.identify, at: Fixture.day("00:02:00")) {
      $0.body = try fixture.json(
        ##"{"a":"NULL","b":"7","c":"\\N","d":"00000000-0000-0000-0000-000000000000","e":"undefined","f":" ","g":0}"##)
    }
    let (_, rules) = try fixture.run(asOf: "2026-01-02T00:00:00Z")
    #expect(rules.output.checks.map { $0.ids.map(\.name) } == [["b", "f", "g"]])
  }

  private func identify(_ time: String) throws {
    try fixture.add(.identify, at: Fixture.day(time)) { $0.body = try fixture.json(#"{"customer_id":"c-1"}"#) }
  }

  @Test func decision30EndCarriesTheIdentityOfItsPauseWhateverIsCheckedAfterIt() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try identify("00:01:00")
    try fixture.lifecycle(.background, "00:01:00")
    try identify("00:01:00")
    try fixture.named("00:02:00")
    let first = try fixture.day("00:02:00", after: Fixture.known).rules
    #expect(first.output.moments.isEmpty)
    try identify("00:03:00")
    let second = try fixture.day("02:00:00", after: first.state).rules
    let checks = (first.output.checks + second.output.checks).map(\.emission)
    let end = try #require(second.output.events.first { $0.code == "14" })
    // What a check finds out concerns what comes behind its number: here the first one, and no other.
    let moment = IdentityMoment(device: Array("d-1".utf8), emission: end.emission, asOf: checks[1])
    #expect(second.output.moments == [moment])
    #expect(checks[0] < checks[1] && checks[1] < checks[2])
  }

  @Test func decision30PauseAfterTheCheckHasItsResult() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:01:00")
    try identify("00:02:00")
    try fixture.lifecycle(.background, "00:03:00")
    let rules = try fixture.day("02:00:00", after: Fixture.known).rules
    #expect(rules.output.events.map(\.code) == ["13", "14"])
    #expect(rules.output.moments.isEmpty)
  }

  @Test func decision30EndThatWaitedForTheUserIdHasTheIdentityOfItsRelease() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:01:00")
    try identify("00:02:00")
    try fixture.lifecycle(.setMobileUserId, "02:00:00", id: "u-1")
    let rules = try fixture.day("02:00:00").rules
    #expect(rules.output.events.map(\.code).sorted() == ["12", "13", "14"])
    #expect(rules.output.moments.isEmpty)
  }
}
