import BatchFoundation
import Testing

@testable import EngageRules

/// Sessions without lifecycle records (reference decisions 4 and 12).
@Suite struct GapModeTests {
  private func identified() -> DeviceState {
    var state = DeviceState(device: "d-1")
    state.core[.primaryUserId] = "u-1"
    return state
  }

  @Test func firstEventStartsASessionAndAGapEndsItAtTheLastOne() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00")
    try fixture.named("00:20:00.900")
    try fixture.named("01:00:00")
    let (events, rules) = try fixture.day("01:00:00", after: identified())
    #expect(
      events.brief("Session Duration") == [
        "13 00:00:00", "17 00:00:00", "17 00:20:00.900", "14 00:20:00.900, Session Duration=1200", "13 01:00:00",
        "17 01:00:00",
      ])
    #expect(rules.output.sessionStarts.count == 2)
    #expect(rules.output.sessionEnds.count == 1)
  }

  @Test func gapOfExactlyTheExpiryContinuesTheSession() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00")
    try fixture.named("00:30:00")
    #expect(
      try fixture.day("01:00:00", after: identified()).events.brief() == ["13 00:00:00", "17 00:00:00", "17 00:30:00"])
  }

  @Test func asOfEndsAGapSession() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00")
    let state = try fixture.day("00:30:00", after: identified()).rules.state
    let (events, _) = try fixture.day("00:30:00.001", after: state)
    #expect(events.brief("Session Duration") == ["14 00:00:00, Session Duration=0"])
  }

  @Test func onlyRecordsThatBecomeEventsCount() throws {
    let fixture = Fixture()
    try fixture.location("00:00:00", 1, 2)
    try fixture.add(.identify, at: Fixture.day("00:01:00"))
    try fixture.raw("00:02:00", "17", "[]")
    try fixture.lifecycle(.setMobileUserId, "00:03:00", id: "u-1")
    try fixture.push("00:10:00", "{}")
    try fixture.location("00:39:00", 1, 2)
    try fixture.push("00:41:00", "{}")
    fixture.settings.augmentation.plugins = []
    let events = try fixture.day("00:41:00").events
    #expect(
      events.brief() == ["17 00:02:00", "13 00:10:00", "48 00:10:00", "14 00:10:00", "13 00:41:00", "48 00:41:00"])
  }

  @Test func startCarriesTheCampaignAsItWasBeforeItsFirstEvent() throws {
    let fixture = Fixture()
    try fixture.push("00:00:00", #"{"CurrentCampaign":"new"}"#)
    try fixture.push("01:00:00", #"{"CurrentCampaign":"newer"}"#)
    let events = try fixture.day("01:00:00", after: identified()).events
    #expect(
      events.brief("Campaign Name") == [
        "13 00:00:00, Campaign Name=", "48 00:00:00, Campaign Name=new", "14 00:00:00, Campaign Name=new",
        "13 01:00:00, Campaign Name=new", "48 01:00:00, Campaign Name=newer",
      ])
  }

  @Test(arguments: [RecordType.launch, .foreground])
  func lifecycleResumesTheOpenGapSession(type: RecordType) throws {
    let fixture = Fixture()
    var state = identified()
    state.installed = true
    try fixture.named("00:00:00")
    try fixture.named("00:10:00")
    try fixture.lifecycle(type, "00:20:00")
    try fixture.lifecycle(.background, "00:25:00")
    let (events, rules) = try fixture.day("01:00:00", after: state)
    #expect(
      events.brief("Session Duration") == [
        "13 00:00:00", "17 00:00:00", "17 00:10:00", "14 00:25:00, Session Duration=900",
      ])
    #expect(rules.state.hasLifecycle)
  }

  @Test func backgroundReplacesThePauseOfTheGapSession() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00")
    try fixture.lifecycle(.background, "00:20:00")
    try fixture.named("00:25:00")
    let events = try fixture.day("01:00:00", after: identified()).events
    #expect(
      events.brief("Session Duration") == [
        "13 00:00:00", "17 00:00:00", "14 00:20:00, Session Duration=1200", "17 00:25:00",
      ])
  }

  @Test func neverEmitsInstalled() throws {
    let fixture = Fixture()
    try fixture.named("00:00:00", id: "u-1")
    #expect(try fixture.day("00:00:00").events.brief() == ["13 00:00:00", "17 00:00:00"])
  }
}
