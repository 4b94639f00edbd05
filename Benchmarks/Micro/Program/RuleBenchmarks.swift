import BatchConfiguration
import BatchFoundation
import BatchIngest
import Engage
import EngageRules

/// The records of some devices, kept as a partition keeps them, and what they are decided with.
final class DecidedDevices {
  let recordCount: Int
  private var devices: [RecordBuffer] = []
  private let arena = Arena()
  /// The settings' own, which ``decide(stretch:_:)`` does not reset.
  private let names = Arena()
  private(set) var rules: DeviceRules

  private static let asOf = Instant(milliseconds: 1_772_323_200_000)

  init(_ lines: EventLines) throws {
    let configuration = try ConfigurationLoader(
      environment: [:], currentDirectory: "/", destinations: ["engage", "deltadna", "unity"],
      now: Instant(milliseconds: 0)
    ).load(files: [])
    var settings = RuleSettings(configuration.settings, identity: false, lookups: [], in: names)
    settings.augmentation.plugins = []
    let links = DeepLinkRouter(routes: nil, options: LinkOptions(routeOrder: .literalFirst, ownDomains: []))
    rules = DeviceRules(settings: settings, links: links, knownUntil: Self.asOf, arena: arena)
    recordCount = lines.ranges.count
    var places: [[UInt8]: Int] = [:]
    var reader = LineReader(RecordVocabulary.engage)
    var head = RecordHead()
    var number: UInt64 = 0
    try unsafe lines.forEach { line in
      number += 1
      let position = RecordPosition(file: 0, line: number)
      guard unsafe reader.read(line, kind: .events, position: position, into: &head) == nil else {
        throw UnexpectedResult("records")
      }
      let place = unsafe places[Array(head.device.bytes), default: devices.count]
      if place == devices.count {
        unsafe places[Array(head.device.bytes)] = place
        devices.append(RecordBuffer())
      }
      let text = unsafe line.baseAddress.map { unsafe Text(base: $0, count: line.count).trimmed } ?? .empty
      let source = SourceLine(text: text, kind: .events, position: position)
      guard devices[place].keep(head, of: source, reader) else { throw UnexpectedResult("records") }
    }
  }

  /// Runs the rules over all devices; each one's last state is given to `keep`.
  ///
  /// - Parameter stretch: events after which what was decided is forgotten; nil keeps everything.
  /// - Returns: the number of all events.
  @discardableResult
  func decide(stretch: Int? = nil, _ keep: (DeviceState) -> Void) -> Int {
    var forgotten = 0
    for device in devices {
      device.withRecords { device in
        guard let last = device.records.last else { return }
        rules.begin(DeviceState(device: device.device))
        rules.announce(until: last.timestamp)
        for entry in device.records where entry.isSample { rules.announce(Record(entry)) }
        for entry in device.records {
          let record = Record(entry)
          while !rules.advance(record) {}
        }
        rules.finish()
      }
      keep(rules.state)
      guard let stretch, rules.output.events.count >= stretch else { continue }
      forgotten += rules.output.events.count
      rules.output.removeAll()
      rules.state = DeviceState(device: .empty)
      arena.reset()
    }
    return forgotten + rules.output.events.count
  }
}

/// Records to events.
final class RuleBenchmark: Benchmark {
  let name = "rules"
  let item = "record"
  let bytes: Int? = nil
  private let devices: DecidedDevices

  init(_ lines: EventLines) throws { devices = try DecidedDevices(lines) }

  var items: Int { devices.recordCount }

  func pass() throws {
    // In stretches like those of a run.
    guard devices.decide(stretch: 2048, { _ in }) > items else { throw UnexpectedResult(name) }
  }
}

/// States of devices to bytes and back, as between two runs.
final class StateBenchmark: Benchmark {
  let name = "states"
  let item = "device"
  let items: Int
  let bytes: Int? = nil
  private let devices: DecidedDevices
  private var states: [DeviceState] = []

  init(_ lines: EventLines) throws {
    devices = try DecidedDevices(lines)
    var states: [DeviceState] = []
    devices.decide { states.append($0) }
    self.states = states
    items = states.count
  }

  func pass() throws {
    for state in states {
      let emission = try unsafe state.encoded().withUnsafeBytes { try unsafe DeviceState(decoding: $0).emission }
      guard emission == state.emission else { throw UnexpectedResult(name) }
    }
  }
}
