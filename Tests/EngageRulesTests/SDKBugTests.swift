import BatchFoundation
import Testing

@testable import EngageRules

/// The bugs of the SDKs that concern the rules, each with its intended behaviour (reference events 8, B numbers).
///
/// B1, B18, B60 and B61 are of input and configuration, B40 of what the configuration makes of the plug-ins, B49 of identity,
/// B50 to B55 of store and delivery.
@Suite struct SDKBugTests {
  private let fixture = Fixture()

  private func events(_ asOf: String = "01:00:00", _ state: DeviceState? = Fixture.known) throws -> [Event] {
    try fixture.day(asOf, after: state).events
  }

  // MARK: - Events

  @Test func b2OpenedNotificationIs49() throws {
    try fixture.add(.notificationOpened, at: Fixture.day("00:00:00")) { $0.body = try fixture.json("{}") }
    #expect(try events().brief() == ["49 00:00:00"])
  }

  @Test func b3AndB4CoreValuesAreThoseOfTheRecord() throws {
    try fixture.add(.namedEvent, at: Fixture.day("00:00:00")) {
      $0.deviceValues[.osName] = "Android"
      $0.deviceValues[.appName] = "Shop"
      $0.deviceValues[.appVersion] = "2.1"
    }
    #expect(
      try events().brief("OS Name", "App Name", "App Version") == [
        "17 00:00:00, OS Name=Android, App Name=Shop, App Version=2.1"
      ])
  }

  @Test func b5CallToActionParameterIsTheCallToAction() throws {
    try fixture.push("00:00:00", #"{"CallToAction":"OPEN"}"#)
    #expect(
      try events()[0].others == ["Call To Action": "OPEN", "Campaign Name": "", "Displayed Message": ""])
  }

  @Test func b6CoreNameInParamsGivesOneEntry() throws {
    try fixture.named("00:00:00", #"{"Device Name":"mine","Campaign Name":"own"}"#)
    let event = try #require(try events().first)
    #expect(event.wireAttributes.filter { $0.name == "Device Name" }.map(\.value) == ["mine"])
    #expect(event.wireAttributes.filter { $0.name == "Campaign Name" }.map(\.value) == ["own"])
  }

  @Test func b7TagsStringIsKept() throws {
    try fixture.named("00:00:00", #"{"Tags":"a,b"}"#)
    #expect(try events()[0]["Tags"] == "a,b")
  }

  @Test func b8TagsHaveNoEmptyElements() throws {
    try fixture.named("00:00:00", #"{"Tags":["","a","",null]}"#)
    #expect(try events()[0]["Tags"] == "a")
  }

  @Test func b9ParametersOfALinkDoNotLeakIntoTheNext() throws {
    fixture.routes = try RouteFile.read(
      Array(
        #"{"routes":{"campaign/:CurrentCampaign":{"handlers":["postSilverpop"]},"other":{"handlers":["x"]}}}"#.utf8),
      name: "routes.json")
    try fixture.link("00:00:00", "app://campaign/Spring")
    try fixture.link("00:00:01", "app://other")
    let (events, rules) = try fixture.day("00:00:01", after: Fixture.known)
    #expect(events.brief("CurrentCampaign") == ["13 00:00:00, CurrentCampaign=Spring", "13 00:00:01"])
    #expect(rules.output.campaignSets.count == 1)
  }

  @Test func b9aEveryLinkIsOneEvent() throws {
    fixture.routes = try RouteFile.read(
      Array(
        #"{"routes":{"a":{"handlers":["engageDefaultHandler","postSilverpop"]}},"defaultRoute":{"handlers":[]}}"#.utf8),
      name: "routes.json")
    for (index, url) in ["app://a", "app://b", "nonsense"].enumerated() { try fixture.link("00:00:0\(index)", url) }
    #expect(try events().brief() == ["13 00:00:00", "13 00:00:01", "13 00:00:02"])
  }

  // MARK: - Campaigns

  @Test(arguments: [
    ("\"CampaignExpiresAt\":\"2026/01/01 00:10:00\"", "2026-01-01T00:10:00.000Z"),
    ("\"CampaignValidFor\":\"5 minutes\"", "2026-01-01T00:05:00.000Z"),
    ("\"CampaignValidFor\":\"5 minutes\",\"CampaignExpiresAt\":\"2026/01/01 00:10:00\"", "2026-01-01T00:10:00.000Z"),
  ])
  func b10ExplicitExpiriesCountAlone(keys: String, expiry: String) throws {
    try fixture.push("00:00:00", "{\"CurrentCampaign\":\"c\",\(keys)}")
    #expect(try fixture.day("00:00:00").rules.state.campaign?.expiresAt.rfc3339 == expiry)
  }

  @Test func b11AndB13CampaignAndItsExpirySurviveTheRun() throws {
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c","CampaignValidFor":"10 minutes"}"#)
    let state = try fixture.day("00:00:00", after: Fixture.known).rules.state
    try fixture.named("00:10:00")
    try fixture.named("00:10:00.001")
    #expect(
      try events("00:10:01", state).brief("Campaign Name") == [
        "17 00:10:00, Campaign Name=c", "17 00:10:00.001, Campaign Name=",
      ])
  }

  @Test func b12SessionStartDoesNotRestartTheCampaign() throws {
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c","CampaignValidFor":"10 minutes"}"#)
    try fixture.lifecycle(.launch, "00:05:00")
    try fixture.named("00:10:00.001")
    #expect(
      try events().brief("Campaign Name") == [
        "48 00:00:00, Campaign Name=c", "13 00:05:00, Campaign Name=c", "17 00:10:00.001, Campaign Name=",
      ])
  }

  @Test func b14CampaignWithoutExpiryHasTheDefaultLife() throws {
    fixture.settings.defaultCampaignLife = Milliseconds(60_000)
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c"}"#)
    #expect(try fixture.day("00:00:00").rules.state.campaign?.expiresAt.rfc3339 == "2026-01-01T00:01:00.000Z")
  }

  @Test func b15UnreadableExpiryGivesTheDefaultAndAWarning() throws {
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c","CampaignValidFor":"soon"}"#)
    let rules = try fixture.day("00:00:00").rules
    #expect(rules.state.campaign?.expiresAt.rfc3339 == "2026-01-02T00:00:00.000Z")
    #expect(rules.output.warnings.map(\.kind) == [.unreadableExpiration])
  }

  @Test func b16EmptyCampaignIsIgnored() throws {
    try fixture.push("00:00:00", #"{"CurrentCampaign":"c"}"#)
    try fixture.push("00:00:01", #"{"CurrentCampaign":""}"#)
    let rules = try fixture.day("00:00:01").rules
    #expect(rules.state.campaign?.name == "c")
    #expect(rules.output.warnings.map(\.kind) == [.emptyCampaign])
  }

  @Test func b17CampaignOfALinkIsStored() throws {
    try fixture.link("00:00:00", "app://h?CurrentCampaign=c")
    #expect(try fixture.day("00:00:00").rules.state.campaign?.name == "c")
  }

  // MARK: - Sessions

  @Test(arguments: [("00:05:00", 1), ("00:05:00.001", 2)])
  func b20ExpiryOfSessionsIsTheConfiguredOne(time: String, starts: Int) throws {
    fixture.settings.sessionTimeout = Milliseconds(300_000)
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:00:00")
    try fixture.lifecycle(.foreground, time)
    #expect(try events(time).filter { $0.code == "13" }.count == starts)
  }

  @Test func b21EndOfASessionWhoseProcessDiedHasThePauseAsItsTime() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.named("00:10:00")
    try fixture.lifecycle(.launch, "00:50:00")
    #expect(
      try events().brief("Session Duration") == [
        "13 00:00:00", "17 00:10:00", "14 00:10:00, Session Duration=600", "13 00:50:00",
      ])
  }

  @Test func b22NoMillisecondIsCountedTwice() throws {
    for (type, time) in [
      (RecordType.launch, "00:00:00"), (.background, "00:01:00"), (.background, "00:02:00"), (.foreground, "00:03:00"),
      (.foreground, "00:04:00"), (.background, "00:05:00"),
    ] { try fixture.lifecycle(type, time) }
    #expect(try events().last?["Session Duration"] == "240")
  }

  @Test func b23RestartedSessionHasItsOwnEnd() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:01:00")
    let state = try fixture.day("00:01:00", after: Fixture.known).rules.state
    try fixture.lifecycle(.foreground, "00:40:00")
    try fixture.lifecycle(.background, "00:41:00")
    let second = try fixture.day("00:41:00", after: state)
    #expect(second.events.brief() == ["14 00:01:00", "13 00:40:00"])
    #expect(
      try events("02:00:00", second.rules.state).brief("Session Duration") == ["14 00:41:00, Session Duration=60"])
  }

  @Test func b24EndCarriesItsDurationInWholeSeconds() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:00:01.600")
    try fixture.lifecycle(.foreground, "00:00:02")
    try fixture.lifecycle(.background, "00:00:03.500")
    #expect(try events().last?["Session Duration"] == "3")
  }

  @Test func b25UseKeepsASessionOpen() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.named("05:00:00")
    #expect(try events("23:00:00").brief() == ["13 00:00:00", "17 05:00:00"])
  }

  @Test func b26EndHasTheTimeOfThePause() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.terminate, "00:01:00")
    try fixture.lifecycle(.launch, "20:00:00")
    #expect(try events("20:00:00").brief() == ["13 00:00:00", "14 00:01:00", "13 20:00:00"])
  }

  @Test func b27InstalledIsNotLostWhileTheIdIsUnknown() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    let state = try fixture.day("00:00:00").rules.state
    try fixture.lifecycle(.launch, "10:00:00", id: "u-1")
    #expect(try events("10:00:00", state).filter { $0.code == "12" }.brief() == ["12 10:00:00"])
  }

  @Test func b28EmptyIdReleasesNothing() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.setMobileUserId, "00:01:00")
    let (events, rules) = try fixture.day("00:01:00")
    #expect(events.isEmpty)
    #expect(rules.state.heldSessionEvents.count == 2)
  }

  @Test func b29ColdStartByLinkIsOneStart() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.link("00:00:00", "app://h?a=1")
    #expect(try events().brief("a") == ["13 00:00:00, a=1"])
  }

  // MARK: - Augmentation

  @Test func b41TimedOutEventGoesOutOnce() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.named("00:00:00")
    try fixture.location("00:30:00", 1, 2)
    let first = try fixture.day("00:30:00", after: Fixture.known)
    #expect(first.events.map(\.expired) == [true])
    #expect(try events("02:00:00", first.rules.state).isEmpty)
  }

  @Test func b42CallersLocationWins() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("00:00:00", #"{"Latitude":""}"#)
    #expect(try events().brief("Latitude", "Longitude") == ["17 00:00:00, Latitude=, Longitude=2"])
  }

  @Test func b43WithoutPlugInsEventsAreReadyAtOnce() throws {
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("00:00:00")
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(events.map(\.expired) == [false])
    #expect(rules.state.held.isEmpty)
  }

  @Test func b44AndB46HeldEventsOutliveTheRun() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("02:00:00")
    let first = try fixture.day("02:00:00", after: Fixture.known)
    #expect(first.events.isEmpty)
    #expect(try events("04:00:00", first.rules.state).map(\.expired) == [true])
  }

  @Test func b45EveryEventHasItsOwnTime() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.named("00:00:00")
    try fixture.named("00:00:20")
    try fixture.location("00:00:30", 1, 2)
    #expect(try events().map(\.expired) == [true, false])
  }

  @Test func b47HeldEventGetsTheLocationOfItsOwnTime() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("02:00:00")
    let state = try fixture.day("02:00:00", after: Fixture.known).rules.state
    try fixture.location("02:00:05", 3, 4)
    try fixture.location("03:00:00", 5, 6)
    #expect(try events("03:00:00", state).brief("Latitude") == ["17 02:00:00, Latitude=3"])
  }

  @Test func b48LifeOfAPlacemarkIsTheLifespan() throws {
    fixture.settings.augmentation.plugins = [PlacemarkPlugin.name]
    fixture.settings.augmentation.timeout = Milliseconds(1000)
    try fixture.placemark("00:00:00", name: "Home")
    try fixture.named("00:59:00")
    #expect(try events().brief("Location Name") == ["17 00:59:00, Location Name=Home"])
  }
}
