import BatchFoundation
import NIOCore
import Synchronization

/// The sandbox behind its connections: decides about faults, keeps the ledger, and lets the ``World`` answer.
final class SandboxCore: Sendable {
  let world: Mutex<World>
  let hook: (@Sendable (SandboxRequest, FaultPoint) -> FaultAction?)?
  let ledgerFile: LedgerFile?
  let digestsBodies: Bool

  init(_ options: SandboxOptions) throws {
    world = Mutex(try World(options))
    hook = options.hook
    ledgerFile = try options.ledgerFile.map { try LedgerFile($0) }
    digestsBodies = options.digestsBodies
  }

  func connectionOpened() -> Int {
    world.withLock { world in
      world.connections += 1
      world.ledger.totals.connections += 1
      return world.connections
    }
  }

  /// What happens to a fresh connection, of which nothing is known.
  func actionAtAccept(connection: Int) -> FaultAction? {
    world.withLock { world in
      let action = world.faults.action(at: .accept, endpoint: nil, operations: [])
      if action != nil { world.ledger.totals.faults += 1 }
      return action
    }
  }

  /// Enters a request in the ledger as soon as its head is there.
  func begin(
    method: String, uri: String, authorization: String?, contentType: String, connection: Int, nth: Int
  ) -> SandboxRequest {
    let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = String(parts[0])
    let endpoint = SandboxEndpoint(path: path)
    return world.withLock { world in
      world.requests += 1
      var request = SandboxRequest(
        sequence: world.requests, connection: connection, nthOnConnection: nth, method: method, path: path,
        query: parts.count == 2 ? String(parts[1]) : "", endpoint: endpoint, authorization: authorization,
        contentType: contentType)
      if endpoint.isAuthenticated {
        world.inFlight[request.sequence] = MonotonicClock.nanoseconds
        world.ledger.totals.maxInFlight = max(world.ledger.totals.maxInFlight, world.inFlight.count)
        request.isOverTheGate = world.inFlight.count > world.options.switches.concurrencyLimit
      }
      world.ledger.totals.requests += 1
      for secret in ["client_secret", "refresh_token", "access_token"] where request.query.contains(secret) {
        world.ledger.violation("secret-in-url")
      }
      world.ledger.append(
        LedgerEntry(
          sequence: request.sequence, connection: connection, nthOnConnection: nth, method: method, path: path,
          endpoint: endpoint, operations: [], bodyBytes: 0, bodyDigest: nil, events: 0, applied: false, answered: false,
          status: nil, fault: nil, inFlight: world.inFlight.count))
      return request
    }
  }

  /// The fault at a point of a request: the hook's, or else the plan's. It stands in the ledger afterwards.
  func action(_ request: SandboxRequest, at point: FaultPoint) -> FaultAction? {
    let hooked = hook?(request, point)
    return world.withLock { world in
      guard
        let action = hooked
          ?? world.faults.action(at: point, endpoint: request.endpoint, operations: request.operations)
      else { return nil }
      world.ledger.totals.faults += 1
      world.ledger.update(request.sequence) { $0.fault = "\(point.rawValue):\(action.name)" }
      if action == .expireToken { world.tokens.expireAll() }
      return action
    }
  }

  /// Notes the body once it is complete and tells which operations it holds.
  func received(_ request: inout SandboxRequest) -> Envelope? {
    let digest =
      digestsBodies
      ? request.buffer.withUnsafeReadableBytes { bytes in
        var digest = BodyDigest()
        digest.update(bytes)
        return digest.text
      } : nil
    var envelope: Envelope?
    if request.endpoint == .xmlapi {
      envelope = Envelope(request.body, contentType: request.contentType)
      request.operations = envelope?.names ?? []
    }
    let (sequence, count, names) = (request.sequence, request.buffer.readableBytes, request.operations)
    world.withLock { world in
      world.ledger.update(sequence) { entry in
        entry.bodyBytes = count
        entry.bodyDigest = digest
        entry.operations = names
      }
    }
    return envelope
  }

  func reply(to request: SandboxRequest, envelope: Envelope?) -> SandboxAnswer {
    world.withLock { world in
      let reply = world.reply(to: request, envelope: envelope)
      world.ledger.update(request.sequence) { entry in
        entry.applied = reply.applied
        entry.events = reply.events
      }
      return reply.answer
    }
  }

  /// Closes the account of a request: its place is free, its line in the ledger is final.
  func ended(_ sequence: Int, status: Int?, answered: Bool) {
    let entry: LedgerEntry? = world.withLock { world in
      if let start = world.inFlight.removeValue(forKey: sequence) {
        world.ledger.totals.busyNanoseconds += MonotonicClock.nanoseconds - start
      }
      if answered { world.ledger.totals.answered += 1 }
      var finished: LedgerEntry?
      world.ledger.update(sequence) { entry in
        entry.answered = answered
        entry.status = status
        finished = entry
      }
      return finished
    }
    if let entry, let ledgerFile { ledgerFile.append(entry) }
  }

  /// Takes back that an answer was sent.
  func answerWasLost(_ sequence: Int) {
    world.withLock { world in
      world.ledger.totals.answered -= 1
      world.ledger.update(sequence) { $0.answered = false }
    }
  }

  var latencyMilliseconds: Int64 { world.withLock { $0.faults.plan.latencyMilliseconds } }

  /// The Date header, in the sandbox's time.
  var dateHeader: String { world.withLock { CivilTime($0.now).headerForm } }
}

extension FaultAction {
  /// The name it has in plan files and ledgers.
  var name: String {
    switch self {
    case .fault(let id, _, _): "fault \(id)"
    case .close: "close"
    case .reset: "reset"
    case .stall: "stall"
    case .status(let status, _, _): "status \(status)"
    case .truncate: "truncate"
    case .garbage: "garbage"
    case .empty: "empty"
    case .redirect: "redirect"
    case .expireToken: "expireToken"
    case .delay: "delay"
    case .huge: "huge"
    }
  }
}
