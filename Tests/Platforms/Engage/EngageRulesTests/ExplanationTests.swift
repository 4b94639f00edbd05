import BatchFoundation
import EngageEvents
import Testing

@testable import EngageRules

/// What `run --explain` says of a device.
@Suite struct ExplanationTests {
  private let fixture = Fixture()

  private func steps(_ asOf: String) throws -> [Explanation.Step] {
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
    #expect(steps[0].notes.last == "its start event is replaced by the one of a later link of the same instant")
  }

  @Test func locationsSayWhichEventsTheyAreFor() throws {
    fixture.settings.augmentation.plugins = [CoordinatesPlugin()]
    try fixture.location("00:01:00", 1, 2)
    #expect(
      try steps("00:01:00")[0].notes == [
        "a sample for events from 2026-01-01T00:00:45.000Z (Augmentation.augmentationTimeout) to "
          + "2026-01-01T01:01:00.000Z (LocationServices.locationCacheLifespan), unless another is nearer"
      ])
  }

  @Test func locationsThatNobodyAsksForSaySo() throws {
    fixture.settings.reportsLastLocation = false
    try fixture.placemark("00:01:00", name: "Home")
    let (unused, unreported) = (
      "a sample that no plug-in asks for (LocationServices.enabled, Augmentation.augmentationPluginClasses)",
      "not the last known location of the recipient (LocationServices.enabled = false)"
    )
    #expect(try steps("00:01:00")[0].notes == [unused, unreported])
  }
}
