import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

/// The events of one device, sorted by timestamp and emission; read from the store alone, without the inputs.
struct DeviceTimeline {
  struct Entry {
    var id: EventID
    var timestamp: Instant
    var emission: Int64
    /// The event code, or the name of a game's event.
    var type: String
    /// The event's JSON as stored.
    var event: JSONNode
    var stored: StoredEvent
    /// The place of the record that led to the event; nil if the store does not know it.
    var source: RecordSource?

    var words: String

    var reference: String { "event \(id)" + (source.map { ", \($0)" } ?? "") }
  }

  private(set) var entries: [Entry] = []

  /// - Parameter stories: Provides the names of types that are codes.
  init(of device: [UInt8], in store: EventStore, _ platform: any Platform, _ stories: any PlatformStories) throws {
    var filter = EventFilter()
    filter.devices = [device]
    let describer = EventDescriber(platform, showsContent: true)
    var entries: [Entry] = []
    try store.ledger.forEachEvent(filter) { stored in
      let type = try describer.describe(stored.json) { $0.type.description }
      entries.append(
        Entry(
          id: stored.id, timestamp: stored.id.timestamp, emission: stored.emission, type: type,
          event: try JSONNode.parse(stored.json, options: .nulCharacters), stored: stored,
          words: PlatformReport.words(ofType: type, stories.name(ofType: type))))
      return true
    }
    for index in entries.indices { entries[index].source = try store.runs.source(entries[index].stored.source) }
    self.entries = entries.sorted { ($0.timestamp, $0.emission) < ($1.timestamp, $1.emission) }
  }

  func index(of id: EventID) -> Int? { entries.firstIndex { $0.id == id } }

  /// Returns the index of the last event up to the instant; nil if there is none.
  func last(at instant: Instant) -> Int? { entries.lastIndex { $0.timestamp <= instant } }
}

/// A platform's explanations of its events, in addition to facts that hold for all platforms.
protocol PlatformStories {
  /// Returns the name of an event type that is a code; nil if the type is its name.
  func name(ofType type: String) -> String?

  /// Adds the reasons for the content of the event at the index to `answer`.
  func describe(_ index: Int, in timeline: DeviceTimeline, _ settings: ProcessedBy, _ answer: inout Facts) throws

  /// Adds the device's state after the event at the index, which is the device's last event up to `instant`
  /// (nil for the whole store).
  func describeDevice(after index: Int, at instant: Instant?, in timeline: DeviceTimeline, _ answer: inout Facts)

  /// Returns the device's stored state in sentences.
  func state(of device: StoredDevice) throws -> [String]

  /// Adds the device's history at the service, apart from events. It is personal data.
  func describeHistory(of device: String, _ answer: inout Facts) throws
}

extension PlatformStories {
  func name(ofType type: String) -> String? { nil }
}
