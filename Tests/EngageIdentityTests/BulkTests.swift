import EngageAPI
import EngageHTTP
import EngageModel
import EngageSandbox
import EngageStore
import Testing

@testable import EngageIdentity

@Suite(.serialized) struct BulkTests {
  @Test func readsAndWritesSeparatedRows() {
    var rows = SeparatedRows()
    var read: [[String]] = []
    let text = "a,\"b \"\"c\"\", d\",\r\n\"\",x\n\n\"line\nbreak\",é"
    // One byte at a time, as pieces of a file may be cut anywhere.
    for byte in text.utf8 { rows.read([byte]) { read.append($0) } }
    rows.finish { read.append($0) }
    #expect(read == [["a", "b \"c\", d", ""], ["", "x"], ["line\nbreak", "é"]])
    #expect(SeparatedRows.line(["a\"b", ""]) == "\"a\"\"b\",\"\"\n")
  }

  private func end(bulk: Bool) throws -> (recipients: [[String: String]], figures: IdentityFigures, selects: Int) {
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
          ids: [IdentityColumn(name: "customer_id", value: customer)], mobileUserId: "", anonymousId: "",
          recipientId: ""))
    }
    var options = SandboxOptions.identities(seed)
    options.filesFolder = folder
    return try withSandbox(options) { server in
      var bench = try SandboxBench(
        server,
        settings: .fixture(audit: true) {
          $0.concurrency = 4
          $0.bulkThreshold = bulk ? 10 : 5000
        })
      bench.tries = 4
      try bench.store.note(setups)
      try bench.add(checks)
      var reconciler = bench.reconciler
      let service = EngageService(
        address: try ServiceAddress(server.baseURL),
        credentials: Credentials(clientID: Secret("c"), clientSecret: Secret("s"), refreshToken: Secret("r")),
        http: HTTPClient())
      reconciler.transfer = ListTransfer(
        service: service, list: "50001", folder: TransferFolder(path: folder), pause: { _ in })
      let result = try reconciler.reconcile()
      #expect(result.failure == nil)
      #expect(try bench.store.pendingCheckCount() == 0)
      // New ids depend on which thread comes first, so recipients are compared by who they are.
      let names = bench.recipients.mapValues { $0["Mobile User Id"] ?? $0["customer_id"] ?? "" }
      let recipients = bench.recipients.values.map { values in
        var values = values
        if let winner = values["Merged Recipient Id"] { values["Merged Recipient Id"] = names[winner] ?? winner }
        return values
      }
      let sorted = recipients.sorted { "\($0.sorted { $0.key < $1.key })" < "\($1.sorted { $0.key < $1.key })" }
      return (sorted, result.figures, server.totals.operations["SelectRecipientData"] ?? 0)
    }
  }

  @Test func whatAnAddFindsKeepsItsOtherColumns() throws {
    let mobile = IdentityColumn(name: "Mobile User Id", value: "u-1")
    let customer = IdentityColumn(name: "customer_id", value: "c-1")
    let service = ModelService([loser: ["Mobile User Id": "u-1", "customer_id": "c-1"]])
    service.change { $0.addsOnlyUnknown = true }
    let index = IndexedDatabase(service, searched: [.init(mobile), .init(customer)])
    index.take(loser, [mobile, customer])
    #expect(try index.add([mobile]) == loser)
    #expect(try index.find([customer])?.id == loser)
    #expect(service.calls.map(\.operation) == ["AddRecipient"])
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
    #expect(throws: LinkError.noPrimary) {
      try bench.reconciler.link(
        anonymous: loser, primary: "c-9", mergeColumn: "loyalty_id", primaryColumn: "customer_id")
    }
  }

  @Test func writesLastKnownLocations() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]])
    var batch = LocalBatch()
    batch.locations = [
      LastKnownLocation(device: "d-1", mobileUserId: userA, recipientId: loser, address: "1 Main St", at: now),
      LastKnownLocation(device: "d-2", mobileUserId: "", recipientId: "", address: "2 Main St", at: now),
    ]
    try bench.store.commit(batch, run: bench.run)
    #expect(try bench.reconcile().figures.locations == 1)
    #expect(bench.service.recipients[loser]?["Last Location Address"] == "1 Main St")
    // Nothing goes out for a device without an id; it waits.
    #expect(try bench.store.pendingLocations().map(\.device) == ["d-2"])
  }

  @Test func preflightFindsWhatIsMissingBeforeAnyWrite() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]], settings: .fixture(audit: true))
    bench.service.change {
      $0.columns.remove("Merged Date")
      $0.tableColumns.remove("Create Date")
    }
    try bench.add(bench.check([("customer_id", "c-1"), ("nowhere", "x")]))
    #expect(
      throws: IdentityConfigurationError(problems: [
        "Recipient.mergedDateColumn: list 50001 has no column 'Merged Date'",
        "an identify record: list 50001 has no column 'nowhere'",
        "AuditRecord.createDateColumnName: list 50002 has no column 'Create Date'",
      ])
    ) { try bench.reconcile() }
    #expect(!bench.service.calls.contains { $0.isWrite })
    // A service that takes the look-up all the same is believed.
    bench.service.change {
      $0.columns = ["Mobile User Id", "Merged Recipient Id", "Merged Date", "customer_id", "nowhere"]
    }
    bench.service.change { $0.tableColumns.insert("Create Date") }
    #expect(try bench.reconcile().figures.updated == 1)
  }

  @Test func aRefusedLookUpHoldsItsCheckOnly() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]])
    bench.service.change { state in
      state.before[1] = { $0.columns.remove("loyalty_id") }
    }
    try bench.add(bench.check([("loyalty_id", "y")]), bench.check("d-2", recipient: loser, [("customer_id", "c-2")]))
    let result = try bench.reconcile()
    #expect(result.failure == nil)
    #expect(try bench.store.plans().first?.reason == "the look-up was refused with fault 1007")
  }
}
