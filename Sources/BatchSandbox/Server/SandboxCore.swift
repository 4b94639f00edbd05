import BatchFoundation
import FoundationEssentials

/// The sandbox without its connections: chooses faults, keeps the ledger, and lets the platforms respond.
final class SandboxCore: Sendable {
  let desk: Guarded<SandboxDesk>
  let time: SandboxTime
  let platforms: [any SandboxPlatform]
  private let hook: (@Sendable (SandboxRequest, FaultPoint) -> FaultAction?)?

  init(_ settings: SandboxSettings, _ platforms: [any SandboxPlatform]) {
    desk = Guarded(SandboxDesk(settings))
    time = SandboxTime(settings.clock)
    self.platforms = platforms
    hook = settings.hook
    for platform in platforms { platform.begin(time) }
  }

  func connectionOpened() -> Int {
    desk.withLock { desk in
      desk.connections += 1
      desk.ledger.totals.connections += 1
      return desk.connections
    }
  }

  /// Returns the fault for a new connection, from which nothing has been read; nil for none.
  func actionAtAccept(connection: Int) -> FaultAction? {
    desk.withLock { desk in
      let action = desk.faults.action(at: .accept, endpoint: nil, operations: [])
      if action != nil { desk.ledger.totals.faults += 1 }
      return action
    }
  }

  /// Enters a request in the ledger as soon as its head has been read.
  func begin(_ head: RequestHead, connection: Int, nth: Int) -> SandboxRequest {
    let parts = head.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first.map(String.init) ?? ""
    let (endpoint, platform) = place(of: path)
    let limit = platform?.limit(of: endpoint)
    return desk.withLock { desk in
      desk.requests += 1
      var request = SandboxRequest(
        sequence: desk.requests, connection: connection, nthOnConnection: nth, head: head, path: path,
        query: parts.count == 2 ? String(parts[1]) : "", endpoint: endpoint, platform: platform)
      if let limit {
        desk.inFlight[request.sequence] = MonotonicClock.nanoseconds
        desk.ledger.totals.maxInFlight = max(desk.ledger.totals.maxInFlight, desk.inFlight.count)
        request.isOverTheGate = desk.inFlight.count > limit
      }
      desk.ledger.totals.requests += 1
      for secret in ["client_secret", "refresh_token", "access_token"] where request.query.contains(secret) {
        desk.ledger.totals.violation("secret-in-url")
      }
      desk.ledger.append(
        LedgerEntry(
          sequence: request.sequence, connection: connection, nthOnConnection: nth, method: request.method, path: path,
          endpoint: endpoint, operations: [], bodyBytes: 0, bodyDigest: nil, events: 0, applied: false, answered: false,
          status: nil, fault: nil, inFlight: desk.inFlight.count))
      return request
    }
  }

  private func place(of path: String) -> (SandboxEndpoint, (any SandboxPlatform)?) {
    for platform in platforms {
      if let endpoint = platform.endpoint(of: path) { return (endpoint, platform) }
    }
    return (path.utf8.starts(with: "/sandbox/".utf8) ? .sandbox : .unknown, nil)
  }

  /// Returns the fault for a request at a point, from the hook or else from the plan, and records it in the ledger.
  func action(_ request: SandboxRequest, at point: FaultPoint) -> FaultAction? {
    let hooked = hook?(request, point)
    let action: FaultAction? = desk.withLock { desk in
      guard
        let action = hooked
          ?? desk.faults.action(
            at: point, endpoint: request.endpoint, operations: request.operations, contains: request.contains)
      else { return nil }
      desk.ledger.totals.faults += 1
      desk.ledger.update(request.sequence) { $0.fault = "\(point.rawValue):\(action.name)" }
      return action
    }
    if action == .expireToken { expireTokens() }
    return action
  }

  func expireTokens() {
    for platform in platforms { platform.expireTokens() }
  }

  /// Records the complete body, and returns the work that carries out the request.
  func received(_ request: inout SandboxRequest) -> SandboxWork {
    let digest = BodyDigest(request.body).text
    let work: SandboxWork =
      if let platform = request.platform {
        platform.work(for: &request)
      } else if request.endpoint == .sandbox {
        { [self] in inspect($0) }
      } else {
        { _ in .refused(.html(404)) }
      }
    let (sequence, count, names) = (request.sequence, request.body.count, request.operations)
    desk.withLock { desk in
      desk.ledger.update(sequence) { entry in
        entry.bodyBytes = count
        entry.bodyDigest = digest
        entry.operations = names
      }
    }
    return work
  }

  func reply(to request: SandboxRequest, _ work: SandboxWork) -> SandboxAnswer {
    let reply = work(request)
    desk.withLock { desk in
      desk.ledger.totals.add(reply.added)
      if reply.changesState { desk.isChanged = true }
      desk.ledger.update(request.sequence) { entry in
        entry.applied = reply.applied
        entry.events = reply.events
      }
    }
    return reply.answer
  }

  /// Ends a request: frees its slot and completes its entry in the ledger.
  func ended(_ sequence: Int, status: Int?, answered: Bool) {
    desk.withLock { desk in
      if let start = desk.inFlight.removeValue(forKey: sequence) {
        desk.ledger.totals.busyNanoseconds += MonotonicClock.nanoseconds - start
      }
      if answered { desk.ledger.totals.answered += 1 }
      desk.ledger.update(sequence) { entry in
        entry.answered = answered
        entry.status = status
      }
    }
  }

  /// Corrects the ledger: the response was not sent.
  func answerWasLost(_ sequence: Int) {
    desk.withLock { desk in
      desk.ledger.totals.answered -= 1
      desk.ledger.update(sequence) { $0.answered = false }
    }
  }

  var latencyMilliseconds: Int64 { desk.withLock { $0.faults.plan.latencyMilliseconds } }

  var idleCloseMilliseconds: Int64? { desk.withLock { $0.faults.plan.idleCloseMilliseconds } }

  /// The Date header, in the sandbox's time.
  var dateHeader: String { CivilTime(time.now).headerForm }
}

/// The endpoints below `/sandbox/`, for inspecting and controlling the sandbox.
extension SandboxCore {
  func inspect(_ request: SandboxRequest) -> SandboxReply {
    let items = Dictionary(request.queryItems.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    switch (request.method, request.path) {
    case ("GET", "/sandbox/state"): return .done(.json(200, state))
    case ("GET", "/sandbox/ledger"):
      let since = items["since"].flatMap { Int($0) } ?? 0
      let entries = desk.withLock { $0.ledger.entries.filter { $0.sequence > since } }
      return .done(.json(200, sandboxJSON(entries)))
    case ("POST", "/sandbox/clock"):
      guard let seconds = items["advance"].flatMap({ Int64($0) }), (0...1_000_000_000).contains(seconds) else {
        return .refused(.rest(400, error: "advance must be a number of seconds from 0 to 1000000000"))
      }
      time.withLock { $0.advance(by: Milliseconds(seconds * 1000)) }
      var reply = SandboxReply.done(.json(200, "{\"clock\":\"\(CivilTime(time.now).isoForm)\"}"))
      reply.changesState = true
      return reply
    case ("POST", "/sandbox/expire-tokens"):
      expireTokens()
      return .done(SandboxAnswer(status: 204))
    default: return .refused(.html(404))
    }
  }

  private var state: String {
    var members = [:] as [String: String]
    for platform in platforms { members.merge(platform.inspection()) { _, later in later } }
    // Read after the platforms' parts, so that no time in them is later than the clock.
    members["clock"] = sandboxJSON(CivilTime(time.now).isoForm)
    let (totals, fired) = desk.withLock { ($0.ledger.totals, $0.faults.fired) }
    members["totals"] = sandboxJSON(totals)
    members["faultsFired"] = sandboxJSON(fired)
    return sandboxJSON(members: members)
  }
}

/// Returns a value as JSON with sorted keys and only the escapes that JSON requires.
package func sandboxJSON(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  // Strings and numbers can always be encoded.
  return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
}

/// Returns a JSON object with the members, whose values are already JSON, sorted by name.
func sandboxJSON(members: [String: String]) -> String {
  let sorted = members.sorted { $0.key < $1.key }.map { "\(JSONString.quoted($0.key)):\($0.value)" }
  return "{\(sorted.joined(separator: ","))}"
}

/// The mutable state of the server itself. One lock guards it.
struct SandboxDesk: Sendable {
  var ledger: RequestLog
  var faults: FaultProgress
  /// The requests in progress that count toward a limit: their start times on the monotonic clock, by sequence number.
  var inFlight: [Int: UInt64] = [:]
  var connections = 0
  var requests = 0
  /// Whether the state has changed since it was last saved.
  var isChanged = false

  init(_ settings: SandboxSettings) {
    ledger = RequestLog(limit: settings.ledgerLimit)
    faults = FaultProgress(plan: settings.faults)
  }
}
