import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import EngageRules
import Glibc
import RecipientModel
import TestSupport
import Testing

@testable import Engage

/// What becomes of the recipients follows from the records, not from which thread or which answer was faster.
@Suite struct OrderTests {
  /// Found by a check from outside: eight runs had eight outcomes.
  @Test func twoDevicesThatReachOneRecipientByDifferentColumnsComeInTheOrderOfTheirRecords() throws {
    for lanes in [1, 2, 8] {
      for slow in ["customer_id", "loyalty_id"] {
        let third = "900000000303"
        let service = ModelService(
          [
            loser: ["Mobile User Id": userA], third: ["Mobile User Id": userB],
            winner: ["customer_id": "c-1", "loyalty_id": "y-1"],
          ], delay: { if $0.columns[slow] != nil { usleep(20_000) } })
        let bench = try Bench(settings: .fixture { $0.concurrency = lanes }, service: service)
        try bench.add(
          bench.check("d-1", at: 0), bench.check("d-2", at: 1, recipient: third, user: userB, [("loyalty_id", "y-1")]))
        #expect(try bench.reconcile().figures.merged == 2)
        #expect(
          service.recipients[winner] == ["customer_id": "c-1", "loyalty_id": "y-1", "Mobile User Id": userA],
          "\(lanes) lanes, slow \(slow)")
        #expect(service.recipients[third]?["Mobile User Id"] == userB)
        #expect(try bench.identity("d-2") == DeviceIdentity(recipientId: winner, mobileUserId: userA))
      }
    }
  }

  @Test(
    "A check that a broken chain of merges holds does not hold its recipient before earlier checks", arguments: [1, 8])
  func brokenChain(lanes: Int) throws {
    let service = ModelService(
      [
        loser: ["Mobile User Id": userA], winner: ["Mobile User Id": userB, "customer_id": "c-1"],
        "900000000303": ["loyalty_id": "y-1", "Merged Recipient Id": "900000000999"],
      ], delay: { if $0.columns["customer_id"] != nil { usleep(50_000) } })
    let bench = try Bench(settings: .fixture { $0.concurrency = lanes }, service: service)
    // Devices that are set up do not wait for their turn with that.
    try bench.add(bench.check("d-1", at: 0, []), bench.check("d-2", at: 0, recipient: winner, user: userB, []))
    try bench.reconcile()
    try bench.add(
      bench.check("d-1", at: 1), bench.check("d-2", at: 2, recipient: winner, user: userB, [("loyalty_id", "y-1")]))
    let result = try bench.reconcile()
    #expect(result.figures.merged == 1)
    #expect(result.figures.conflicts == 1)
    #expect(service.recipients[loser]?["Merged Recipient Id"] == winner)
    let held = try bench.store.merges.openPlans()
    #expect(held.map(\.device) == ["d-2"])
    #expect(held.map(\.reason) == ["the chain of earlier merges ends at a recipient that is gone"])
  }

  @Test func lanesDelaysAndKillsLeaveOneRecipientDatabase() throws {
    var outcomes = 0
    for seed in Sweep.cases(UInt64(1)...12, short: 3) {
      let export = Export(seed: seed)
      let expected = try export.outcome(lanes: 1, delays: 0, kills: [])
      for lanes in [2, 3, 8] {
        var random = SplitMix64(seed: seed &* 31 &+ UInt64(lanes))
        let calls = expected.calls
        let killed: [[Int]] = (0...2).map { count in
          (0..<count).map { _ in Int.random(in: 1...calls, using: &random) }
        }
        for kills in killed {
          let outcome = try export.outcome(lanes: lanes, delays: random.next(), kills: kills)
          #expect(outcome.recipients == expected.recipients, "seed \(seed), \(lanes) lanes, killed at \(kills)")
          #expect(outcome.rows == expected.rows, "seed \(seed), \(lanes) lanes, killed at \(kills)")
          #expect(outcome.devices == expected.devices, "seed \(seed), \(lanes) lanes, killed at \(kills)")
          #expect(outcome.merges == outcome.rows.keys.sorted(), "seed \(seed), \(lanes) lanes, killed at \(kills)")
          outcomes += 1
        }
      }
    }
    #expect(outcomes == (Sweep.isFull ? 108 : 27))
  }

  @Test(
    "Of 500 devices whose ids are set, move over and are merged, eight lanes make what one lane makes",
    arguments: Sweep.cases([4, 1, 2, 3], short: 1) as [UInt64])
  func manyDevices(seed: UInt64) throws {
    let export = Export(seed: seed, devices: 500)
    let expected = try export.outcome(lanes: 1, delays: 0, kills: [])
    for scenario in [MergeScenario.setIds, .moveMobileUserId, .markMerged] {
      #expect(expected.scenarios[scenario, default: 0] > 0, "\(scenario)")
    }
    let outcome = try export.outcome(lanes: 8, delays: seed, kills: [])
    #expect(outcome.recipients == expected.recipients)
    #expect(outcome.rows == expected.rows)
    #expect(outcome.devices == expected.devices)
    #expect(outcome.merges == expected.merges)
    #expect(outcome.waiting == expected.waiting)
    #expect(outcome.scenarios == expected.scenarios)
  }

  /// A few are numbered in order by one call at a time; of many as many calls are under way as lanes, but in a sandbox.
  @Test(arguments: [(50, false), (51, false), (300, false), (300, true)])
  func recipientsOfSetUpsAreNumberedAsTheirDevicesWereFirstSeen(count: Int, isSandbox: Bool) throws {
    let calls = Guarded((open: [String: Int](), most: [String: Int]()))
    let service = ModelService(
      delay: { call in
        calls.withLock { calls in
          calls.open[call.operation, default: 0] += 1
          calls.most[call.operation] = max(
            calls.most[call.operation, default: 0], calls.open[call.operation, default: 0])
        }
        // As if a device in five were far away.
        usleep(call.columns.values.contains { $0.utf8.last.map { $0 % 5 == 0 } ?? false } ? 3_000 : 300)
        calls.withLock { $0.open[call.operation, default: 0] -= 1 }
      })
    let bench = try Bench(settings: .fixture { $0.concurrency = 4 }, service: service)
    let devices = (0..<count).map {
      DeviceSetup(device: "d-\($0)", firstSeen: now + Milliseconds(Int64($0)), mobileUserId: "", recipientId: "")
    }
    try bench.store.identities.note(devices)
    var reconciler = bench.reconciler
    reconciler.isSandbox = isSandbox
    #expect(try reconciler.reconcile().figures.created == count)
    let isInOrder = isSandbox || count <= 50
    let recipients = try devices.map { try #require(Int(bench.identity($0.device)?.recipientId ?? "")) }
    if isInOrder { #expect(recipients == recipients.sorted()) }
    #expect(Set(recipients).count == count)
    let most = calls.withLock { $0.most }
    #expect((most["AddRecipient", default: 0] == 1) == isInOrder)
    #expect(most["SelectRecipientData", default: 0] > 1)
  }

  /// A service may take ids that differ in the case of letters for one.
  @Test func oneCallIsMadeForAPersonAtATime() throws {
    let calls = Guarded((open: [String: Int](), most: 0, atOnce: 0))
    let service = ModelService(
      delay: { call in
        guard let user = call.columns["Mobile User Id"]?.lowercased() else { return }
        calls.withLock { calls in
          calls.open[user, default: 0] += 1
          calls.most = max(calls.most, calls.open[user] ?? 0)
          calls.atOnce = max(calls.atOnce, calls.open.values.reduce(0, +))
        }
        usleep(2_000)
        calls.withLock { $0.open[user, default: 0] -= 1 }
      })
    let bench = try Bench(settings: .fixture { $0.concurrency = 4 }, service: service)
    try bench.store.identities.note(
      (0..<120).map {
        DeviceSetup(
          device: "d-\($0)", firstSeen: now + Milliseconds(Int64($0)),
          mobileUserId: "\($0 % 3 == 0 ? "User" : "USER")-\($0 / 3)", recipientId: "")
      })
    try bench.reconcile()
    #expect(calls.withLock { $0.most } == 1)
    #expect(calls.withLock { $0.atOnce } > 1)
  }

  /// Found by a check from outside: a first failing set-up created none of eight.
  @Test func aDeviceWhoseSetUpKeepsFailingWaitsAndAllOthersGoOn() throws {
    let bench = try Bench()
    try bench.store.identities.note(
      (0..<8).map {
        DeviceSetup(device: "d-\($0)", firstSeen: now + Milliseconds($0), mobileUserId: "user-\($0)", recipientId: "")
      })
    try bench.add(bench.check("d-0", at: 9, recipient: "", user: "user-0"))
    bench.service.change { $0.fails = { $0.operation == "AddRecipient" && $0.columns["Mobile User Id"] == "user-0" } }
    let result = try bench.reconcile()
    #expect(result.figures.created == 7)
    #expect(result.failure == .uncertain("fault 50"))
    #expect(result.postponed == [PostponedDevice(device: "d-0", check: nil, failure: .uncertain("fault 50"))])
    #expect(result.figures.checks == 0)
    #expect(try bench.store.identities.devicesWithoutIdentity() == ["d-0"])
    // The next run makes up for it.
    bench.service.change { $0.fails = nil }
    let second = try bench.reconcile()
    #expect(second.failure == nil)
    #expect(second.postponed.isEmpty)
    #expect(second.figures.created == 1)
    #expect(second.figures.updated == 1)
    #expect(try bench.store.identities.devicesWithoutIdentity().isEmpty)
  }

  @Test func aDeviceWhoseCheckKeepsFailingWaitsWithWhatComesAfterIt() throws {
    let (third, fourth) = ("900000000303", "900000000404")
    let bench = try Bench(
      [
        loser: ["Mobile User Id": userA], winner: ["Mobile User Id": userB], third: ["Mobile User Id": "C3"],
        fourth: ["Mobile User Id": "D4"],
      ], settings: .fixture { $0.concurrency = 4 })
    try bench.add(
      bench.check("d-1", at: 0, [("customer_id", "c-1")]),
      // Shares an id with the one that fails.
      bench.check("d-2", at: 1, recipient: winner, user: userB, [("customer_id", "c-1"), ("loyalty_id", "y-2")]),
      // Shares one with the second.
      bench.check("d-3", at: 2, recipient: third, user: "C3", [("loyalty_id", "y-2")]),
      bench.check("d-4", at: 3, recipient: fourth, user: "D4", [("customer_id", "c-4")]))
    bench.service.change { $0.fails = { $0.columns == ["customer_id": "c-1"] } }
    let result = try bench.reconcile()
    #expect(
      result.postponed == [
        PostponedDevice(device: "d-1", check: 1, failure: .uncertain("fault 50")),
        PostponedDevice(device: "d-2", check: 2, failure: nil),
        PostponedDevice(device: "d-3", check: 3, failure: nil),
      ])
    #expect(bench.service.recipients[fourth] == ["Mobile User Id": "D4", "customer_id": "c-4"])
    #expect(bench.service.recipients[third] == ["Mobile User Id": "C3"])
    bench.service.change { $0.fails = nil }
    #expect(try bench.reconcile().postponed.isEmpty)
    #expect(bench.service.recipients[loser]?["customer_id"] == "c-1")
    #expect(bench.service.recipients[winner]?["loyalty_id"] == "y-2")
  }

  @Test func differentDevicesThatFailOneAfterTheOtherEndTheWork() throws {
    let bench = try Bench()
    try bench.store.identities.note(
      (0..<8).map {
        DeviceSetup(device: "d-\($0)", firstSeen: now + Milliseconds($0), mobileUserId: "user-\($0)", recipientId: "")
      })
    bench.service.change { $0.fails = { $0.operation == "AddRecipient" } }
    let result = try bench.reconcile()
    #expect(result.failure == .uncertain("fault 50"))
    #expect(result.postponed.map(\.device) == ["d-0", "d-1", "d-2"])
    #expect(bench.service.calls.count { $0.operation == "AddRecipient" } == 3 * bench.tries)
  }

  @Test func theNewestPlaceOfTheDevicesOfARecipientIsTheOneThatIsWritten() throws {
    let format = try DatePattern("yyyy'-'MM'-'dd HH':'mm")
    for order in [["d-1", "d-2", "d-3"], ["d-3", "d-2", "d-1"]] {
      let bench = try Bench(
        [loser: ["Mobile User Id": userA]], settings: .fixture { $0.locations?.dateFormat = format })
      var batch = LocalBatch()
      batch.rows = IdentityRows(
        locations: order.map { device in
          LastKnownLocation(
            device: device, recipientId: loser, address: "at \(device)",
            at: now + Milliseconds(device == "d-2" ? 60_000 : 0))
        })
      try bench.store.commit(batch, run: bench.run)
      #expect(try bench.reconcile().locations == 1)
      #expect(
        bench.service.recipients[loser] == [
          "Mobile User Id": userA, "Last Location Address": "at d-2", "Last Location Address Time": "2026-01-31 10:01",
        ])
      #expect(try bench.store.identities.pendingLocations().isEmpty)
    }
  }

  /// The later run reads an older export, or another device that was offline.
  @Test func anOlderPlaceThatComesInALaterRunIsNotWritten() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]])
    func arrive(_ device: String, at time: Int64) throws -> Int {
      var batch = LocalBatch()
      batch.rows = IdentityRows(
        locations: [
          LastKnownLocation(
            device: device, recipientId: loser, address: "at \(device)", at: now + Milliseconds(time))
        ])
      try bench.store.commit(batch, run: bench.run)
      let written = try bench.reconcile().locations
      #expect(try bench.store.identities.pendingLocations().isEmpty)
      return written
    }
    #expect(try arrive("d-2", at: 60_000) == 1)
    #expect(try arrive("d-3", at: 59_999) == 0)
    // Of two of one instant the device with the greater name counts.
    #expect(try arrive("d-1", at: 60_000) == 0)
    #expect(bench.service.recipients[loser]?["Last Location Address"] == "at d-2")
    #expect(try arrive("d-3", at: 60_000) == 1)
    #expect(bench.service.recipients[loser]?["Last Location Address"] == "at d-3")
  }
}
