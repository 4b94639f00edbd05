import BatchFoundation
import EngageRules
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

/// The files whose records led to events.
@Suite struct InputTests {
  private let fixtures = EventFixtures()
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ store: EventStore) throws -> RunID {
    try store.runs.begin(
      job: "j", configurationDigest: "c", started: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0))
  }

  @Test("A file has one number, whichever run reads it")
  func numbers() throws {
    let store = try EventStore.open(folder.store)
    #expect(try store.runs.numbers(ofInputs: ["/in/b", "/in/a"], run: run(store)) == [1, 2])
    #expect(try store.runs.numbers(ofInputs: ["/in/a", "/in/c", "/in/b"], run: run(store)) == [2, 3, 1])
    #expect(
      try store.runs.source(StoredSource(file: 1, line: 7)) == RecordSource(file: "/in/b", line: 7))
    #expect(try store.runs.source(.unknown) == nil)
    #expect(try store.runs.source(StoredSource(file: 99, line: 1)) == nil)
  }

  @Test("A stored event has its source, also after it was copied out of its chunk")
  func storedSource() throws {
    let store = try EventStore.open(folder.store)
    let number = try store.runs.numbers(ofInputs: ["/in/a"], run: run(store))[0]
    let events = (1...3).map { line in
      var event = fixtures.event(Int64(line), emission: Int64(line))
      event.source = StoredSource(file: number, line: UInt64(line) * 10)
      return event
    }
    try store.commit(fixtures.batch(events), run: run(store))
    var lines: [UInt64] = []
    try store.ledger.forEachEvent(status: nil) { event in
      lines.append(event.source.line)
      return true
    }
    #expect(lines == [10, 20, 30])
  }

  @Test("A purge forgets files of which no event is left, and never gives their numbers to others")
  func purge() throws {
    let store = try EventStore.open(folder.store)
    _ = try store.runs.numbers(ofInputs: ["/in/old"], run: run(store))
    _ = try store.runs.numbers(ofInputs: ["/in/older"], run: run(store))
    let last = try run(store)
    #expect(try store.runs.numbers(ofInputs: ["/in/new"], run: last) == [3])
    try store.commit(fixtures.batch([fixtures.event(1)]), run: last)
    _ = try store.retention.purge(asOf: Instant(milliseconds: 0), days: 30)
    #expect(try store.runs.source(StoredSource(file: 1, line: 1)) == nil)
    #expect(try store.runs.source(StoredSource(file: 3, line: 1))?.file == "/in/new")
    #expect(try store.runs.numbers(ofInputs: ["/in/next"], run: last) == [4])
  }
}
