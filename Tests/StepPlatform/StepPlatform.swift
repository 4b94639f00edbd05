package import BatchConfiguration
import BatchDelivery
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
  package var vocabulary: any RecordVocabulary { StepVocabulary() }
  package var storeFormat: StoreFormat { StoreFormat(destination: name, codec: StepCodec()) }

  package func rules(for run: RunContext) -> any DecisionRules { StepRules() }

  package func storeDestination(_ settings: Settings) -> StoreDestination {
    StoreDestination(kind: name, address: folder)
  }

  package func limits(_ settings: Settings) -> BlockLimits { BlockLimits(maxEvents: 2, maxBodyBytes: 1000) }

  package func connect(_ run: RunContext) -> any PlatformService { StepService(folder: folder) }

  package var eventColumns: [EventColumn] {
    [EventColumn("at"), EventColumn("who", .id), EventColumn("total", .values)]
  }

  package func describe(_ event: JSONNode, device: String) -> EventDescription {
    EventDescription(type: "", values: [event["at"], event["who"], event["total"]])
  }
}

// MARK: - Records

/// `{"who": "w", "at": 1767225600000, "steps": 12}`
private struct StepVocabulary: RecordVocabulary {
  func makeDecoder() -> any LineDecoder { StepDecoder() }

  func device(_ line: SourceLine) -> Text? { nil }
}

private final class StepDecoder: LineDecoder {
  private var steps: Int64 = 0
  let unknownFields = UnknownFields()

  func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    guard let who = object["who"]?.string else { return Rejection(reason: .missingField, field: "who") }
    guard let at = number(object["at"]) else { return Rejection(reason: .missingField, field: "at") }
    guard let steps = number(object["steps"]) else { return Rejection(reason: .missingField, field: "steps") }
    head = RecordHead(device: who, timestamp: Instant(milliseconds: at))
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

// MARK: - Decisions

private struct StepRules: DecisionRules {
  func makeDecider(_ options: DeciderOptions) -> any DeviceDecider { StepDecider(options) }
}

private final class StepDecider: DeviceDecider {
  private let options: DeciderOptions
  private var device = Text.empty
  /// Events so far and the sum of steps.
  private var state = (emission: Int64(0), total: Int64(0))
  var knownUntil: Instant?
  private var events: [StepEvent] = []
  private var tally = DecisionTally()

  init(_ options: DeciderOptions) { self.options = options }

  func begin(_ device: Text, earlier: StoredDevice?, isExplained: Bool) {
    self.device = device
    let numbers = earlier.map {
      String(decoding: $0.state, as: UTF8.self).split(separator: " ").compactMap { Int64($0) }
    }
    state = (numbers?.first ?? 0, numbers?.last ?? 0)
  }

  func take(_ records: RecordList, lookahead: DeviceLookahead?) {
    for record in records {
      state.emission += 1
      state.total += record.payload.loadUnaligned(as: Int64.self)
      events.append(
        StepEvent(
          at: record.timestamp.milliseconds, who: device.description, emission: state.emission, total: state.total))
    }
  }

  func finish() {}

  func end(into states: inout DeviceStates) {
    Array("\(state.emission) \(state.total)".utf8).withUnsafeBufferPointer {
      states.append(device: device, version: 1, held: 0, state: $0)
    }
  }

  let late: Set<RecordPosition> = []
  var isFull: Bool { events.count >= options.events }

  func handOver(to batch: inout LocalBatch, isLast: Bool) {
    guard isLast || !options.keepsAll, !events.isEmpty else { return }
    tally.events.add(events.count, to: "steps")
    batch.events.append(StepEvent.blocks(events, options.limits))
    events = []
  }

  func takeTally() -> DecisionTally {
    defer { tally = DecisionTally() }
    return tally
  }
}

// MARK: - Events

private struct StepEvent {
  var at: Int64
  var who: String
  var emission: Int64
  var total: Int64

  var json: String { #"{"at":\#(at),"total":\#(total),"who":"\#(who)"}"# }
  var line: String { "\(at) \(emission) \(total) \(who)\n" }

  init(at: Int64, who: String, emission: Int64, total: Int64) {
    self.at = at
    self.who = who
    self.emission = emission
    self.total = total
  }

  init(line: Substring) throws {
    let parts = line.split(separator: " ", maxSplits: 3)
    guard parts.count == 4, let at = Int64(parts[0]), let emission = Int64(parts[1]), let total = Int64(parts[2]) else {
      throw StoreError.damagedBlock
    }
    self.init(at: at, who: String(parts[3]), emission: emission, total: total)
  }

  static func events(of block: some Collection<UInt8>) throws -> [StepEvent] {
    try String(decoding: block, as: UTF8.self).split(separator: "\n").map { try StepEvent(line: $0) }
  }

  static func body(_ events: some Sequence<StepEvent>) -> String { events.map(\.json).joined(separator: "\n") }

  static func blocks(_ events: [StepEvent], _ limits: BlockLimits) -> EventBlocks {
    let events = events.sorted { ($0.at, $0.who, $0.emission) < ($1.at, $1.who, $1.emission) }
    var blocks = EventBlocks()
    for start in stride(from: 0, to: events.count, by: limits.maxEvents) {
      let part = events[start..<min(start + limits.maxEvents, events.count)]
      let bytes = part.map(\.line).joined().utf8
      blocks.entries.append(
        EventBlocks.Entry(
          offset: blocks.bytes.count, length: bytes.count, events: part.count, expired: 0,
          first: Instant(milliseconds: events[start].at), last: Instant(milliseconds: part[part.endIndex - 1].at),
          bodyBytes: body(part).utf8.count))
      blocks.bytes += bytes
    }
    return blocks
  }
}

private struct StepCodec: EventCodec {
  func cursor(of block: [UInt8]) throws -> any EventCursor { StepCursor(try StepEvent.events(of: block)) }

  func writer(_ limits: BlockLimits) -> any BlockWriter { StepWriter(limits) }

  func appendBody(of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer) throws {
    var text = StepEvent.body(try StepEvent.events(of: block))
    text.withUTF8 { body.append($0) }
  }
}

private final class StepCursor: EventCursor {
  private let events: [StepEvent]
  private var index = -1
  private let arena = Arena(blockSize: 1 << 10)

  init(_ events: [StepEvent]) { self.events = events }

  var event: StepEvent { events[index] }

  func next() -> Bool {
    index += 1
    return index < events.count
  }

  var timestamp: Instant { Instant(milliseconds: event.at) }
  var emission: Int64 { event.emission }
  var device: Text { arena.text(event.who) }
  var type: Text { "step" }
  var isExpired: Bool { false }
  var source: StoredSource { .unknown }

  func appendJSON(to target: inout ByteBuffer) {
    var text = event.json
    text.withUTF8 { target.append($0) }
  }
}

private final class StepWriter: BlockWriter {
  private let limits: BlockLimits
  private var events: [StepEvent] = []

  init(_ limits: BlockLimits) { self.limits = limits }

  func append(_ event: any EventCursor, emission: Int64) {
    // A store has one codec.
    guard let cursor = event as? StepCursor else { return }
    events.append(cursor.event)
    events[events.count - 1].emission = emission
  }

  func finish() -> EventBlocks {
    defer { events = [] }
    return StepEvent.blocks(events, limits)
  }
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
