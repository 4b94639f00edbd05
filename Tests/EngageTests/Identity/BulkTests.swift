import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import BatchWire
import EngageRules
import FoundationEssentials
import RecipientModel
import TestSupport
import Testing

@testable import Engage

@Suite(.serialized) struct BulkTests {
  @Test func takesAnExportedFileThatIsWhole() throws {
    let text = "\u{FEFF}\"Email\",RECIPIENT_ID,\"customer_id\"\r\n,1,\"c \"\"1\"\"\"\r\n,2,\r\n"
    for piece in [1, 2, 1000] {
      var file = ExportedFile(columns: ["RECIPIENT_ID", "customer_id"])
      var read: [[String]] = []
      let bytes = Array(text.utf8)
      for start in stride(from: 0, to: bytes.count, by: piece) {
        file.read(Array(bytes[start..<min(start + piece, bytes.count)])) { read.append([$0] + $1) }
      }
      try file.finish(ofAtLeast: 2) { read.append([$0] + $1) }
      #expect(read == [["1", "c \"1\""], ["2", ""]])
    }
  }

  @Test(arguments: [
    ("RECIPIENT_ID,customer_id\n1,c-1\n", ExportFault.tooShort(rows: 1, size: 2)),
    ("RECIPIENT_ID,customer_id\n1,c-1\n2", .torn(row: 2)),
    ("RECIPIENT_ID,customer_id\n1,c-1\n2,\"c-", .torn(row: 2)),
    ("RECIPIENT_ID,customer_id\n1,c-1\n,c-2\n", .torn(row: 2)),
    ("RECIPIENT_ID,Email\n1,\n2,\n", .missingColumns(["customer_id"])),
    ("", .missingColumns(["RECIPIENT_ID", "customer_id"])),
  ])
  func anExportedFileThatIsNotTheWholeListIsNotTrusted(text: String, fault: ExportFault) throws {
    var file = ExportedFile(columns: ["RECIPIENT_ID", "customer_id"])
    file.read(Array(text.utf8)) { _, _ in }
    #expect(throws: fault) { try file.finish(ofAtLeast: 2) { _, _ in } }
  }

  @Test func anExportedFileInAnotherEncodingIsNotTrusted() throws {
    var file = ExportedFile(columns: ["RECIPIENT_ID", "customer_id"])
    file.read(Array("RECIPIENT_ID,customer_id\n1,caf".utf8) + [0xE9, 0x0A]) { _, _ in }
    #expect(throws: ExportFault.notUTF8(row: 1)) { try file.finish(ofAtLeast: 1) { _, _ in } }
  }

  @Test func withoutAnExportEverythingIsLookedUpOneByOne() throws {
    let folder = "/tmp/engage-identity-bulk-\(uptimeMilliseconds())"
    var options = EngageSandboxOptions.identities([:])
    options.filesFolder = folder
    try withSandbox(options) { server in
      let bench = try bench(server, bulk: true)
      try bench.store.identities.note((0..<20).map { device("d-\($0)", $0) })
      let result = try reconciler(bench, folder: folder + "/nowhere").reconcile()
      #expect(result.failure == nil)
      #expect(result.figures.created == 20)
      #expect(result.notes.count == 1)
      #expect(
        result.notes.first?.hasPrefix("list transfer failed, so recipients are looked up one by one: ") == true)
      #expect(bench.recipients.count == 20)
    }
  }

  @Test func rowsThatAnImportDidNotTakeAreSetUpOneByOne() throws {
    let folder = "/tmp/engage-identity-bulk-\(uptimeMilliseconds())"
    var options = EngageSandboxOptions.identities([:])
    options.filesFolder = folder
    // The service loses the last two rows of the file.
    options.server.hook = { request, point in
      guard point == .body, request.operations.contains("ImportList") else { return nil }
      let upload = URL(filePath: folder + "/upload")
      let files = (try? FileManager.default.contentsOfDirectory(atPath: upload.path)) ?? []
      for name in files where name.hasSuffix(".csv") {
        let file = upload.appending(path: name)
        // A file that is not there fails the test.
        let rows = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n")
        try? Data((rows.dropLast(2).joined(separator: "\n") + "\n").utf8).write(to: file)
      }
      return nil
    }
    try withSandbox(options) { server in
      let bench = try bench(server, bulk: true)
      try bench.store.identities.note((0..<20).map { device("d-\($0)", $0) })
      let result = try reconciler(bench, folder: folder).reconcile()
      #expect(result.failure == nil)
      #expect(
        result.notes == ["imported recipients missing from the list: 2 of 20; their devices are set up one by one"])
      #expect(result.figures.created == 20)
      #expect(server.totals.operations["AddRecipient"] == 2)
      #expect(bench.recipients.count == 20)
    }
  }

  private func end(bulk: Bool) throws -> (recipients: [[String: String]], figures: RunSummary.Identity, selects: Int) {
    let folder = "/tmp/engage-identity-bulk-\(uptimeMilliseconds())"
    var seed: [Int64: [String: String]] = [:]
    var checks: [IdentityCheck] = []
    var setups: [DeviceSetup] = []
    for number in 0..<40 {
      setups.append(
        DeviceSetup(
          device: "d-\(number)", firstSeen: now + Milliseconds(Int64(number)), mobileUserId: "", recipientId: ""))
      let other = Int64(900_000_200_000 + number)
      switch number % 4 {
      case 0: break
      case 1: seed[other] = ["customer_id": "c, \"\(number)\""]
      case 2: seed[other] = ["customer_id": "c, \"\(number)\"", "Mobile User Id": "W-\(number)"]
      // Two devices of one customer whom nobody knows yet: the second meets what the first wrote.
      default: break
      }
      let customer = number % 4 == 3 ? "shared \(number / 8)" : "c, \"\(number)\""
      checks.append(
        IdentityCheck(
          device: "d-\(number)", timestamp: now + Milliseconds(Int64(number)), emission: 1,
          ids: [ColumnValue("customer_id", customer)], mobileUserId: "", anonymousId: "",
          recipientId: ""))
    }
    var options = EngageSandboxOptions.identities(seed)
    options.filesFolder = folder
    return try withSandbox(options) { server in
      let bench = try bench(server, bulk: bulk)
      try bench.store.identities.note(setups)
      try bench.add(checks)
      let result = try reconciler(bench, folder: folder).reconcile()
      #expect(result.failure == nil)
      #expect(try bench.store.identities.pendingCheckCount() == 0)
      // New ids depend on which thread comes first, so recipients are compared by who they are.
      return (named(bench.recipients), result.figures, server.totals.operations["SelectRecipientData"] ?? 0)
    }
  }

  private func bench(_ server: SandboxServer, bulk: Bool) throws -> SandboxBench {
    var bench = try SandboxBench(
      server,
      settings: .fixture(audit: true) {
        $0.concurrency = 4
        $0.recipient.bulkThreshold = bulk ? 10 : 5000
      })
    bench.tries = 4
    return bench
  }

  private func reconciler(_ bench: SandboxBench, folder: String) throws -> IdentityReconciler {
    var reconciler = bench.reconciler
    reconciler.transfer = ListTransfer(bench.database, folder: TransferFolder(path: folder), reconciler.retryPolicy)
    return reconciler
  }

  /// In an order of their own, with mobile user ids or customers in place of recipient ids.
  private func named(_ recipients: [String: [String: String]]) -> [[String: String]] {
    let names = recipients.mapValues { $0["Mobile User Id"] ?? $0["customer_id"] ?? "" }
    return recipients.values.map { values in
      var values = values
      if let winner = values["Merged Recipient Id"] { values["Merged Recipient Id"] = names[winner] ?? winner }
      return values
    }.sorted { "\($0.sorted { $0.key < $1.key })" < "\($1.sorted { $0.key < $1.key })" }
  }

  private func device(_ name: String, _ number: Int) -> DeviceSetup {
    DeviceSetup(device: name, firstSeen: now + Milliseconds(Int64(number)), mobileUserId: "", recipientId: "")
  }

  /// A first store that knows customers, then another one with the same devices, without their records, and other devices of
  /// the same customers.
  private func endOfASecondStore(
    bulk: Bool
  ) throws -> (recipients: [[String: String]], figures: RunSummary.Identity, added: Int) {
    let folder = "/tmp/engage-identity-bulk-\(uptimeMilliseconds())"
    var options = EngageSandboxOptions.identities([:])
    options.filesFolder = folder
    return try withSandbox(options) { server in
      let customer = { (number: Int) in [ColumnValue("customer_id", "c-\(number)")] }
      let checks = { (kind: String) in
        (0..<20).map {
          IdentityCheck(
            device: "\(kind)-\($0)", timestamp: now + Milliseconds(Int64($0)), emission: 1, ids: customer($0),
            mobileUserId: "", anonymousId: "", recipientId: "")
        }
      }
      let first = try bench(server, bulk: false)
      try first.store.identities.note((0..<20).map { device("known-\($0)", $0) })
      try first.add(checks("known"))
      #expect(try first.reconciler.reconcile().figures.updated == 20)
      let second = try bench(server, bulk: bulk)
      try second.store.identities.note((0..<20).flatMap { [device("known-\($0)", $0), device("new-\($0)", $0)] })
      try second.add(checks("new"))
      let before = server.totals.operations["AddRecipient"] ?? 0
      let result = try reconciler(second, folder: folder).reconcile()
      #expect(result.failure == nil)
      return (named(second.recipients), result.figures, (server.totals.operations["AddRecipient"] ?? 0) - before)
    }
  }

  @Test func decidesTheSameForASecondStore() throws {
    let single = try endOfASecondStore(bulk: false)
    let bulk = try endOfASecondStore(bulk: true)
    #expect(single.figures.merged == 20)
    #expect(bulk.recipients == single.recipients)
    #expect(bulk.figures == single.figures)
    #expect(single.figures.created == 20)
    // The export says who is known, and the others are added as a file.
    #expect([single.added, bulk.added] == [20, 0])
  }

  @Test func whatAnAddFindsKeepsItsOtherColumns() throws {
    let mobile = ColumnValue("Mobile User Id", "u-1")
    let customer = ColumnValue("customer_id", "c-1")
    let service = ModelService([loser: ["Mobile User Id": "u-1", "customer_id": "c-1"]])
    service.change { $0.addsOnlyUnknown = true }
    let index = IndexedDatabase(service, searched: [.init(mobile), .init(customer)])
    index.take(loser, [mobile, customer])
    #expect(try index.add([mobile]) == loser)
    #expect(try index.find([customer])?.id == loser)
    #expect(service.calls.map(\.operation) == ["AddRecipient"])
  }

  /// A service may ignore the case of all letters: whether such a record is the one is for its own look-up to say.
  @Test func whatAnExportHasInAnotherCaseIsAskedFor() throws {
    let service = ModelService([winner: ["customer_id": "c-É"]])
    let asked = ColumnValue("customer_id", "c-é")
    let other = ColumnValue("customer_id", "c-e")
    let index = IndexedDatabase(service, searched: [.init(asked), .init(other)])
    index.take(winner, [ColumnValue("customer_id", "c-É")])
    #expect(try index.find([other]) == nil)
    #expect(service.calls.isEmpty)
    _ = try index.find([asked])
    #expect(service.calls.map(\.operation) == ["SelectRecipientData"])
  }

  @Test func decidesTheSameFromAnExport() throws {
    let single = try end(bulk: false)
    let bulk = try end(bulk: true)
    #expect(bulk.recipients == single.recipients)
    #expect(bulk.figures == single.figures)
    #expect(single.figures.created == 40)
    #expect(bulk.selects + 40 <= single.selects)
  }

  @Test func linksAnAnonymousRecipientToAUser() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]])
    bench.service.restart([4: .lostReply])
    let result = try bench.reconciler.link(
      anonymous: loser, primary: "c-1", mergeColumn: "loyalty_id", primaryColumn: "customer_id")
    #expect(result == LinkResult(changedAnonymous: true, changedPrimary: true))
    #expect(
      bench.service.recipients == [
        loser: ["Mobile User Id": userA, "loyalty_id": "c-1"], winner: ["customer_id": "c-1", "loyalty_id": "c-1"],
      ])
    #expect(
      try bench.reconciler.link(
        anonymous: loser, primary: "c-1", mergeColumn: "loyalty_id", primaryColumn: "customer_id") == LinkResult())
    #expect(throws: CommandError(.inputRefused, "error: no recipient has the primary user id; nothing was written")) {
      try bench.reconciler.link(
        anonymous: loser, primary: "c-9", mergeColumn: "loyalty_id", primaryColumn: "customer_id")
    }
  }

  @Test func writesLastKnownLocations() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]])
    var batch = LocalBatch()
    batch.rows = IdentityRows(locations: [
      LastKnownLocation(device: "d-1", recipientId: loser, address: "1 Main St", at: now),
      LastKnownLocation(device: "d-2", recipientId: "", address: "2 Main St", at: now),
    ])
    try bench.store.commit(batch, run: bench.run)
    #expect(try bench.reconcile().locations == 1)
    #expect(bench.service.recipients[loser]?["Last Location Address"] == "1 Main St")
    // Nothing goes out for a device without an id; it waits.
    #expect(try bench.store.identities.pendingLocations().map(\.device) == ["d-2"])
  }

  @Test func preflightFindsWhatIsMissingBeforeAnyWrite() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]], settings: .fixture(audit: true))
    bench.service.change {
      $0.columns.remove("Merged Date")
      $0.tableColumns.remove("Create Date")
    }
    try bench.add(bench.check([("customer_id", "c-1")]))
    #expect(
      throws: ServiceSettingsError(problems: [
        "Recipient.mergedDateColumn: list 50001 has no column 'Merged Date'",
        "AuditRecord.createDateColumnName: table 50002 has no column 'Create Date'",
      ])
    ) { try bench.reconcile() }
    #expect(!bench.service.calls.contains { $0.isWrite })
    bench.service.change {
      $0.columns.insert("Merged Date")
      $0.tableColumns.insert("Create Date")
    }
    #expect(try bench.reconcile().figures.updated == 1)
  }

  @Test func aRecordWithAColumnThatTheListDoesNotHaveConcernsItsOwnDevice() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA], winner: ["Mobile User Id": userB]])
    try bench.add(
      bench.check([("customer_id", "c-1"), ("nowhere", "x")]),
      bench.check("d-2", recipient: winner, user: userB, [("customer_id", "c-2")]))
    let result = try bench.reconcile()
    #expect(result.failure == nil)
    #expect(result.figures.updated == 1 && result.figures.refused == 1)
    #expect(bench.service.recipients[winner]?["customer_id"] == "c-2")
    let plans = try bench.store.merges.plans().filter { $0.state == .refused }
    #expect(plans.map(\.device) == ["d-1"])
    #expect(plans.map(\.reason) == ["list 50001 has no column 'nowhere' for looking up the id"])
    // A later run goes on with everything else, and the record itself once the list has the column.
    #expect(try bench.reconcile().failure == nil)
    bench.service.change { $0.columns.insert("nowhere") }
    #expect(try bench.reconcile().figures.updated == 1)
    #expect(bench.service.recipients[loser]?["nowhere"] == "x")
  }

  @Test func noLastKnownLocationIsWrittenWhenLocationIsDisabled() throws {
    var settings = try IdentitySettings.fixture()
    settings.locations = nil
    let bench = try Bench([loser: ["Mobile User Id": userA]], settings: settings)
    bench.service.change { $0.columns.remove("Last Location Address") }
    var batch = LocalBatch()
    batch.rows = IdentityRows(locations: [
      LastKnownLocation(device: "d-1", recipientId: loser, address: "1 Main St", at: now)
    ])
    try bench.store.commit(batch, run: bench.run)
    #expect(try bench.reconcile().locations == 0)
    #expect(bench.service.recipients[loser]?["Last Location Address"] == nil)
  }

  @Test func aRefusedLookUpConcernsItsCheckOnly() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]])
    bench.service.change { state in
      state.before[1] = { $0.columns.remove("loyalty_id") }
    }
    try bench.add(bench.check([("loyalty_id", "y")]), bench.check("d-2", recipient: loser, [("customer_id", "c-2")]))
    let result = try bench.reconcile()
    #expect(result.failure == nil)
    #expect(try bench.store.merges.plans().first?.reason == "column does not exist")
  }
}
