import BatchFoundation
import Testing

@testable import EngageRules

/// Samples around events (reference events 5, decisions 20).
@Suite struct AugmentationTests {
  private let fixture = Fixture()

  init() {
    fixture.settings.augmentation.plugins = [
      CoordinatesPlugin(), PlacemarkPlugin.address(isSynchronous: true), PlacemarkPlugin.name,
    ]
  }

  private static let names = ["Latitude", "Longitude", "Location Address", "Location Name"]

  private func run(_ asOf: String, after earlier: DeviceState = Fixture.known) throws -> [String] {
    try fixture.day(asOf, after: earlier).events.map { $0.brief(Self.names) + ($0.expired ? ", EXPIRED" : "") }
  }

  @Test func latestSampleUpToTheEventCounts() throws {
    try fixture.location("00:00:00", 1, 2)
    try fixture.location("00:01:00", 3, 4)
    try fixture.named("00:01:00")
    try fixture.location("00:01:00", 5, 6)
    try fixture.location("00:01:01", 7, 8)
    #expect(try run("00:02:00") == ["17 00:01:00, Latitude=5, Longitude=6"])
  }

  @Test(arguments: [("01:00:00", "17 01:00:00, Latitude=1, Longitude=2"), ("01:00:00.001", "17 01:00:00.001, EXPIRED")])
  func sampleIsGoodForTheLifespan(time: String, event: String) throws {
    try fixture.location("00:00:00", 1, 2)
    try fixture.named(time)
    #expect(try run("02:00:00") == [event])
  }

  @Test(arguments: [("00:00:15", "17 00:00:00, Latitude=1, Longitude=2"), ("00:00:15.001", "17 00:00:00, EXPIRED")])
  func firstSampleWithinTheTimeoutCounts(time: String, event: String) throws {
    try fixture.named("00:00:00")
    try fixture.location(time, 1, 2)
    try fixture.location("00:00:16", 3, 4)
    #expect(try run("02:00:00") == [event])
  }

  @Test func deviceWithoutSamplesIsNotHeldBack() throws {
    try fixture.named("00:00:00")
    #expect(try run("00:00:00") == ["17 00:00:00"])
    try fixture.placemark("00:00:00", name: "Home", city: "Atlanta")
    try fixture.named("00:00:00")
    #expect(try run("00:00:00") == ["17 00:00:00, Location Address=Atlanta, Location Name=Home"])
  }

  @Test func placemarkWithoutTextIsDoneAndAddsNothing() throws {
    try fixture.placemark("00:00:00")
    try fixture.named("00:00:00")
    #expect(try run("00:00:00") == ["17 00:00:00"])
  }

  @Test func synchronousPlugInHoldsUpThoseThatFollow() throws {
    try fixture.placemark("00:00:00", name: "Home", city: "Atlanta")
    try fixture.named("00:00:00")
    try fixture.location("00:01:00", 1, 2)
    #expect(try run("01:00:00") == ["17 00:00:00, EXPIRED"])
  }

  @Test func asynchronousPlugInIsPassedOver() throws {
    fixture.settings.augmentation.plugins = [
      PlacemarkPlugin.name, CoordinatesPlugin(), PlacemarkPlugin.address(isSynchronous: false),
    ]
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("00:00:00")
    try fixture.placemark("00:00:10", name: "Home", city: "Atlanta")
    #expect(
      try run("01:00:00") == [
        "17 00:00:00, Latitude=1, Longitude=2, Location Address=Atlanta, Location Name=Home"
      ])
  }

  @Test func plugInThatIsNeverReadyLeavesWhatOthersDid() throws {
    fixture.settings.augmentation.plugins = [PlacemarkPlugin.name, CoordinatesPlugin()]
    try fixture.placemark("00:00:00", name: "Home")
    try fixture.location("03:00:00", 1, 2)
    try fixture.named("03:00:00")
    #expect(try run("04:00:00") == ["17 03:00:00, Latitude=1, Longitude=2, EXPIRED"])
  }

  @Test func endOfASessionIsAugmentedAtItsOwnTime() throws {
    try fixture.lifecycle(.launch, "00:00:00")
    try fixture.location("00:00:30", 1, 2)
    try fixture.lifecycle(.background, "00:01:00")
    try fixture.location("00:50:00", 3, 4)
    #expect(
      try run("00:50:00") == ["13 00:00:00, EXPIRED", "14 00:01:00, Latitude=1, Longitude=2"])
  }

  @Test func rawEventsAreLeftAlone() throws {
    try fixture.location("00:00:00", 1, 2)
    try fixture.raw("00:00:00", "17", "[]")
    #expect(try run("00:00:00") == ["17 00:00:00"])
  }

  // MARK: - Across runs

  @Test func eventWhoseSampleMayStillComeWaitsForTheNextRun() throws {
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("02:00:00")
    let first = try fixture.day("02:00:00", after: Fixture.known)
    #expect(first.events.isEmpty)
    #expect(first.rules.state.dueAt?.rfc3339 == "2026-01-01T02:00:15.000Z")
    try fixture.location("02:00:10", 3, 4)
    try fixture.named("02:00:11")
    #expect(
      try run("02:00:11", after: first.rules.state) == [
        "17 02:00:00, Latitude=3, Longitude=4", "17 02:00:11, Latitude=3, Longitude=4",
      ])
  }

  @Test func heldEventExpiresWhenItsTimeIsUp() throws {
    try fixture.location("00:00:00", 1, 2)
    try fixture.named("02:00:00")
    let state = try fixture.day("02:00:00", after: Fixture.known).rules.state
    #expect(try run("02:00:15", after: state).isEmpty)
    #expect(try run("02:00:15.001", after: state) == ["17 02:00:00, EXPIRED"])
  }

  @Test func samplesAreKeptBetweenRunsAsLongAsAnEventMayAskForThem() throws {
    try fixture.location("00:00:00", 1, 2)
    try fixture.location("00:10:00", 3, 4)
    try fixture.lifecycle(.launch, "00:10:30")
    try fixture.lifecycle(.background, "00:11:00")
    try fixture.location("00:20:00", 5, 6)
    let first = try fixture.day("00:20:00", after: Fixture.known).rules
    #expect(first.state.samples.coordinates.map(\.latitude) == [3, 5])
    try fixture.named("00:50:00")
    #expect(
      try run("00:50:00", after: first.state) == [
        "14 00:11:00, Latitude=3, Longitude=4", "17 00:50:00, Latitude=5, Longitude=6",
      ])
  }

  @Test func lastKnownLocationIsReportedPerPlacemark() throws {
    try fixture.placemark("00:00:00", name: "Home", city: "Atlanta")
    try fixture.placemark("00:01:00")
    let rules = try fixture.day("00:01:00", after: Fixture.known).rules
    #expect(rules.output.locations.map(\.address) == ["Atlanta", ""])
  }

  @Test func noLastKnownLocationWhenLocationIsDisabled() throws {
    fixture.settings.reportsLastLocation = false
    try fixture.placemark("00:00:00", name: "Home", city: "Atlanta")
    #expect(try fixture.day("00:01:00", after: Fixture.known).rules.output.locations.isEmpty)
  }

  // MARK: - Tables

  private static let weather = table("Location Name", "Home", "Weather", "rain")
  private static let clothes = table("Weather", "rain", "Clothes", "coat")

  /// A table of one row.
  private static func table(_ key: String, _ value: String, _ attribute: String, _ text: String) -> LookupTablePlugin {
    var rows = KeyedRows(columns: 1)
    _ = rows.insert(value, [text])
    return LookupTablePlugin(key: key, attributes: [attribute], rows: rows)
  }

  @Test(arguments: ["00:00:00", "00:00:10"])
  func tableBehindAnAsynchronousPlugInFindsAPlaceThatComesLater(place: String) throws {
    fixture.settings.augmentation.plugins = [PlacemarkPlugin.name, Self.weather, Self.clothes]
    try fixture.named("00:00:00")
    try fixture.placemark(place, name: "Home")
    let events = try fixture.day("01:00:00", after: Fixture.known).events
    #expect(
      events.brief("Location Name", "Weather", "Clothes") == [
        "17 00:00:00, Location Name=Home, Weather=rain, Clothes=coat"
      ])
    #expect(events.map(\.expired) == [false])
  }

  @Test func tableWhoseKeyNeverComesHoldsNothingUp() throws {
    fixture.settings.augmentation.plugins = [PlacemarkPlugin.name, Self.clothes, Self.weather]
    try fixture.named("00:00:00")
    try fixture.placemark("02:00:00", name: "Home")
    try fixture.named("02:00:00", #"{"Location Name":"Home"}"#)
    let events = try fixture.day("03:00:00", after: Fixture.known).events
    #expect(events.brief("Weather", "Clothes") == ["17 00:00:00", "17 02:00:00, Weather=rain"])
    #expect(events.map(\.expired) == [true, false])
  }

  @Test(arguments: [
    (12.000_000_000_05, "12.0000000001"), (-12.000_000_000_05, "-12.0000000001"), (12.000_000_000_04, "12"),
    (5e-11, "0.0000000001"), (-4e-11, "0"), (-0.0, "0"), (0.999_999_999_99, "1"), (1e15, "1000000000000000"),
    (500.123_456_789_012, "500.123456789"), (99.999_999_999_96, "100"),
    (1e300, "1" + String(repeating: "0", count: 300)),
  ])
  func writesCoordinates(value: Double, text: String) { #expect(CoordinateText.text(value) == text) }
}
