import BatchFoundation
import Testing

@testable import EngageRules

/// One export cut into runs gives the events of one run, and devices do not touch each other.
@Suite struct SplitRunPropertyTests {
  struct Style: CustomTestStringConvertible, Sendable {
    var name: String
    var types: [RecordType]
    var testDescription: String { name }
  }

  static let styles = [
    Style(
      name: "lifecycle",
      types: [.launch, .foreground, .foreground, .background, .background, .terminate, .namedEvent, .deepLink]),
    Style(name: "gap", types: [.namedEvent, .goalCompleted, .custom, .deepLink, .pushReceived, .identify, .rawEvent]),
    Style(
      name: "campaigns", types: [.pushReceived, .notificationOpened, .deepLink, .namedEvent, .launch, .background]),
    Style(name: "places", types: [.location, .placemark, .namedEvent, .namedEvent, .launch, .background, .deepLink]),
  ]

  @Test(arguments: styles, 0..<60 as Range<UInt64>)
  func cutsAtAnyBoundaryChangeNothing(style: Style, seed: UInt64) throws {
    let fixture = Fixture()
    fixture.settings.sessionTimeout = Milliseconds(300_000)
    fixture.settings.generatesMobileUserIds = seed % 5 == 0
    fixture.settings.augmentation.sampleLife = Milliseconds(60_000)
    if seed % 2 == 0 {
      fixture.settings.augmentation.plugins = [
        CoordinatesPlugin(), PlacemarkPlugin.address(isSynchronous: seed % 4 == 0), PlacemarkPlugin.name,
      ]
    }
    var numbers = SplitMix64(seed: seed)
    let records = try records(style.types, fixture, &numbers)
    let end = (records.last?.timestamp ?? .last) + Milliseconds(600_000)
    let whole = run([records], end, fixture, &numbers)
    for cuts in [2, 3, records.count] {
      var pieces: [[Record]] = [[]]
      for (index, record) in records.enumerated() {
        let isBoundary = index > 0 && record.timestamp != records[index - 1].timestamp
        if isBoundary, Int.random(in: 0..<records.count, using: &numbers) < cuts { pieces.append([]) }
        pieces[pieces.count - 1].append(record)
      }
      #expect(run(pieces, end, fixture, &numbers) == whole, "\(pieces.map(\.count))")
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func devicesDoNotTouchEachOther(seed: UInt64) throws {
    let fixture = Fixture()
    var numbers = SplitMix64(seed: seed)
    var rules = DeviceRules(
      settings: fixture.settings, links: DeepLinkRouter(routes: nil), knownUntil: .last, arena: fixture.arena)
    var apart: [String] = []
    for device in ["a", "b", "c"] as [Text] {
      var records = try records(Self.styles[Int(seed) % 4].types, fixture, &numbers)
      for index in records.indices { records[index].device = device }
      var alone = DeviceRules(
        settings: fixture.settings, links: DeepLinkRouter(routes: nil), knownUntil: .last, arena: fixture.arena)
      for step in [0, 1] {
        if step == 0 { process(records, device, nil, &rules) } else { process(records, device, nil, &alone) }
      }
      apart += alone.output.events.map(\.whole)
    }
    #expect(rules.output.events.map(\.whole) == apart)
  }

  private func process(_ records: [Record], _ device: Text, _ earlier: DeviceState?, _ rules: inout DeviceRules) {
    rules.begin(earlier ?? DeviceState(device: device))
    for record in records { rules.announce(record) }
    for record in records { rules.process(record) }
    rules.finish()
    rules.end()
  }

  /// Each run ends at the instant of its last record, the last one at `end`; returns events and figures.
  private func run(
    _ pieces: [[Record]], _ end: Instant, _ fixture: Fixture, _ numbers: inout SplitMix64
  ) -> [String] {
    var state: DeviceState?
    var events: [Event] = []
    var (starts, ends, sets, expiries) = (0, 0, 0, 0)
    for (index, piece) in pieces.enumerated() {
      let asOf = index == pieces.count - 1 ? end : piece.last?.timestamp ?? end
      var rules = DeviceRules(
        settings: fixture.settings, links: DeepLinkRouter(routes: nil), knownUntil: asOf, arena: fixture.arena)
      process(piece, "d-1", state, &rules)
      state = try? fixture.reloaded(rules.state)
      events += rules.output.events
      starts += rules.output.sessionStarts.count
      ends += rules.output.sessionEnds.count
      sets += rules.output.campaignSets.count
      expiries += rules.output.campaignExpiries.count
    }
    return events.sorted(by: Event.precedes).map(\.whole) + ["\(starts) \(ends) \(sets) \(expiries)"]
  }

  private func records(
    _ types: [RecordType], _ fixture: Fixture, _ numbers: inout SplitMix64
  ) throws -> [Record] {
    var records: [Record] = []
    var time = Instant(milliseconds: 1_767_225_600_000)
    // The device is known to record places from the start: one that never did is not held back.
    for type in [.location, .placemark] + (0..<40).map({ _ in types.randomElement(using: &numbers) ?? .custom }) {
      let steps: [Int64] = [0, 1, 999, 5_000, 14_999, 15_000, 15_001, 60_000, 299_999, 300_000, 300_001, 900_000]
      time = time + Milliseconds(steps.randomElement(using: &numbers) ?? 0)
      let isSample = type == .location || type == .placemark
      // Of samples of one instant the last counts, for the events of the run that is cut behind the first one too.
      if isSample, records.last?.timestamp == time { time = time + Milliseconds(1) }
      var record = Record(
        device: "d-1", timestamp: time, type: type, kind: .events,
        position: RecordPosition(file: 0, line: UInt64(records.count + 1)))
      try fill(&record, fixture, &numbers)
      records.append(record)
    }
    return records
  }

  private func fill(_ record: inout Record, _ fixture: Fixture, _ numbers: inout SplitMix64) throws {
    if Int.random(in: 0..<8, using: &numbers) == 0 {
      record.deviceValues[.appVersion] = ["1", "2"].randomElement(using: &numbers)
    }
    if Int.random(in: 0..<10, using: &numbers) == 0 {
      record.mobileUserId = ["u-1", "u-2"].randomElement(using: &numbers)
    }
    let campaign = ["a", "b", ""].randomElement(using: &numbers) ?? ""
    let life = ["1m", "5 min", "1h", "bad", "2026/01/01 00:30:00"].randomElement(using: &numbers) ?? ""
    switch record.type {
    case .namedEvent, .goalCompleted, .custom: record.subject = "E"
    case .rawEvent:
      record.subject = "17"
      record.body = try fixture.json(#"[{"name":"n","value":1}]"#)
    case .identify: record.body = try fixture.json("{}")
    case .pushReceived, .notificationOpened:
      record.body = try fixture.json(#"{"CurrentCampaign":"\#(campaign)","CampaignValidFor":"\#(life)"}"#)
    case .deepLink:
      let query = Bool.random(using: &numbers) ? "?a=1&CurrentCampaign=\(campaign)" : ""
      record.subject = fixture.arena.text("app://h\(query)")
    case .location: record.coordinates = (.random(in: -90...90, using: &numbers), 7)
    case .placemark:
      var placemark = Placemark()
      placemark.city = ["Atlanta", "Rome"].randomElement(using: &numbers)
      placemark.name = ["Home", "Work"].randomElement(using: &numbers)
      record.placemark = placemark
    default: break
    }
  }
}
