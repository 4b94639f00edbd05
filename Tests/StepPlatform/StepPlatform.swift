package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchPipeline
import BatchReport
package import BatchStore
import BatchWire
import FoundationEssentials

/// A platform of a few lines that shares nothing with those of the product: pedometers report steps, each report becomes an event with
/// the sum so far, and requests are files of a folder.
package struct StepPlatform: Platform {
  /// Where requests go.
  package var folder: String

  package init(folder: String) { self.folder = folder }

  package var name: String { "steps" }
  package var vocabulary: RecordVocabulary { RecordVocabulary { StepDecoder() } }
  package var storeFormat: StoreFormat { StoreFormat(destination: name, wireForm: .steps) }

  package func rules(for run: RunContext) -> any PlatformRules { StepRules() }

  package func storeDestination(_ settings: Settings) -> StoreDestination {
    StoreDestination(kind: name, address: folder)
  }

  package func deliverySettings(_ settings: Settings) -> DeliverySettings {
    DeliverySettings(settings, limits: RequestLimits(maxEvents: 2, maxBodyBytes: 1000))
  }

  package func connect(_ run: RunContext) -> any PlatformService { StepService(folder: folder) }

  package var eventColumns: [EventColumn] {
    [EventColumn("at"), EventColumn("who", .id), EventColumn("total", .values)]
  }

  package func describe(_ event: JSONView, device: JSONView?) -> EventDescription {
    EventDescription(type: nil, values: [event["at"], event["who"], event["total"]])
  }
}

// MARK: - Records

/// `{"who": "w", "at": 1767225600000, "steps": 12}`
private final class StepDecoder: LineDecoder {
  private var steps: Int64 = 0
  let unknownFields = UnknownFields()

  func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    guard let who = object["who"]?.string else { return Rejection(reason: .missingField, field: "who") }
    guard let at = number(object["at"]) else { return Rejection(reason: .missingField, field: "at") }
    guard let steps = number(object["steps"]) else { return Rejection(reason: .missingField, field: "steps") }
    (head.device, head.timestamp) = (who, Instant(milliseconds: at))
    self.steps = steps
    return nil
  }

  private func number(_ view: JSONView?) -> Int64? { view?.number.flatMap { Int64($0.description) } }

  func decode(_ link: PlainLink, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    Rejection(reason: .invalidJSON)
  }

  let payloadBound = 8

  func writePayload(at start: UnsafeMutableRawPointer) -> Int {
    start.storeBytes(of: steps, as: Int64.self)
    return 8
  }
}

// MARK: - Processing

private struct StepRules: PlatformRules {
  func makeDecider(_ options: DeciderOptions) -> any DeviceDecider {
    StepDecider(core: DeciderCore(self, options, .steps))
  }
}

private final class StepDecider: DeviceDecider {
  let core: DeciderCore
  private var device = Text.empty
  /// Events so far and the sum of steps.
  private var state = (emission: Int64(0), total: Int64(0))
  private var events: [(at: Instant, who: String, emission: Int64, total: Int64)] = []

  func begin(_ device: Text, _ state: UnsafeRawBufferPointer?, _ explanation: Explanation?) {
    self.device = device
    let numbers = state.map { String(decoding: $0, as: UTF8.self).split(separator: " ").compactMap { Int64($0) } }
    self.state = (numbers?.first ?? 0, numbers?.last ?? 0)
  }

  func process(_ records: RecordList, _ lookahead: DeviceLookahead?) {
    for record in records {
      state.emission += 1
      state.total += record.payload.loadUnaligned(as: Int64.self)
      events.append((record.timestamp, device.description, state.emission, state.total))
    }
  }

  func end(into states: inout DeviceStates) {
    Array("\(state.emission) \(state.total)".utf8).withUnsafeBufferPointer {
      states.append(device: device, version: 1, held: 0, state: $0)
    }
  }

  init(core: DeciderCore) { self.core = core }

  var eventCount: Int { events.count }

  func encode() -> EventBlocks? {
    guard !events.isEmpty else { return nil }
    core.tally.events.add(events.count, to: "steps")
    let arena = Arena(blockSize: 1 << 10)
    for event in events.sorted(by: { ($0.at, $0.who, $0.emission) < ($1.at, $1.who, $1.emission) }) {
      let json = #"{"at":\#(event.at.milliseconds),"total":\#(event.total),"who":"\#(event.who)"}"#
      let who = arena.text(event.who)
      let head = EventHead(
        type: "step", timestamp: event.at, device: who, emission: event.emission, lead: .raw(arena.text(json)))
      [who].withUnsafeBufferPointer {
        core.encoder.append(head, shared: $0, fields: UnsafeBufferPointer(start: nil, count: 0))
      }
    }
    events = []
    return core.encoder.take()
  }
}

// MARK: - Events

extension WireForm {
  /// A line of JSON an event.
  fileprivate static let steps = WireForm(
    body: ("", ""), pieces: [.lead], shared: [Shared("", isHidden: true)], separator: UInt8(ascii: "\n"))
}

// MARK: - Service

private struct StepService: PlatformService {
  var folder: String

  var origin: String { folder }
  var destination: any Destination { StepDestination(folder: folder) }
}

/// Each request is a file with the name of its digest.
private struct StepDestination: Destination {
  var folder: String

  var traits: DeliveryTraits { DeliveryTraits(isIdempotent: true, isOrdered: true, lanes: 1) }
  var form: Int { 1 }

  func send(_ body: [UInt8], group: Int) -> SendOutcome {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let number = try FileManager.default.contentsOfDirectory(atPath: folder).count + 1
      try Data(body).write(to: URL(filePath: "\(folder)/\(number)"))
      return .acknowledged
    } catch {
      return .notSent(CallFault("\(error)", stop: .configuration))
    }
  }

  func abort() {}
}
