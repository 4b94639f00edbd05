import BatchFoundation
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

@Suite("Statuses of the ledger") struct StatusTests {
  let folder: TemporaryFolder
  let fixtures = EventFixtures()

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [(1, "NOT_POSTED"), (2, "SUCCESSFULLY_POSTED"), (3, "FAILED_POST"), (7, "UNKNOWN")])
  func aNumberOfTheStoreIsAStatus(number: Int, name: String) throws {
    #expect(ChunkStatus(rawValue: number) == EventStatus(name: name).map(ChunkStatus.events))
  }

  @Test func eightIsAChunkInPartsAndNothingElseIsKnown() {
    #expect(ChunkStatus(rawValue: 8) == .split)
    #expect(ChunkStatus(rawValue: 0) == nil)
    #expect(ChunkStatus(rawValue: 9) == nil)
  }

  @Test func aNumberThatNoReleaseWroteIsAnInconsistency() throws {
    let store = try EventStore.open(folder.store)
    let run = try store.runs.begin(
      job: "job", configurationDigest: "", started: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0))
    try store.commit(fixtures.batch([fixtures.event(1)]), run: run)
    try store.write { try $0.execute(sql: "UPDATE chunk SET status = 9") }
    let error = #expect(throws: StoreError.self) { try store.ledger.statusCounts() }
    #expect(error == .inconsistent("the ledger contains the unknown status 9"))
    #expect(error?.exit == .inputOutput)
  }
}
