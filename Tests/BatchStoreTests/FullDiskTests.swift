import BatchFoundation
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

/// Every write of a store finds the disk full once: the run ends in words, what was stored before is there, and the next run goes on.
@Suite struct FullDiskTests {
  private static let full = "write (disk full)"

  @Test func everyWriteMayFindTheDiskFull() throws {
    let fixtures = EventFixtures()
    let events = (1...300).map { fixtures.event(Int64($0), emission: Int64($0)) }
    var operation = 0
    var refused = 0
    while true {
      let folder = try TemporaryFolder()
      try EventStore.open(folder.store).close()
      let disk = LossyDisk(folder.path, seed: 1)
      disk.fill(at: operation)
      var stored = 0
      do {
        let store = try EventStore.open(folder.store)
        // A full disk may keep the log from being written into the file; it stays beside it then.
        defer { try? store.close() }
        let run = try store.runs.begin(job: "j", configurationDigest: "", started: .fixture, asOf: .fixture)
        for start in [0, 100, 200] {
          let part = Array(events[start..<start + 100])
          try store.commit(fixtures.batch(part, limits: .test(maxEvents: 10)), run: run)
          stored += 100
        }
        try store.ledger.makeIndexes()
        let chunk = try #require(try store.ledger.pendingChunks(after: nil, limit: 1).first)
        let attempt = try store.ledger.begin(chunk, run)
        _ = try store.ledger.end(run, chunk, attempt, .acknowledged, .posted)
        try store.runs.finish(run, at: .fixture, counters: "{}")
      } catch StoreError.databaseFile(_, Self.full, _) {
        refused += 1
      }
      let wasFull = disk.isFull
      try disk.start()
      let store = try EventStore.open(folder.store)
      let counts = try store.ledger.statusCounts()
      #expect(counts.values.reduce(0, +) == stored, "operation \(operation): \(counts)")
      try store.check { Issue.record("operation \(operation): \($0)") }
      try store.close()
      guard wasFull else { break }
      operation += 1
    }
    #expect(refused > 20)
    #expect(operation >= refused)
  }
}
