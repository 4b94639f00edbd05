import BatchFoundation
package import BatchStore
import Engage
import EngageRules
package import TestSupport

/// A store in a folder of its own, filled with events of one run.
package final class FilledStore {
  package let folder: TemporaryFolder
  package let path: String
  package let store: EventStore
  package let run: RunID

  /// - Parameters:
  ///   - events: numbered from 1, one a millisecond, of one device; their names are `event <number>`.
  ///   - folder: where it is kept; nil makes one.
  package init(events: Int, perChunk: Int, in folder: TemporaryFolder? = nil) throws {
    self.folder = try folder ?? TemporaryFolder()
    path = self.folder.path + "/store.sqlite"
    store = try EventStore.open(path)
    run = try store.runs.begin(
      job: "j", configurationDigest: "", started: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0))
    let arena = Arena()
    let list = (1...events).map { Self.event($0, in: arena) }
    var encoder = EventBlockWriter(.engage, limits: RequestLimits(maxEvents: perChunk, maxBodyBytes: 1_000_000))
    var batch = LocalBatch()
    batch.events = unsafe [list.withUnsafeBufferPointer { unsafe encoder.encode($0) }]
    try store.commit(batch, run: run)
  }

  deinit {
    // The test may have closed it; a store that does not close leaves files that nobody reads.
    try? store.close()
  }

  private static func event(_ number: Int, in arena: Arena) -> Event {
    let values = ["iPhone", "iPhone7,2", "iOS", "8.1", "App", "1.0", "D1", "", "", "4711"]
    var core = CoreTexts()
    for (slot, value) in values.enumerated() { core.values[slot] = arena.text(value) }
    let list = unsafe arena.allocate(MemoryLayout<Attribute>.stride).bindMemory(to: Attribute.self, capacity: 1)
    unsafe list.initialize(to: Attribute("Event Name", arena.text("event \(number)")))
    return unsafe Event(
      code: "17", timestamp: Instant(milliseconds: Int64(number)), device: "D1", emission: Int64(number),
      core: core.placed(in: arena), attributes: UnsafeBufferPointer(start: list, count: 1))
  }
}

/// The numbers of the events of a request.
package func eventNumbers(_ body: String) -> [Int] {
  body.split(separator: "\"event ").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
}
