import BatchFoundation
import BatchStore
import EngageRules
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import Engage

@Suite struct IdentityRowsTests {
  @Test func keepsWhatABatchBrings() throws {
    let folder = try TemporaryFolder()
    let (store, run) = try folder.filled([])
    var batch = LocalBatch()
    let check = IdentityCheck(
      device: "D1", timestamp: Instant(milliseconds: 5), emission: 1,
      ids: [ColumnValue("Email", "a@b"), ColumnValue("Custom", "")], mobileUserId: "m",
      anonymousId: "", recipientId: "r", source: RecordSource(file: "/in/a.ndjson", line: 7))
    let place = LastKnownLocation(
      device: "D1", recipientId: "", address: "Street 1", at: Instant(milliseconds: 6))
    func setup(_ line: UInt64) -> DeviceSetup {
      DeviceSetup(
        device: "D1", firstSeen: Instant(milliseconds: 5), mobileUserId: "m", recipientId: "r",
        source: RecordSource(file: "/in/a.ndjson", line: line))
    }
    batch.rows = IdentityRows(checks: [check], setups: [setup(3), setup(9)], locations: [place])
    try store.commit(batch, run: run)
    try store.close()

    let again = try EventStore.openReading(folder.store)
    #expect(try again.identities.pendingCheckCount() == 1)
    #expect(try again.identities.pendingChecks(after: nil, limit: 10).map(\.check) == [check])
    #expect(try again.identities.pendingLocations() == [place])
    #expect(try again.identities.recordSource(ofCheck: 1, of: "D1") == RecordSource(file: "/in/a.ndjson", line: 7))
    #expect(try again.identities.recordSource(ofCheck: nil, of: "D1") == RecordSource(file: "/in/a.ndjson", line: 3))
    #expect(try again.identities.recordSource(ofCheck: nil, of: "D2") == nil)
  }

  @Test(
    "Plans of a run come by the time of their records and by device, those that wait first, however lanes numbered them"
  )
  func plansOfARunInTheirOrder() throws {
    let folder = try TemporaryFolder()
    let (store, run) = try folder.filled([])
    let nobody = DeviceIdentity(recipientId: "", mobileUserId: "")
    // In the order of their numbers.
    let checks: [(device: String, at: Int64, state: MergeState)] = [
      ("D4", 9, .done), ("D3", 5, .done), ("D1", 5, .done), ("D2", 7, .held),
    ]
    var batch = LocalBatch()
    batch.rows = IdentityRows(
      checks: checks.map {
        IdentityCheck(
          device: $0.device, timestamp: Instant(milliseconds: $0.at), emission: 1, ids: [], mobileUserId: "",
          anonymousId: "", recipientId: "r", source: RecordSource(file: "/in/a.ndjson", line: 7))
      }, setups: [], locations: [])
    try store.commit(batch, run: run)
    for check in try store.identities.pendingChecks(after: nil, limit: 10).sorted(by: { $0.id < $1.id }) {
      let device = check.check.device
      var plan = MergePlan(
        key: device, scenario: .register, list: "1", loser: device, winner: device, date: "", device: device,
        checkId: check.id, emission: 1, ids: [], before: nobody, after: nobody, created: Instant(milliseconds: 100),
        steps: [])
      plan.state = checks.first { $0.device == device }?.state ?? .open
      let person = Person(mobileUserId: device, device: device, firstSeen: Instant(milliseconds: 1))
      let known = KnownDevice(device: device, person: person, identity: nobody)
      #expect(try store.merges.begin(&plan, for: known, lines: [], run: run) == nil)
    }
    #expect(try store.merges.plans(of: run, or: [], limit: 10).map(\.device) == ["D2", "D1", "D3", "D4"])
    #expect(try store.merges.plans(of: run, or: [], limit: 2).map(\.device) == ["D2", "D1"])
  }

  /// Its tables are not there.
  @Test func aStoreOfAnotherPlatformHasNoIdentities() throws {
    let folder = try TemporaryFolder()
    let other = StoreFormat(destination: "other", wireForm: WireForm.engage)
    let store = try EventStore.open(folder.store, format: other)
    #expect(try store.bind(to: StoreDestination(kind: "other")) == nil)
    #expect(try store.merges.openPlans() == [])
    #expect(try store.identities.pendingCheckCount() == 0)
    try store.close()
    // Whoever opens it for Engage is told by the destination that it is not, and finds no table of Engage.
    let engage = try EventStore.open(folder.store, format: .engage)
    #expect(try engage.destination(against: StoreDestination(kind: "engage")) == StoreDestination(kind: "other"))
    let tables = try engage.read {
      try String.fetchAll($0, sql: "SELECT name FROM sqlite_schema WHERE name LIKE 'merge%'")
    }
    #expect(tables == [])
  }
}
