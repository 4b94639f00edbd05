import BatchFoundation
import BatchSandbox
import BatchStore
import BatchWire
import EngageRules
import Glibc
import TestSupport

@testable import Engage

extension EngageSandboxOptions {
  static func identities(_ recipients: [Int64: [String: String]]) -> EngageSandboxOptions {
    var options = EngageSandboxOptions()
    options.organization.lists = [
      OrganizationSeed.Table(
        id: "50001",
        columns: [
          .init("customer_id"), .init("loyalty_id"), .init("Mobile User Id"), .init("Merged Recipient Id"),
          .init("Merged Date", .timestamp), .init("Last Location Address"), .init("Last Location Address Time"),
        ])
    ]
    options.organization.tables = [
      OrganizationSeed.Table(
        id: "50002",
        columns: [
          .init("Audit Record Id", isRequired: true), .init("Old Recipient Id", isRequired: true),
          .init("New Recipient Id", isRequired: true), .init("Create Date", .timestamp, isRequired: true),
        ], keyColumns: ["Audit Record Id"])
    ]
    options.organization.recipients = recipients.sorted { $0.key < $1.key }.map {
      OrganizationSeed.Recipient(id: $0.key, values: $0.value)
    }
    return options
  }
}

/// A clock that only pauses move.
final class PassingTime: Sendable {
  private let passed = Guarded(Milliseconds.zero)

  var milliseconds: Int64 { passed.withLock { $0.count } }
  var seconds: Double { Double(milliseconds) / 1000 }

  func pass(_ span: Milliseconds) { passed.withLock { $0 = $0 + span } }
}

/// A reconciler over the real client and the sandbox.
struct SandboxBench {
  var server: SandboxServer
  var store: EventStore
  var settings: IdentitySettings
  var run: RunID
  var tries = 8
  let database: ServiceDatabase
  let time = PassingTime()

  init(
    _ server: SandboxServer, store: EventStore? = nil, settings: IdentitySettings,
    patience: Outage.Patience = Outage.Patience(
      longest: Milliseconds(600_000), atStart: Milliseconds(30_000), backoff: .none)
  ) throws {
    self.server = server
    self.store = try store ?? EventStore.temporary(format: .engage)
    self.settings = settings
    run = try self.store.runs.begin(job: "test", configurationDigest: "", started: now, asOf: now)
    let time = time
    database = ServiceDatabase(
      service: try .of(server, totalSeconds: 5), list: "50001", patience: patience, concurrency: settings.concurrency,
      uptime: { time.seconds }, pause: { time.pass($0) })
  }

  var reconciler: IdentityReconciler {
    IdentityReconciler(
      store: store, remote: database, settings: settings,
      retryPolicy: RetryPolicy(tries: tries, backoff: .none, pause: { time.pass($0) }), run: run, now: now)
  }

  func add(_ checks: [IdentityCheck]) throws {
    var batch = LocalBatch()
    batch.rows = IdentityRows(checks: checks)
    try store.commit(batch, run: run)
  }

  /// Every recipient by id, without empty values.
  var recipients: [String: [String: String]] {
    var all: [String: [String: String]] = [:]
    for recipient in server.recipients(of: "50001") {
      var values: [String: String] = [:]
      for (name, value) in recipient.values { values[name.string] = value.string }
      all["\(recipient.id)"] = values
    }
    return all
  }

  var rows: [[String: String]] {
    server.rows(of: "50002").map { row in
      var values: [String: String] = [:]
      for (name, value) in row { values[name.string] = value.string }
      return values
    }
  }
}

func withSandbox<Value>(_ options: EngageSandboxOptions, _ body: (SandboxServer) throws -> Value) throws -> Value {
  let server = try SandboxServer.start(options)
  do {
    let value = try body(server)
    try server.stop()
    return value
  } catch {
    try server.stop()
    throw error
  }
}

func uptimeMilliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}

func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

extension EngageService {
  static func of(_ server: SandboxServer, totalSeconds: Double? = nil) throws -> EngageService {
    EngageService(
      address: try ServiceAddress(server.baseURL),
      paths: ServicePaths(
        oauth: "/oauth/token", xmlapi: "/XMLAPI", events: "/rest/events/submission", eventErrors: "/rest/events/errors"),
      credentials: Credentials(clientID: Secret("c"), clientSecret: Secret("s"), refreshToken: Secret("r")),
      http: HTTPClient(.test(totalSeconds: totalSeconds)), refreshMargin: 600)
  }
}
