import BatchFoundation
import Testing

@testable import EngageRules

/// What `run --explain` says of a device.
@Suite struct ExplanationTests {
  private let fixture = Fixture()

  private func steps(_ asOf: String) throws -> [ExplanationStep] {
    let explanation = Explanation()
    try fixture.run(asOf: Fixture.day(asOf), state: Fixture.known, explanation: explanation)
    return explanation.steps
  }

  @Test func startThatALinkOfTheSameInstantReplacedIsNotListed() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.link("00:00:00", "app://h?a=1")
    let steps = try steps("00:00:00")
    #expect(
      steps.map(\.events) == [
        [], [#"13 at 2026-01-01T00:00:00.000Z [Campaign Name="", a="1"]"#], [],
      ])
    #expect(steps[0].notes.last == "the start event is replaced by the event for a link at the same instant")
  }

  @Test("Sessions and links are told in words: the setting that ended a session, the route by its key")
  func words() throws {
    fixture.routes = try RouteFile.read(
      Array(#"{"routes": {"shop/:id": {"handlers": ["postSilverpop"]}, "home": {"handlers": []}}}"#.utf8),
      name: "routes")
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:01:00")
    try fixture.link("02:00:00", "app://shop/7/more")
    try fixture.link("02:01:00", "app://home?a=1")
    try fixture.link("02:02:00", "app://elsewhere")
    try fixture.lifecycle(.launch, "02:03:00")
    let notes = try steps("02:04:00").map(\.notes)
    #expect(
      notes[2].prefix(2) == [
        "session ended as of its pause at 2026-01-01T00:01:00.000Z, because the app was not used again by "
          + "2026-01-01T00:31:00.000Z (Session.sessionLifecycleExpiration)",
        "the link matches route 'shop/:id', number 1 of the file, after the link's last part was removed; the link carries 1 parameter",
      ])
    #expect(notes[3] == ["the link matches route 'home', number 2 of the file; the link carries 1 parameter"])
    #expect(notes[4] == ["no route matches the link; the link carries 0 parameters"])
    #expect(
      notes[5].first
        == "launched without a preceding 'background' or 'terminate' record, so the app is assumed to have stopped at its last record"
    )
  }

  @Test func secondPauseSaysThatItTakesThePlaceOfTheFirst() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.lifecycle(.background, "00:01:00")
    try fixture.lifecycle(.terminate, "00:02:00")
    #expect(
      try steps("00:03:00").map(\.notes)[1...2] == [
        ["paused; the session ends after 2026-01-01T00:31:00.000Z (Session.sessionLifecycleExpiration)"],
        [
          "this pause replaces the previous one; the session ends after 2026-01-01T00:32:00.000Z "
            + "(Session.sessionLifecycleExpiration)"
        ],
      ])
  }

  @Test func locationsSayWhichEventsTheyAreFor() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:01:00", 1, 2)
    #expect(
      try steps("00:01:00")[0].notes == [
        "a sample for events from 2026-01-01T00:00:45.000Z (Augmentation.augmentationTimeout) to "
          + "2026-01-01T01:01:00.000Z (LocationServices.locationCacheLifespan), unless another sample takes precedence"
      ])
  }

  @Test func locationsThatNobodyAsksForSaySo() throws {
    fixture.settings.reportsLastLocation = false
    try fixture.placemark("00:01:00", name: "Home")
    let (unused, unreported) = (
      "a sample that no plug-in uses (LocationServices.enabled, Augmentation.augmentationPluginClasses)",
      "not written as the recipient's last known location (LocationServices.enabled = false)"
    )
    #expect(try steps("00:01:00")[0].notes == [unused, unreported])
  }
}
