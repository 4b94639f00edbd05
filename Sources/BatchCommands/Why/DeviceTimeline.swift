import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

/// The events of one device that a store holds, in the order in which they happened.
///
/// Everything is read from the events themselves, so it can be told when the inputs are gone.
struct DeviceTimeline {
  struct Entry {
    var id: EventID
    var timestamp: Instant
    var emission: Int64
    /// Code, or the name of a game's event.
    var type: String
    /// As it stands on the wire.
    var event: JSONNode
    var stored: StoredEvent
    /// Where the record that led to it was read; nil where the store does not know.
    var source: RecordSource?

    /// The event in words, without any value of it.
    var words: String

    /// How to find it: its id, and its line.
    var reference: String { "event \(id)" + (source.map { ", \($0)" } ?? "") }
  }

  private(set) var entries: [Entry] = []

  /// - Parameters:
  ///   - device: the bytes of its id.
  ///   - stories: what names the types of events; nil where each is its name.
  init(
    of device: [UInt8], in store: EventStore, _ platform: any Platform, _ stories: (any PlatformStories)?
  ) throws {
    var filter = EventFilter()
    filter.devices = [device]
    var entries: [Entry] = []
    try store.ledger.forEachEvent(filter) { stored in
      let type = try platform.describe(stored).type
      entries.append(
        Entry(
          id: stored.id, timestamp: stored.id.timestamp, emission: stored.emission, type: type,
          event: try JSONNode.parse(stored.json), stored: stored,
          words: PlatformReport.words(ofType: type, stories?.name(ofType: type))))
      return true
    }
    for index in entries.indices { entries[index].source = try store.runs.source(entries[index].stored.source) }
    self.entries = entries.sorted { ($0.timestamp, $0.emission) < ($1.timestamp, $1.emission) }
  }

  func index(of id: EventID) -> Int? { entries.firstIndex { $0.id == id } }

  /// The last event up to the instant; nil if there is none.
  func last(at instant: Instant) -> Int? { entries.lastIndex { $0.timestamp <= instant } }
}
