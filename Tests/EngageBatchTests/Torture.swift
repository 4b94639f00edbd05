import BatchFoundation
import BatchSandbox
import BatchStore
import FoundationEssentials
import Glibc
import TestSupport

/// Runs over one store that are killed again and again, against a server that does everything wrong now and then.
///
/// Before each kill a further file of recorded events appears, so that every run has something to read, to keep and to send.
struct Torture {
  enum OnUnknown: String, Sendable, CaseIterable { case resend, hold }

  var seed: UInt64
  /// Events in all, about.
  var events: Int
  /// Bytes that each event carries for nothing, so that the later runs read too much for one partition.
  var padding = 0
  /// Kills at any instant.
  var randomKills: Int
  /// How often a point is passed before the kill at it.
  var occurrences: [Int]
  var onUnknown: OnUnknown
  /// `General.eventCodes`.
  var codes = "engage-sdk"

  /// What was to be, and what came of it.
  struct Outcome {
    /// Events that an undisturbed reading of the same files gives.
    var expected = 0
    /// The store's counts by status at the end.
    var store: [String: Int] = [:]
    /// How often the server took each event.
    var applied: [String: Int] = [:]
    /// Requests with one body that the server carried out more than once.
    var doubles: [String] = []
    var randomKills = 0
    /// Points, with how often they were passed, at which a run really died.
    var aimedKills: Set<String> = []
    var runs = 0
    var faults = 0
    var violations: [String: Int] = [:]
    /// The exit code of the last run, and what it said.
    var lastCode: Int32 = 0
    var lastMessages = ""
    /// Exit codes of runs that were neither killed nor ended as runs against such a server may.
    var unexpected: [String] = []
    /// Runs that ended because the service refused a request with a new token as well.
    var credentialsRefused = 0
    /// Requests that were refused that way twice in a row, the first time to renew the token.
    var refusedTwice = 0
  }

  private enum Kill {
    case after(microseconds: UInt32)
    case at(String)
  }

  func run() throws -> Outcome {
    var random = SplitMix64(seed: seed)
    let workspace = try Workspace([])
    let service = try Service(sandbox, events: .attribute("serial"))
    try workspace.write("job.json", job)
    var outcome = Outcome()
    var serial = 0
    let plan = kills(&random)
    let share = events / (plan.count + 1) + 1
    for (number, kill) in plan.enumerated() {
      try workspace.write("in/\(number).ndjson", part(number, share, &serial, &random))
      outcome.runs += 1
      switch kill {
      case .after(let microseconds):
        let running = try workspace.start(["run", "job.json"], environment: service.environment)
        usleep(microseconds)
        running.signal(SIGKILL)
        let finished = running.finish()
        if finished.code == 128 + SIGKILL { outcome.randomKills += 1 } else { note(finished, &outcome) }
      case .at(let point):
        let aim = service.environment.merging(["ENGAGE_CRASH_AT": point]) { $1 }
        let finished = try workspace.run("run", "job.json", environment: aim)
        if finished.code == 128 + SIGKILL { outcome.aimedKills.insert(point) } else { note(finished, &outcome) }
      }
    }
    try workspace.write("in/last.ndjson", part(plan.count, share, &serial, &random))
    try finish(workspace, service, &outcome)
    outcome.expected = try reading(workspace)
    outcome.applied = service.server.appliedEvents
    outcome.doubles = Self.doubles(service.server.ledger)
    outcome.refusedTwice = Self.refusedTwice(service.server.ledger)
    outcome.faults = service.server.totals.faults
    outcome.violations = service.server.totals.violations
    return outcome
  }

  /// Undisturbed runs until nothing waits any more.
  private func finish(_ workspace: Workspace, _ service: Service, _ outcome: inout Outcome) throws {
    for _ in 0..<40 {
      let finished = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
      outcome.runs += 1
      outcome.lastCode = finished.code
      outcome.lastMessages = finished.messages
      note(finished, &outcome)
      guard let summary = try? Summary(finished.output) else { continue }
      outcome.store = [:]
      for member in summary.document["store"]?.members ?? [] {
        outcome.store[member.key] = member.value.integer.map { Int($0) }
      }
      if ["NOT_POSTED", "PROCESSING", "EXPIRED", "HOLD"].allSatisfy({ outcome.store[$0, default: 0] == 0 }) { return }
    }
  }

  private static func doubles(_ ledger: [LedgerEntry]) -> [String] {
    let applied = ledger.filter { $0.applied && $0.events > 0 }
    return Dictionary(grouping: applied) { $0.bodyDigest ?? "" }.filter { $1.count > 1 }.sorted { $0.key < $1.key }
      .map { digest, entries in
        let tries = ledger.filter { $0.bodyDigest == digest }.map { entry in
          "\(entry.sequence) on \(entry.connection).\(entry.nthOnConnection): \(entry.applied ? "applied" : "not applied"), "
            + "\(entry.status.map { "\($0)" } ?? "no answer"), \(entry.fault ?? "no fault")"
        }
        return "\(entries[0].events) events: \(tries.joined(separator: "; "))"
      }
  }

  private static func refusedTwice(_ ledger: [LedgerEntry]) -> Int {
    let statuses = Dictionary(grouping: ledger.filter { $0.bodyDigest != nil }) { $0.bodyDigest ?? "" }.values
      .map { $0.sorted { $0.sequence < $1.sequence }.map(\.status) }
    return statuses.reduce(0) { sum, tries in sum + zip(tries, tries.dropFirst()).count { $0 == 401 && $1 == 401 } }
  }

  /// How many events a reading of all files into nothing gives.
  private func reading(_ workspace: Workspace) throws -> Int {
    let finished = try workspace.run(
      "run", "job.json", "--dry-run", "--store", "none.sqlite", "--events-out", "-")
    return finished.lines.count
  }

  private func note(_ finished: Finished, _ outcome: inout Outcome) {
    if finished.code == 77, finished.messages.contains("401") {
      outcome.credentialsRefused += 1
    } else if ![0, 69, 76].contains(finished.code) {
      outcome.unexpected.append("\(finished.code): \(finished.messages)")
    }
  }

  // MARK: - What is done to whom

  private func kills(_ random: inout SplitMix64) -> [Kill] {
    var kills = (0..<randomKills).map { _ in Kill.after(microseconds: UInt32(random.below(longestLife))) }
    kills += CrashPoint.allCases.flatMap { point in occurrences.map { Kill.at("\(point.rawValue):\($0)") } }
    for index in kills.indices.reversed() { kills.swapAt(index, random.below(index + 1)) }
    return kills
  }

  /// Microseconds after which most runs are still at work: start-up, and what a file's events take.
  private var longestLife: Int { 60_000 + events / (randomKills + CrashPoint.allCases.count * occurrences.count) * 700 }

  private var job: String {
    """
    {"name": "torture", "inputs": {"events": ["in/*"]}, "asOf": "2026-02-01T00:00:00Z", "store": "store.sqlite",
     "settings": {"General": {"eventCodes": "\(codes)"},
                  "Upload": {"maxEventsPerRequest": 10, "concurrency": 4, "onUnknown": "\(onUnknown.rawValue)"},
                  "Networking": {"retryDelay": "0s", "maxRetryDelay": "0s", "retryBudget": 100000},
                  "Connection": {"totalTimeout": "2s"}}}
    """
  }

  /// Devices of their own for each file, with sessions around their events and every event with a number.
  private func part(_ number: Int, _ count: Int, _ serial: inout Int, _ random: inout SplitMix64) -> String {
    var text = ""
    let filler = String(repeating: "p", count: padding)
    for event in 0..<count {
      serial += 1
      let device = "T-\(number)-\(event / 40)"
      let time = Recording.start + Int64(event * 30_000 + random.below(30_000))
      text += "{\"deviceId\":\"\(device)\",\"timestamp\":\(time),\"type\":\"namedEvent\",\"name\":\"n\","
      text += "\"mobileUserId\":\"M-\(device)\",\"params\":{\"serial\":\"\(serial)\",\"pad\":\"\(filler)\"}}\n"
    }
    return text
  }

  /// One request in ten goes wrong, in every way that the sandbox knows but two, which no client can tell: 200 with an empty body for a
  /// submission that was not carried out, which is what the service says when it was (reference identity 6.1), and 500 for one that
  /// was, with which it says that it was not (reference guarantees 2.1).
  private var sandbox: EngageSandboxOptions {
    let undone: [FaultAction] = [
      .status(500, headers: [:], body: ""), .status(503, headers: ["Retry-After": "0"], body: ""),
      .status(429, headers: [:], body: "slow down"), .status(408, headers: [:], body: ""), .garbage(status: 502),
      .redirect(status: 307, location: "/elsewhere"), .truncate(bytes: 20), .huge(bytes: 2 << 20), .close, .reset,
      .stall(seconds: 0.1), .expireToken, .delay(milliseconds: 30),
    ]
    let early: [FaultAction] = [.close, .reset, .stall(seconds: 0.1), .status(503, headers: [:], body: "")]
    let done: [FaultAction] = [
      .close, .reset, .stall(seconds: 0.1), .truncate(bytes: 20), .garbage(status: 502), .empty,
      .status(504, headers: [:], body: ""),
    ]
    var ways: [(FaultPoint, FaultAction)] = undone.map { (.body, $0) }
    ways += early.map { (.headers, $0) }
    ways += [(.halfBody, .close), (.halfBody, .reset)]
    ways += done.map { (.applied, $0) }
    ways += [(.response, .close), (.response, .reset), (.response, .truncate(bytes: 1))]
    var options = EngageSandboxOptions()
    options.server.faults.seed = seed
    options.server.faults.latencyMilliseconds = 4
    // Right behind each answer, while the next request may be on its way, or a little later.
    options.server.faults.idleCloseMilliseconds = Int64(seed % 3)
    options.server.faults.rules = ways.map { point, action in
      FaultRule(
        endpoint: .events, occurrence: .probability(0.1 / Double(ways.count)), point: point, action: action)
    }
    options.server.faults.rules += [
      // An outage, and a time in which everything is refused as wrong.
      FaultRule(endpoint: .events, occurrence: .span(60...90), action: .status(503, headers: [:], body: "")),
      FaultRule(
        endpoint: .events, occurrence: .span(120...150), action: .status(400, headers: [:], body: "no such tenant")),
      FaultRule(occurrence: .probability(0.02), point: .accept, action: .reset),
      FaultRule(endpoint: .token, occurrence: .probability(0.05), action: .status(503, headers: [:], body: "")),
      FaultRule(endpoint: .token, occurrence: .probability(0.05), point: .applied, action: .close),
    ]
    return options
  }
}
