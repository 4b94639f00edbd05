import BatchFoundation
import BatchSandbox
import BatchStore
import Dispatch
import Engage
import Glibc
import TestSupport

/// Identity checks of all scenarios, and their undoing, by programs that are killed again and again at their calls to a server
/// with faults.
struct IdentityTorture {
  var seed: UInt64
  var checks: Int
  /// Each program is killed within so many calls, if it makes that many.
  var longestLife: Int
  var variant = Variant.marks

  enum Variant: String, CaseIterable {
    /// Merges are marked on the recipient that loses.
    case marks
    case noMarks
    /// As `marks`; every run looks at an exported list first, which ends too early each time.
    case cutExports
  }

  /// What the service has at an end.
  struct Image: Equatable {
    /// One line each, sorted.
    var recipients: [String]
    var auditRows: [String]

    init(of service: Service) {
      func line(_ values: [ByteText: ByteText]) -> String {
        values.map { "\($0.key.string)=\($0.value.string)" }.sortedByBytes.joined(separator: " ")
      }
      recipients = service.server.recipients(of: "100001").map { "\($0.id): \(line($0.values))" }
      auditRows = service.server.rows(of: "50002").map(line).sortedByBytes
    }
  }

  struct Outcome {
    var merged: Image
    var undone: Image
    /// What the service was sent of the devices, each event once.
    var events: [String] = []
    /// Merges that the store calls done before they were undone.
    var merges = 0
    /// Whether a run said that an exported list cannot be trusted; one that is killed says nothing.
    var hasToldOfExport = false
    var runs = 0
    var kills: [FaultPoint: Int] = [:]
    var faults = 0
    var violations: [String: Int] = [:]
    /// Ends that were neither a kill nor one that such a server may cause.
    var unexpected: [String] = []

    fileprivate init(_ image: Image) {
      merged = image
      undone = image
    }
  }

  /// - Parameter disturbed: false for the run to compare with.
  func run(disturbed: Bool) throws -> Outcome {
    let aim = Aim()
    var random = SplitMix64(seed: seed)
    var options = EngageSandboxOptions()
    options.organization.recipients = recipients
    let workspace = try Workspace([])
    if variant == .cutExports {
      options.filesFolder = "\(workspace.path)/transfer"
      options.switches.exportedRows = checks / 3
      (options.switches.jobWaitSeconds, options.switches.jobRunSeconds) = (0, 0)
    }
    if disturbed {
      options.server.faults = faults
      options.server.hook = { request, point in
        if request.endpoint == .xmlapi { aim.pass(point) }
        return nil
      }
    }
    let service = try Service(options)
    try workspace.write("job.json", job(options.filesFolder))
    try workspace.write("in.ndjson", records)
    var outcome = Outcome(Image(of: service))
    /// Starts the program again until it comes to an end; nil if it never does.
    func finish(_ arguments: [String]) throws -> Finished? {
      for _ in 0..<checks * 20 + 100 {
        let running = try workspace.start(arguments, environment: service.environment)
        let point = Self.points[random.below(Self.points.count)]
        if disturbed {
          aim.take(running.process, after: random.below(longestLife) + 1, at: point, delay: random.below(2) * 3000)
        }
        let finished = running.finish()
        aim.rest()
        outcome.runs += 1
        if finished.messages.contains("list transfer failed") { outcome.hasToldOfExport = true }
        switch finished.code {
        case 128 + SIGKILL: outcome.kills[point, default: 0] += 1
        case 69 where disturbed: break
        default: return finished
        }
      }
      return nil
    }
    let run = try finish(["run", "job.json"])
    if run?.code != 0 { outcome.unexpected.append("\(run?.messages ?? "no end")") }
    outcome.merged = Image(of: service)
    outcome.events = Set(service.events).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let plans = try EventStore.openReading("\(workspace.path)/store.sqlite", format: .engage).merges.plans()
    if let open = plans.first(where: { !$0.state.isEnded }) { outcome.unexpected.append("plan \(open.id) is open") }
    let merges = plans.filter { $0.scenario.isMerge && $0.state == .done }
    outcome.merges = merges.count
    for plan in merges.reversed() {
      let undo = try finish(["identity", "undo", "\(plan.id)", "--store", "store.sqlite", "--job", "job.json"])
      // A kill behind the last line of the journal leaves nothing to do.
      let isUndone = undo?.code == 0 || undo?.messages.contains("is already 'undone'") == true
      if !isUndone { outcome.unexpected.append("undo \(plan.id): \(undo?.messages ?? "no end")") }
    }
    outcome.undone = Image(of: service)
    outcome.faults = service.server.totals.faults
    outcome.violations = service.server.totals.violations
    return outcome
  }

  // MARK: - What there is to do

  /// In turn: S1, Sa, Sb, S2, S3, a device without a recipient that S1 is for, one that S2 is for, and one that meets the customer
  /// whom the first of the turn has just become.
  private static let turn = 8

  private func own(_ number: Int) -> Int64 { 900_000_100_000 + 2 * Int64(number) }

  var recipients: [OrganizationSeed.Recipient] {
    (0..<checks).flatMap { number -> [OrganizationSeed.Recipient] in
      let customer = ["customer_id": "c-\(number)"]
      let device = ["Mobile User Id": "U-\(number)"]
      func own(_ values: [String: String]) -> OrganizationSeed.Recipient {
        OrganizationSeed.Recipient(id: self.own(number), values: values)
      }
      func other(_ values: [String: String]) -> OrganizationSeed.Recipient {
        OrganizationSeed.Recipient(id: self.own(number) + 1, values: values)
      }
      return switch number % Self.turn {
      case 0, 7: [own(device)]
      case 1: [own(device.merging(customer) { $1 })]
      case 2: [own(customer)]
      case 3: [own(device), other(customer)]
      case 4: [own(device), other(customer.merging(["Mobile User Id": "W-\(number)"]) { $1 })]
      case 6: [other(customer)]
      default: []
      }
    }
  }

  var records: String {
    (0..<checks).map { number in
      let isSetUp = number % Self.turn == 5 || number % Self.turn == 6
      let customer = number % Self.turn == 7 ? number - 7 : number
      let identity = isSetUp ? "" : "\"recipientId\":\"\(own(number))\",\"mobileUserId\":\"U-\(number)\","
      let device = "{\"deviceId\":\"d-\(number)\",\"timestamp\":"
      return device + "\(Recording.start + Int64(number)),\"type\":\"identify\","
        + "\(identity)\"ids\":{\"customer_id\":\"c-\(customer)\"}}\n"
        + device + "\(Recording.start + Int64(checks + number)),\"type\":\"namedEvent\",\"name\":\"after\"}\n"
    }.joined()
  }

  private func job(_ transferFolder: String?) -> String {
    let export = transferFolder.map { "\"bulkThreshold\": 1, \"transferFolder\": \"\($0)\", " } ?? ""
    return """
      {"name": "torture", "identity": true, "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z",
       "store": "store.sqlite",
       "settings": {"General": {"databaseListId": "100001"}, "Upload": {"concurrency": 4},
                    "Recipient": {\(export)"mergeHistoryInMarketingDatabase": \(variant != .noMarks), "holdEventsUntilIdentified": true},
                    "AuditRecord": {"mergeHistoryInAuditRecordTable": true, "auditRecordListId": "50002"},
                    "Networking": {"retryDelay": "0s", "maxRetryDelay": "0s"}, "Connection": {"totalTimeout": "2s"}}}
      """
  }

  // MARK: - What is done to whom

  private static let points: [FaultPoint] = [.headers, .body, .applied, .response]

  private var faults: FaultPlan {
    let ways: [(FaultPoint, FaultAction)] = [
      (.body, .fault(id: 50, text: nil, errorClass: "SP.API")), (.headers, .close), (.body, .reset),
      (.applied, .reset), (.applied, .close), (.applied, .truncate(bytes: 40)), (.applied, .empty),
      (.applied, .garbage(status: 502)), (.body, .status(503, headers: ["Retry-After": "0"], body: "")),
      (.response, .truncate(bytes: 9)),
    ]
    // What asks for one customer fails for a while, so that its device waits while others go on.
    let column = FaultRule(
      endpoint: .xmlapi, text: "c-3", occurrence: .span(1...40), action: .fault(id: 50, text: nil, errorClass: "SP.API")
    )
    return FaultPlan(
      seed: seed,
      rules: [column]
        + ways.map { FaultRule(endpoint: .xmlapi, occurrence: .probability(0.015), point: $0, action: $1) })
  }
}

/// Kills a program at one of its calls, or a moment after it.
private final class Aim: Sendable {
  private struct Shot {
    var process: pid_t
    var calls: Int
    var point: FaultPoint
    /// Microseconds, in which a program gets as far as its journal.
    var delay: Int
  }

  private let shot = Guarded<Shot?>(nil)

  func take(_ process: pid_t, after calls: Int, at point: FaultPoint, delay: Int) {
    shot.withLock { $0 = Shot(process: process, calls: calls, point: point, delay: delay) }
  }

  /// The program has ended.
  func rest() { shot.withLock { $0 = nil } }

  func pass(_ point: FaultPoint) {
    let due = shot.withLock { shot in
      guard shot?.point == point else { return nil as Shot? }
      shot?.calls -= 1
      return shot?.calls == 0 ? shot : nil
    }
    guard let due else { return }
    if due.delay == 0 { return fire() }
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(due.delay)) { self.fire() }
  }

  private func fire() { shot.withLock { if let process = $0?.process { kill(process, SIGKILL) } } }
}
