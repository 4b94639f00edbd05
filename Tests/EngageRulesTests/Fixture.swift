import BatchConfiguration
import BatchFoundation
import Engage
import TestSupport

@testable import EngageRules

/// Records of one device, written as JSON texts in tests, and the rules over them.
final class Fixture {
  private var tape = JSONTape(capacity: 1 << 22)
  private var reader = JSONReader()
  let arena = Arena()
  /// The defaults of a job without identity, without plug-ins.
  var settings: RuleSettings
  var routes: RouteFile?
  private(set) var records: [Record] = []

  init() {
    settings = RuleSettings(.defaults, identity: false, lookups: [], in: arena)
    settings.augmentation.plugins = []
  }

  /// A value of JSON that lives as long as the fixture.
  func json(_ text: String) throws -> JSONView {
    let start = tape.count
    var bytes = Array(text.utf8)
    let flaws = try bytes.withUnsafeMutableBufferPointer { try reader.read(UnsafeBufferPointer($0), onto: &tape) }
    precondition(tape.count < 1 << 22 && flaws.duplicateKey == nil)
    return tape.view(at: start)
  }

  /// Adds a record; `more` sets what the type needs.
  func add(_ type: RecordType, at time: String, _ more: (inout Record) throws -> Void = { _ in }) throws {
    guard let instant = Instant.parse(rfc3339: time) else { throw FixtureError.badTime(time) }
    var record = Record(
      device: "d-1", timestamp: instant, type: type, kind: .events,
      position: RecordPosition(file: 0, line: UInt64(records.count + 1)))
    try more(&record)
    records.append(record)
  }

  /// Runs the records that were added since the last run and returns events in the order of delivery.
  @discardableResult
  func run(
    asOf: String, state: DeviceState? = nil, explanation: Explanation? = nil
  ) throws -> (events: [Event], rules: DeviceRules) {
    guard let end = Instant.parse(rfc3339: asOf) else { throw FixtureError.badTime(asOf) }
    var rules = DeviceRules(settings: settings, links: DeepLinkRouter(routes: routes), knownUntil: end, arena: arena)
    rules.begin(state ?? DeviceState(device: "d-1"))
    rules.explanation = explanation
    if let last = records.map(\.timestamp).max() { rules.announce(until: last) }
    for record in records where record.type.isSample { rules.announce(record) }
    for record in records { rules.process(record) }
    rules.finish()
    rules.end()
    records = []
    return (rules.output.events.sorted(by: Event.precedes), rules)
  }

  /// The state as a later run would find it.
  func reloaded(_ state: DeviceState) throws -> DeviceState {
    let bytes = arena.copy(state.encoded().withUnsafeBufferPointer { arena.copy($0).bytes })
    return try DeviceState(decoding: UnsafeRawBufferPointer(bytes.bytes))
  }
}

extension DeviceRules {
  mutating func process(_ record: Record) { while !advance(record) {} }
}

extension DeepLinkRouter {
  /// Of a job that says nothing about the order of routes and has no domains of its own.
  init(routes: RouteFile?) {
    self.init(routes: routes, options: LinkOptions(routeOrder: .literalFirst, ownDomains: []))
  }
}

enum FixtureError: Error { case badTime(String) }

extension Event {
  /// Attributes other than core ones.
  var others: [String: String] {
    Dictionary(
      attributes.map { ($0.name.description, $0.value.description) }, uniquingKeysWith: { $1 })
  }

  subscript(name: String) -> String? {
    wireAttributes.first { $0.name.description == name }?.value.description
  }

  var line: String { "\(code)@\(timestamp.rfc3339)" }
}
