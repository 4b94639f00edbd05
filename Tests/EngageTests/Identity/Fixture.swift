import BatchConfiguration
import BatchFoundation
import BatchStore
import EngageRules
import RecipientModel

@testable import Engage

let loser = "900000000101"
let winner = "900000000202"
let userA = "A1111111-0000-4000-8000-00000000000A"
let userB = "B2222222-0000-4000-8000-00000000000B"
/// 2026-01-31T10:00:00Z
let now = Instant(milliseconds: 1_769_853_600_000)
let nowText = "01/31/2026 10:00:00"

extension IdentitySettings {
  static func fixture(
    history: Bool = true, audit: Bool = false, _ change: (inout IdentitySettings) -> Void = { _ in }
  ) throws -> IdentitySettings {
    var all = Settings()
    all.general.listId = "50001"
    all.recipient.createsAnonymousUsers = true
    all.recipient.mobileUserIdColumn = "Mobile User Id"
    all.recipient.mergedRecipientIdColumn = "Merged Recipient Id"
    all.recipient.mergedDateColumn = "Merged Date"
    all.recipient.mergedDateFormat = try DatePattern("MM'/'dd'/'yyyy HH':'mm':'ss")
    all.recipient.marksMergesInDatabase = history
    all.recipient.longestMergeChain = 8
    all.recipient.bulkThreshold = 5000
    all.audit.isWritten = audit
    all.audit.tableId = "50002"
    all.audit.keyColumn = "Audit Record Id"
    all.audit.oldRecipientIdColumn = "Old Recipient Id"
    all.audit.newRecipientIdColumn = "New Recipient Id"
    all.audit.dateColumn = "Create Date"
    all.location.isEnabled = true
    all.location.addressColumn = "Last Location Address"
    all.location.timeColumn = "Last Location Address Time"
    all.location.dateFormat = try DatePattern("yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'SSS'Z'")
    all.upload.concurrency = 1
    var settings = IdentitySettings(all)
    change(&settings)
    return settings
  }
}

/// A store, a service and what joins them, for one test.
struct Bench {
  var store: EventStore
  var service: ModelService
  var settings: IdentitySettings
  var tries = 4
  var run: RunID

  init(
    _ recipients: [String: [String: String]] = [:], settings: IdentitySettings? = nil, service: ModelService? = nil,
    store: EventStore? = nil
  ) throws {
    self.store = try store ?? EventStore.temporary(format: .engage)
    self.service = service ?? ModelService(recipients)
    self.settings = try settings ?? .fixture()
    run = try self.store.runs.begin(job: "test", configurationDigest: "", started: now, asOf: now)
  }

  var reconciler: IdentityReconciler {
    IdentityReconciler(
      store: store, remote: service, settings: settings,
      retryPolicy: RetryPolicy(tries: tries, backoff: .none, pause: { _ in }), run: run, now: now)
  }

  func check(
    _ device: String = "d-1", at time: Int64 = 0, emission: Int64 = 5, recipient: String = loser, user: String = userA,
    _ ids: [(String, String)] = [("customer_id", "c-1")]
  ) -> IdentityCheck {
    IdentityCheck(
      device: device, timestamp: now + Milliseconds(time), emission: emission,
      ids: ids.map { ColumnValue($0.0, $0.1) }, mobileUserId: user, anonymousId: "",
      recipientId: recipient)
  }

  func check(_ ids: [(String, String)]) -> IdentityCheck { check("d-1", ids) }

  func add(_ checks: IdentityCheck...) throws {
    var batch = LocalBatch()
    batch.rows = IdentityRows(checks: checks)
    try store.commit(batch, run: run)
  }

  @discardableResult
  func reconcile() throws -> IdentityResult { try reconciler.reconcile() }

  func identity(_ device: String = "d-1") throws -> DeviceIdentity? { try store.identities.identity(of: device) }
}

extension Identities {
  /// Stores the people that devices record.
  func note(_ setups: [DeviceSetup], run: RunID = RunID(number: 0)) throws {
    try connection.writeTogether { try Self.insert(setups, run: run, into: $0) }
  }

  /// The current identity of a device; nil for a device without records.
  func identity(of device: String) throws -> DeviceIdentity? {
    try who { who in try who.spans(of: device).last.map { try who.identity(of: device, from: $0.start) } }
  }
}

/// Ends a run at a change of the store, counted from 1, before or after it; or as soon as the service says it was killed.
final class Killer: Sendable {
  private let count = Guarded(0)
  private let service: ModelService
  private let at: Int?
  private let point: KillPoint

  init(_ service: ModelService, at: Int? = nil, point: KillPoint = .beforeJournal) {
    self.service = service
    self.at = at
    self.point = point
  }

  /// Changes seen so far.
  var changes: Int { count.withLock { $0 } }

  var interruption: Kill {
    { [self] point in
      if service.isDead { throw Killed() }
      let number = count.withLock { count in
        if point == .beforeJournal { count += 1 }
        return count
      }
      if number == at, point == self.point { throw Killed() }
    }
  }
}

extension Backoff {
  static let none = Backoff(first: .zero, longest: .zero)
}
