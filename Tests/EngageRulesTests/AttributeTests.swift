import BatchFoundation
import Testing

@testable import EngageRules

/// Values of events: caller, automatic, core (reference events 1.3 to 1.7, decisions 3, 10, 11, 13, 19).
@Suite struct AttributeTests {
  private func event(_ params: String) throws -> Event {
    let fixture = Fixture()
    try fixture.named("00:00:00", params)
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    // The texts live in the fixture, which ends here.
    arenas.append(fixture)
    #expect(rules.output.events.count == 1)
    return events[0]
  }

  private final class Kept {
    var fixtures: [Fixture] = []
    func append(_ fixture: Fixture) { fixtures.append(fixture) }
  }

  private let arenas = Kept()

  @Test func missingDeviceValuesHaveTheirPlaceholders() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00")
    let events = try fixture.day("00:00:00").events
    #expect(
      events[0].wireAttributes.prefix(10).map { "\($0.name)=\($0.value)" } == [
        "Device Name=unknown", "Device Version=unknown", "OS Name=unknown", "OS Version=unknown",
        "App Name=__UNKNOWN__", "App Version=__UNKNOWN__", "Device Id=d-1", "Primary User Id=", "Anonymous Id=",
        "Recipient Id=",
      ])
  }

  @Test func lastKnownDeviceValueHoldsForLaterRecords() throws {
    let fixture = Fixture()
    try fixture.add(.location, at: Fixture.day("00:00:00")) {
      $0.deviceValues[.appName] = "App"
      $0.anonymousId = "a-1"
    }
    try fixture.named("00:01:00")
    let state = try fixture.day("00:01:00", after: Fixture.known).rules.state
    try fixture.named("00:02:00")
    let events = try fixture.day("00:02:00", after: state).events
    #expect(events.brief("App Name", "Anonymous Id") == ["17 00:02:00, App Name=App, Anonymous Id=a-1"])
  }

  @Test func callersCoreNameReplacesTheOneEntry() throws {
    let event = try event(#"{"Device Id":"mine","App Name":"","OS Name":null,"Primary User Id":7}"#)
    #expect(event.attributes.count == 2)
    #expect(event["Device Id"] == "mine")
    #expect(event["App Name"] == "")
    #expect(event["OS Name"] == "")
    #expect(event["Primary User Id"] == "7")
    #expect(event.identityIsFixed)
  }

  @Test func otherAttributesAreInTheOrderOfTheirBytes() throws {
    let event = try event(#"{"é":1,"e\u0301":2,"z":3,"A":4,"":5,"\uFFEE":6,"😀":7}"#)
    #expect(
      event.attributes.map(\.value.description) == ["5", "4", "", "E", "2", "3", "1", "6", "7"])
  }

  @Test func canonicallyEqualNamesAreTwoNames() throws {
    #expect(try event(#"{"é":1,"e\u0301":2}"#).attributes.count == 4)
  }

  @Test func nestedValuesAreDroppedWithAWarning() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00", #"{"a":[1],"b":{"c":1},"d":true}"#)
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(events[0].others == ["Campaign Name": "", "Event Name": "E", "d": "true"])
    #expect(rules.output.warnings.map(\.kind) == [.nestedAttribute, .nestedAttribute])
  }

  @Test(arguments: [
    (#"["a","",null,"b",["n"],{"o":1},true,1.0,7]"#, "a,b,true,1,7"), (#""a,b""#, "a,b"), ("[]", ""), ("5", "5"),
    (#"["a,b","c"]"#, "a,b,c"), ("null", ""),
  ])
  func joinsTags(tags: String, text: String) throws { #expect(try event(#"{"Tags":\#(tags)}"#)["Tags"] == text) }

  @Test func tagsHaveTheConfiguredName() throws {
    let fixture = Fixture()
    fixture.settings.fields[.tags] = "Labels"
    try fixture.named("00:00:00", #"{"Tags":["a"],"Labels":["b","c"]}"#)
    try fixture.push("00:00:01", #"{"Labels":["p"],"Tags":["q"]}"#)
    let events = try fixture.day("00:00:01", after: Fixture.known).events
    #expect(events.brief("Tags", "Labels") == ["17 00:00:00, Labels=b,c", "48 00:00:01, Labels=p"])
  }

  @Test func tagsThatAreAnObjectAreDropped() throws {
    let fixture = Fixture()
    try fixture.push("00:00:00", #"{"Tags":["p"]}"#, #"{"Tags":{"a":1}}"#)
    try fixture.push("00:00:01", #"{"Tags":{"a":1}}"#)
    #expect(
      try fixture.day("00:00:01", after: Fixture.known).events.brief("Tags") == ["48 00:00:00, Tags=p", "48 00:00:01"])
  }

  @Test func anOpenedLocalNotificationSetsACampaignAndAReceivedOneDoesNot() throws {
    let fixture = Fixture()
    for type in [RecordType.localNotification, .localNotificationOpened] {
      try fixture.add(type, at: Fixture.day("00:00:00")) {
        $0.body = try fixture.json(#"{"alertAction":"go","alertBody":"hi","CurrentCampaign":"c"}"#)
      }
    }
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(events.map(\.code) == ["48", "49"])
    #expect(events[0].others == ["Call To Action": "go", "Displayed Message": "hi", "Campaign Name": ""])
    #expect(events[1].others == ["Call To Action": "go", "Displayed Message": "hi", "Campaign Name": "c"])
    #expect(rules.state.campaign?.name == "c")
  }

  @Test func customEventsHaveCoreAttributesOnly() throws {
    let fixture = Fixture()
    try fixture.add(.custom, at: Fixture.day("00:00:00")) { $0.subject = "89" }
    #expect(try fixture.day("00:00:00", after: Fixture.known).events[0].attributes.isEmpty)
  }

  // MARK: - Raw events

  @Test func rawEventPassesThroughNormalised() throws {
    let fixture = Fixture()
    try fixture.raw(
      "00:00:00", "17",
      #"[{"name":"z","value":1.50},{"name":"App Name","value":""},{"name":"z","value":true},{"name":"n"},{"name":"x","value":[]}]"#
    )
    let (events, rules) = try fixture.day("00:00:00", after: Fixture.known)
    #expect(events[0].others == ["z": "true", "n": ""])
    #expect(
      events.brief("App Name", "App Version", "Primary User Id", "OS Name", "Device Id") == [
        "17 00:00:00, App Name=, App Version=__UNKNOWN__, Primary User Id=, OS Name=unknown, Device Id=d-1"
      ])
    #expect(events[0].identityIsFixed)
    #expect(rules.output.warnings.map(\.kind) == [.nestedAttribute])
  }

  @Test func rawEventChangesNoState() throws {
    let fixture = Fixture()
    try fixture.raw(
      "00:00:00", "13", #"[{"name":"CurrentCampaign","value":"c"},{"name":"Primary User Id","value":"u-1"}]"#)
    let (events, rules) = try fixture.day("00:00:00")
    #expect(events.map(\.code) == ["13"])
    #expect(rules.state.campaign == nil)
    #expect(rules.state.core[.primaryUserId].isEmpty)
    #expect(rules.output.counts == RuleCounts())
    #expect(rules.output.sessionStarts.isEmpty && rules.output.campaignSets.isEmpty)
    #expect(rules.state.lastSeen?.rfc3339 == "2026-01-01T00:00:00.000Z")
  }

  @Test func rawEventEndsAPausedSessionThatIsOver() throws {
    let fixture = Fixture()
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:01:00")
    try fixture.raw("00:31:00.001", "17", "[]")
    #expect(
      try fixture.day("00:00:00", after: Fixture.known).events.brief() == [
        "13 00:00:00", "14 00:01:00", "17 00:31:00.001",
      ])
  }
}
