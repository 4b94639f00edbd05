import BatchConfiguration
import BatchFoundation
import BatchStore
import EngageRules
import Glibc
import RecipientModel
import Testing

@testable import Engage

/// Devices with checks that meet at recipients in many ways.
struct Export {
  struct Outcome {
    var recipients: [String: [String: String]]
    var rows: [String: [String: String]]
    var devices: [DeviceIdentity?]
    /// Keys of the merges that were made and have an audit row, sorted.
    var merges: [String]
    /// Plans that wait for an operator and checks that are not finished, sorted.
    var waiting: [String]
    /// How many plans each scenario had.
    var scenarios: [MergeScenario: Int]
    var calls: Int
  }

  private let devices: Int
  private(set) var recipients: [String: [String: String]] = [:]
  private var checks: [(device: Int, time: Int64, ids: [(String, String)])] = []
  private var rule: KnownToKnownPolicy

  init(seed: UInt64, devices: Int = 8) {
    self.devices = devices
    let customers = devices / 2
    var random = SplitMix64(seed: seed)
    for number in 0..<devices { recipients["\(900_000_000_100 + number)"] = ["Mobile User Id": "user-\(number)"] }
    // Customers who can be found by either column.
    for number in 0..<customers {
      recipients["\(900_000_000_100 + max(400, devices) + number)"] = [
        "customer_id": "c-\(number)", "loyalty_id": "y-\(number)",
      ]
    }
    for _ in 0..<devices * 5 / 2 {
      let column = Int.random(in: 0..<2, using: &random) == 0 ? ("customer_id", "c-") : ("loyalty_id", "y-")
      checks.append(
        (
          Int.random(in: 0..<devices, using: &random), Int64(Int.random(in: 0..<6, using: &random)),
          [(column.0, "\(column.1)\(Int.random(in: 0..<customers * 3 / 2, using: &random))")]
        ))
    }
    rule = KnownToKnownPolicy.allCases.filter { $0 != .hold }[Int.random(in: 0..<2, using: &random)]
  }

  func outcome(lanes: Int, delays: UInt64, kills: [Int]) throws -> Outcome {
    let pauses = Pauses(seed: delays)
    let delay: @Sendable (ModelService.Call) -> Void = { _ in pauses.rest() }
    let service = ModelService(recipients, delay: delays == 0 ? nil : delay)
    let bench = try Bench(settings: settings(lanes: lanes), service: service)
    try fill(bench)
    for kill in kills {
      service.restart([kill: kill.isMultiple(of: 2) ? Injection.crashBefore : Injection.crashAfter])
      var reconciler = bench.reconciler
      reconciler.interruption = Killer(service).interruption
      do {
        _ = try reconciler.reconcile()
      } catch is Killed {}
    }
    service.restart()
    let result = try bench.reconcile()
    #expect(result.failure == nil)
    return try outcome(bench)
  }

  func settings(lanes: Int) throws -> IdentitySettings {
    try .fixture(audit: true) { settings in
      settings.concurrency = lanes
      settings.recipient.knownToKnown = rule
    }
  }

  /// Stores everything that the identities follow from.
  func fill(_ bench: Bench) throws {
    for (number, check) in checks.enumerated() {
      try bench.add(
        bench.check(
          "d-\(check.device)", at: check.time, emission: Int64(number), recipient: "\(900_000_000_100 + check.device)",
          user: "user-\(check.device)", check.ids))
    }
    try bench.store.identities.note(
      (0..<3).map {
        DeviceSetup(
          device: "n-\($0)", firstSeen: now + Milliseconds($0), mobileUserId: "new-\($0)", recipientId: "")
      })
    var batch = LocalBatch()
    batch.rows = IdentityRows(
      locations: (0..<devices).map {
        LastKnownLocation(
          device: "d-\($0)", recipientId: "", address: "at \($0)", at: now + Milliseconds(Int64($0 * 7 % 5)))
      })
    try bench.store.commit(batch, run: bench.run)
  }

  func outcome(_ bench: Bench) throws -> Outcome {
    let plans = try bench.store.merges.plans()
    let merges = plans.filter { $0.state == .done && $0.index(of: .audit) != nil }
    // The second device of a recipient merges nothing.
    #expect(Set(merges.map { "\($0.loser) \($0.winner)" }).count == merges.count)
    return Outcome(
      recipients: bench.service.recipients, rows: bench.service.rows,
      devices: try ((0..<devices).map { "d-\($0)" } + (0..<3).map { "n-\($0)" }).map {
        try bench.identity($0)
      },
      merges: merges.map(\.key).sorted(),
      waiting: plans.filter { !$0.state.isEnded }.map { "\($0.device): \($0.reason)" }.sorted()
        + ["\(try bench.store.identities.pendingCheckCount()) checks"],
      scenarios: Dictionary(grouping: plans, by: \.scenario).mapValues(\.count), calls: bench.service.calls.count)
  }
}

/// How long answers take.
private final class Pauses: Sendable {
  private let random: Guarded<SplitMix64>

  init(seed: UInt64) { random = Guarded(SplitMix64(seed: seed)) }

  func rest() { usleep(random.withLock { UInt32.random(in: 0..<400, using: &$0) }) }
}
