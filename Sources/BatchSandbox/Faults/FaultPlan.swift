import BatchFoundation

/// The faults to play, where and how often (specification section 9, point 10; the file format is in
/// `docs/sandbox.md`). The first rule that fires at a point wins. A rule counts the requests it matches; its occurrence
/// refers to that count, so a plan affects the same requests in the same way whatever else is running.
package struct FaultPlan: Sendable, Equatable {
  package var seed: UInt64
  /// The delay of every answer, without blocking a thread.
  package var latencyMilliseconds: Int64
  /// The time after which an idle connection is closed; 0 closes it right after each answer. Nil keeps it open.
  package var idleCloseMilliseconds: Int64?
  package var rules: [FaultRule]

  package init(
    seed: UInt64 = 1, latencyMilliseconds: Int64 = 0, idleCloseMilliseconds: Int64? = nil, rules: [FaultRule] = []
  ) {
    self.seed = seed
    self.latencyMilliseconds = latencyMilliseconds
    self.idleCloseMilliseconds = idleCloseMilliseconds
    self.rules = rules
  }
}

package struct FaultRule: Sendable, Equatable {
  /// Nil matches every endpoint.
  package var endpoint: SandboxEndpoint?
  /// The name of an operation; nil matches every request. Known from ``FaultPoint/body`` on.
  package var operation: String?
  /// Text in a request, such as a column or an id; nil matches every request. Known from ``FaultPoint/body`` on.
  package var text: String?
  package var occurrence: Occurrence
  package var point: FaultPoint
  package var action: FaultAction

  /// The matching requests that are hit, by their numbers.
  package enum Occurrence: Sendable, Equatable {
    /// Numbers from 1.
    case nth(Set<Int>)
    case every(Int)
    /// From the first number to the last, as in an outage.
    case span(ClosedRange<Int>)
    /// 0 to 1, drawn from the seed of the plan.
    case probability(Double)
  }

  package init(
    endpoint: SandboxEndpoint? = nil, operation: String? = nil, text: String? = nil, occurrence: Occurrence = .every(1),
    point: FaultPoint = .body, action: FaultAction
  ) {
    self.endpoint = endpoint
    self.operation = operation
    self.text = text
    self.occurrence = occurrence
    self.point = point
    self.action = action
  }
}

package enum FaultPoint: String, Sendable, CaseIterable {
  /// The connection was accepted and nothing read; only rules without endpoint, operation and text apply.
  case accept
  /// The request's head was read, but not its body.
  case headers
  /// Half of the announced body was read.
  case halfBody
  /// The whole request was read, but not carried out.
  case body
  /// The request was carried out, but not answered.
  case applied
  /// The head and half of the answer's body were sent.
  case response
}

/// The action in place of, or before, the answer.
package enum FaultAction: Sendable, Equatable {
  /// A fault in the words of the service; nil text is that of its table.
  case fault(id: Int, text: String?, errorClass: String)
  /// Closes the connection in order (FIN).
  case close
  /// Resets the connection (RST).
  case reset
  /// Stays silent for this time, then closes the connection; nil waits until the client gives up.
  case stall(seconds: Double?)
  case status(Int, headers: [String: String], body: String)
  /// Announces the answer's full length, sends this many bytes of its body, and closes.
  case truncate(bytes: Int)
  /// Sends an HTML page, like a proxy in between.
  case garbage(status: Int)
  /// HTTP 200 without a body.
  case empty
  case redirect(status: Int, location: String)
  /// Invalidates every token issued so far, then the request proceeds.
  case expireToken
  /// Delays the request, which then proceeds.
  case delay(milliseconds: Int64)
  /// Sends HTTP 200 with a body of this many bytes.
  case huge(bytes: Int)
  /// Answers about this recipient, whoever was asked about.
  case stranger(recipient: String)
  /// Sends the answer, and after this time again on the same connection, as if it answered the next request.
  case twice(milliseconds: Int64)
  /// Sends a refusal that quotes the request, including credentials; with 200 a fault of the XMLAPI.
  case echo(status: Int)
}

extension FaultAction {
  /// The name in plan files and ledgers.
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
    case .stranger: "stranger"
    case .twice: "twice"
    case .echo: "echo"
    }
  }
}

/// A plan in progress, with its counters.
struct FaultProgress: Sendable {
  var plan: FaultPlan
  private var matches: [Int]
  private(set) var fired: [Int]

  init(plan: FaultPlan) {
    self.plan = plan
    matches = Array(repeating: 0, count: plan.rules.count)
    fired = matches
  }

  /// - Parameter says: returns whether the request contains a text.
  mutating func action(
    at point: FaultPoint, endpoint: SandboxEndpoint?, operations: [String], says: (String) -> Bool = { _ in false }
  ) -> FaultAction? {
    var decided: FaultAction?
    for (index, rule) in plan.rules.enumerated() where rule.point == point {
      if let wanted = rule.endpoint, wanted != endpoint { continue }
      if rule.endpoint == nil, endpoint?.isSheltered == true { continue }
      if let wanted = rule.operation, !operations.contains(where: { $0.utf8.elementsEqual(wanted.utf8) }) { continue }
      if let wanted = rule.text, !says(wanted) { continue }
      matches[index] += 1
      let count = matches[index]
      let hit =
        switch rule.occurrence {
        case .nth(let numbers): numbers.contains(count)
        case .span(let numbers): numbers.contains(count)
        case .every(let step): count % max(step, 1) == 0
        case .probability(let share): chance(ofRule: index, count: count) < share
        }
      if hit, decided == nil {
        fired[index] += 1
        decided = rule.action
      }
    }
    return decided
  }

  /// Returns a number in 0..<1 that depends only on the seed, the rule and the count of its matches.
  private func chance(ofRule rule: Int, count: Int) -> Double {
    let seed = SplitMix64.mix(plan.seed &+ UInt64(rule) &* SplitMix64.step)
    return Double(SplitMix64.mix(seed &+ UInt64(count)) >> 11) / Double(1 << 53)
  }
}

extension FaultPlan {
  /// Reads a plan whose rules may name `endpoints`; unknown keys are errors, because an unread rule would not fire.
  ///
  /// - Throws: ``SandboxInputError`` with the place in the file.
  package init(json bytes: [UInt8], endpoints: [SandboxEndpoint]) throws {
    var reader = try PlanReader(try PlanReader.parse(bytes), path: "")
    try self.init(&reader, endpoints: endpoints)
    try reader.finish()
  }

  /// Reads the plan's members of a file that has others too.
  ///
  /// - Throws: ``SandboxInputError`` with the place in the file.
  package init(_ reader: inout PlanReader, endpoints: [SandboxEndpoint]) throws {
    self.init(
      seed: UInt64(try reader.integer("seed", 0...Int64.max) ?? 1),
      latencyMilliseconds: try reader.integer("latencyMilliseconds", 0...600_000) ?? 0,
      idleCloseMilliseconds: try reader.integer("idleCloseMilliseconds", 0...600_000))
    for (index, node) in (try reader.array("rules") ?? []).enumerated() {
      rules.append(try FaultRule(node, path: "rules[\(index)]", endpoints: endpoints + [.sandbox, .unknown]))
    }
  }
}

extension FaultRule {
  fileprivate init(_ node: JSONNode, path: String, endpoints: [SandboxEndpoint]) throws {
    var reader = try PlanReader(node, path: path)
    var endpoint: SandboxEndpoint?
    var operation: String?
    var text: String?
    if let match = reader.node("match") {
      var matchReader = try PlanReader(match, path: path + ".match")
      endpoint = try matchReader.choice("endpoint", of: endpoints)
      operation = try matchReader.string("operation")
      text = try matchReader.string("text")
      try matchReader.finish()
    }
    let nth = try reader.integers("nth")
    let every = try reader.integer("every", 1...Int64(Int32.max))
    let probability = try reader.double("probability", 0...1)
    let span = try reader.integers("span")
    let given = [nth != nil, every != nil, probability != nil, span != nil].count { $0 }
    if given > 1 {
      throw SandboxInputError(path: path, reason: "only one of nth, every, span and probability can be given")
    }
    if let span, span.count != 2 || span[0] > span[1] {
      throw SandboxInputError(path: path + ".span", reason: "is not a first and a last number")
    }
    let occurrence: Occurrence =
      if let nth { .nth(Set(nth)) } else if let span { .span(span[0]...span[1]) } else if let probability {
        .probability(probability)
      } else {
        .every(Int(every ?? 1))
      }
    let point = try reader.choice("point", of: FaultPoint.self) ?? .body
    let action = try FaultAction(&reader)
    try reader.finish()
    if point == .accept, endpoint != nil || operation != nil || text != nil {
      throw SandboxInputError(path: path + ".match", reason: "the request is still unknown at the point 'accept'")
    }
    if case .twice = action, point != .response {
      throw SandboxInputError(path: path + ".action", reason: "'twice' is possible only at the point 'response'")
    }
    if operation != nil, point == .headers || point == .halfBody {
      throw SandboxInputError(path: path + ".match.operation", reason: "is unknown before the point 'body'")
    }
    if text != nil, point == .headers || point == .halfBody {
      throw SandboxInputError(path: path + ".match.text", reason: "is unknown before the point 'body'")
    }
    if point == .accept || point == .response {
      switch action {
      case .close, .reset, .stall, .delay: break
      case .truncate where point == .response, .expireToken where point == .response, .twice where point == .response:
        break
      default:
        throw SandboxInputError(
          path: path + ".action", reason: "'\(action.name)' is not possible at the point '\(point.rawValue)'")
      }
    }
    self.init(
      endpoint: endpoint, operation: operation, text: text, occurrence: occurrence, point: point, action: action)
  }
}

extension FaultAction {
  fileprivate init(_ reader: inout PlanReader) throws {
    guard let name = try reader.string("action") else { throw reader.error("action", "is missing") }
    switch name {
    case "fault":
      guard let id = try reader.integer("id", 0...100_000) else { throw reader.error("id", "is missing") }
      self = .fault(
        id: Int(id), text: try reader.string("text"), errorClass: try reader.string("class") ?? "SP.API")
    case "close": self = .close
    case "reset": self = .reset
    case "stall": self = .stall(seconds: try reader.double("seconds", 0...86_400))
    case "status":
      guard let status = try reader.integer("status", 100...999) else { throw reader.error("status", "is missing") }
      self = .status(
        Int(status), headers: try reader.strings("headers") ?? [:], body: try reader.string("body") ?? "")
    case "truncate": self = .truncate(bytes: Int(try reader.integer("bytes", 0...Int64(Int32.max)) ?? 20))
    case "garbage": self = .garbage(status: Int(try reader.integer("status", 100...999) ?? 502))
    case "empty": self = .empty
    case "redirect":
      guard let location = try reader.string("location") else { throw reader.error("location", "is missing") }
      self = .redirect(status: Int(try reader.integer("status", 300...399) ?? 307), location: location)
    case "expireToken": self = .expireToken
    case "delay":
      guard let milliseconds = try reader.integer("milliseconds", 0...86_400_000) else {
        throw reader.error("milliseconds", "is missing")
      }
      self = .delay(milliseconds: milliseconds)
    case "stranger":
      guard let recipient = try reader.string("recipient") else { throw reader.error("recipient", "is missing") }
      self = .stranger(recipient: recipient)
    case "twice": self = .twice(milliseconds: try reader.integer("milliseconds", 0...86_400_000) ?? 5)
    case "huge": self = .huge(bytes: Int(try reader.integer("bytes", 0...1 << 30) ?? 64 << 20))
    case "echo": self = .echo(status: Int(try reader.integer("status", 100...999) ?? 400))
    default: throw reader.error("action", "'\(name)' is not an action")
    }
  }
}
