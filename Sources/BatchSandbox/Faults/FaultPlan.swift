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
