import BatchFoundation

/// What goes wrong, where and how often (specification section 9, point 10; the file format is in `docs/sandbox.md`).
///
/// The first rule that fires at a point decides. A rule counts the requests it matches; `nth`, `every` and `probability` speak of
/// that count, so a plan does the same to the same requests whatever else is running.
package struct FaultPlan: Sendable, Equatable {
  package var seed: UInt64
  /// Added to every answer, without holding a thread.
  package var latencyMilliseconds: Int64
  /// An idle connection is closed after so long without a word; 0 closes it right behind each answer. Nil leaves it open.
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

/// One line of a ``FaultPlan``.
package struct FaultRule: Sendable, Equatable {
  /// nil matches every endpoint.
  package var endpoint: SandboxEndpoint?
  /// The name of an operation; nil matches every request. Known from the point ``FaultPoint/body`` on.
  package var operation: String?
  /// What a request says, such as a column or an id; nil matches every request. Known from the point ``FaultPoint/body`` on.
  package var text: String?
  package var occurrence: Occurrence
  package var point: FaultPoint
  package var action: FaultAction

  /// Which of the matching requests are hit.
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

/// A moment in the life of a request.
package enum FaultPoint: String, Sendable, CaseIterable {
  /// The connection was accepted and nothing read; only rules without endpoint and operation reach here.
  case accept
  /// The request's head was read, its body was not.
  case headers
  /// Half of the announced body was read.
  case halfBody
  /// The whole request was read, nothing was done with it.
  case body
  /// The request was carried out, nothing was answered.
  case applied
  /// The head and half of the answer's body were sent.
  case response
}

/// What happens instead of, or before, the answer.
package enum FaultAction: Sendable, Equatable {
  /// A fault as the service words it; nil text is the one of its table.
  case fault(id: Int, text: String?, errorClass: String)
  /// The connection is closed in good order (FIN).
  case close
  /// The connection is torn down (RST).
  case reset
  /// Nothing for so long, then the connection is closed; nil waits for the client to give up.
  case stall(seconds: Double?)
  case status(Int, headers: [String: String], body: String)
  /// The answer announces its full length, sends so many bytes of its body, and closes.
  case truncate(bytes: Int)
  /// An HTML page, as a proxy in between would send it.
  case garbage(status: Int)
  /// HTTP 200 without a body.
  case empty
  case redirect(status: Int, location: String)
  /// Every token issued so far stops being valid, then the request goes on.
  case expireToken
  /// The request goes on after so long.
  case delay(milliseconds: Int64)
  /// HTTP 200 with a body of so many bytes.
  case huge(bytes: Int)
  /// The answer is about this recipient, whoever was asked about.
  case stranger(recipient: String)
  /// The answer, and after so long the same one once more on the same connection, as if it answered the next request.
  case twice(milliseconds: Int64)
  /// A refusal that quotes the request, credentials and all; 200 is a fault of the XMLAPI.
  case echo(status: Int)
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
    case .stranger: "stranger"
    case .twice: "twice"
    case .echo: "echo"
    }
  }
}

/// The counters of a plan while it is carried out.
struct FaultProgress: Sendable {
  var plan: FaultPlan
  private var matches: [Int]
  /// How often each rule fired.
  private(set) var fired: [Int]

  init(plan: FaultPlan) {
    self.plan = plan
    matches = Array(repeating: 0, count: plan.rules.count)
    fired = matches
  }

  /// - Parameter says: whether the request says a text.
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

  /// A number in 0..<1 that belongs to the seed, the rule and the count of its matches, whatever else was drawn before.
  private func chance(ofRule rule: Int, count: Int) -> Double {
    let seed = SplitMix64.mix(plan.seed &+ UInt64(rule) &* SplitMix64.step)
    return Double(SplitMix64.mix(seed &+ UInt64(count)) >> 11) / Double(1 << 53)
  }
}
