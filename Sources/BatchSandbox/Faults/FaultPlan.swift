import BatchFoundation

/// The faults to play, with their places and frequencies; `docs/sandbox.md` describes the file format. At
/// each point, the first rule that fires wins. A rule's occurrence counts only the requests that the rule has
/// matched, so a plan affects the same requests regardless of other traffic.
package struct FaultPlan: Sendable, Equatable {
  package var seed: UInt64
  /// The delay before every response.
  package var latencyMilliseconds: Int64
  /// The time after which an idle connection is closed; 0 closes it right after each response. Nil keeps it open.
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
  /// A string that a request contains, such as a column or an id; nil matches every request. Known from
  /// ``FaultPoint/body`` on.
  package var text: String?
  package var occurrence: Occurrence
  package var point: FaultPoint
  package var action: FaultAction

  /// The matching requests that the rule affects, by their number among all matching ones.
  package enum Occurrence: Sendable, Equatable {
    /// The requests with these numbers, from 1.
    case nth(Set<Int>)
    case every(Int)
    /// The requests from the first number to the last, as in an outage.
    case span(ClosedRange<Int>)
    /// A probability from 0 to 1; the plan's seed determines the draws.
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
  /// The connection was accepted, but nothing was read. Only rules without endpoint, operation or text apply.
  case accept
  /// The request's head was read, but not its body.
  case headers
  /// Half of the announced body was read.
  case halfBody
  /// The whole request was read, but not carried out.
  case body
  /// The request was carried out, but not answered.
  case applied
  /// The response is ready. Actions that break the connection first send its head and half of its body.
  case response
}

/// The action that replaces or precedes the response.
package enum FaultAction: Sendable, Equatable {
  /// A fault as the service reports it; a nil text means the service's text for the id.
  case fault(id: Int, text: String?, errorClass: String)
  /// Closes the connection normally (FIN).
  case close
  /// Resets the connection (RST).
  case reset
  /// Sends nothing for this time, then closes the connection; nil waits until the client gives up.
  case stall(seconds: Double?)
  case status(Int, headers: [String: String], body: String)
  /// Announces the response's full length, sends this many bytes of its body, and closes the connection.
  case truncate(bytes: Int)
  /// Sends an HTML page, as an intermediate proxy might.
  case garbage(status: Int)
  /// HTTP 200 without a body.
  case empty
  case redirect(status: Int, location: String)
  /// Invalidates every token issued so far; the request then proceeds.
  case expireToken
  /// Delays the request, which then proceeds.
  case delay(milliseconds: Int64)
  /// Sends HTTP 200 with a body of this many bytes.
  case huge(bytes: Int)
  /// Responds as if the request were about this recipient.
  case stranger(recipient: String)
  /// Sends the response, then sends it again after this time on the same connection, as if it were the response to the
  /// next request.
  case twice(milliseconds: Int64)
  /// Sends a refusal that quotes the request, including credentials; status 200 means an XMLAPI fault.
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

  /// - Parameter contains: returns whether the request contains a string.
  mutating func action(
    at point: FaultPoint, endpoint: SandboxEndpoint?, operations: [String], contains: (String) -> Bool = { _ in false }
  ) -> FaultAction? {
    var chosen: FaultAction?
    for (index, rule) in plan.rules.enumerated() where rule.point == point {
      if let wanted = rule.endpoint, wanted != endpoint { continue }
      if rule.endpoint == nil, endpoint?.isSheltered == true { continue }
      if let wanted = rule.operation, !operations.contains(where: { $0.utf8.elementsEqual(wanted.utf8) }) { continue }
      if let wanted = rule.text, !contains(wanted) { continue }
      matches[index] += 1
      let count = matches[index]
      let hit =
        switch rule.occurrence {
        case .nth(let numbers): numbers.contains(count)
        case .span(let numbers): numbers.contains(count)
        case .every(let step): count % max(step, 1) == 0
        case .probability(let share): chance(ofRule: index, count: count) < share
        }
      if hit, chosen == nil {
        fired[index] += 1
        chosen = rule.action
      }
    }
    return chosen
  }

  /// Returns a number in 0..<1 that depends only on the seed, the rule and the count of its matches.
  private func chance(ofRule rule: Int, count: Int) -> Double {
    let seed = SplitMix64.mix(plan.seed &+ UInt64(rule) &* SplitMix64.step)
    return Double(SplitMix64.mix(seed &+ UInt64(count)) >> 11) / Double(1 << 53)
  }
}

extension FaultPlan {
  /// Reads a plan from a file that may also have other members. Its rules may name `endpoints`.
  init(_ fields: Fields, endpoints: [SandboxEndpoint]) {
    self.init(
      seed: UInt64(fields["seed"]?.integer(0...Int64.max) ?? 1),
      latencyMilliseconds: fields["latencyMilliseconds"]?.integer(0...600_000) ?? 0,
      idleCloseMilliseconds: fields["idleCloseMilliseconds"]?.integer(0...600_000))
    rules = (fields["rules"]?.elements() ?? []).compactMap { rule in
      rule.object().flatMap { FaultRule($0, endpoints: endpoints + [.sandbox, .unknown]) }
    }
  }
}

extension FaultRule {
  fileprivate init?(_ fields: Fields, endpoints: [SandboxEndpoint]) {
    defer { fields.end() }
    let match = fields["match"]?.object()
    let endpoint = match?["endpoint"]?.choice(of: endpoints)
    let (operation, text) = (match?["operation"]?.anyText(), match?["text"]?.anyText())
    match?.end()
    let (nth, span) = (fields["nth"].flatMap(Self.numbers), fields["span"].flatMap(Self.numbers))
    let every = fields["every"]?.integer(1...Int(Int32.max))
    let probability = fields["probability"]?.number(0...1)
    if [nth != nil, every != nil, probability != nil, span != nil].count(where: { $0 }) > 1 {
      fields.refuse(nil, "can have only one of nth, every, span and probability")
    }
    var occurrence =
      probability.map { Occurrence.probability($0) } ?? nth.map { .nth(Set($0)) } ?? .every(every ?? 1)
    if let span {
      if span.count == 2, span[0] <= span[1] {
        occurrence = .span(span[0]...span[1])
      } else {
        fields.refuse("span", "must be an array of the first and the last number, in ascending order")
      }
    }
    let point = fields["point"]?.choice(of: FaultPoint.allCases) ?? .body
    guard let action = FaultAction(fields) else { return nil }
    if point == .accept, endpoint != nil || operation != nil || text != nil {
      fields.refuse("match", "is not possible at the point 'accept', where no request is known yet")
    }
    if case .twice = action, point != .response {
      fields.refuse("action", "is 'twice', which is possible only at the point 'response'")
    }
    if point == .headers || point == .halfBody {
      for (key, value) in [("operation", operation), ("text", text)] where value != nil {
        match?.refuse(key, "is not known before the point 'body'")
      }
    }
    if point == .accept || point == .response {
      switch action {
      case .close, .reset, .stall, .delay: break
      case .truncate where point == .response, .expireToken where point == .response, .twice where point == .response:
        break
      default: fields.refuse("action", "is '\(action.name)', which is not possible at the point '\(point.rawValue)'")
      }
    }
    self.init(
      endpoint: endpoint, operation: operation, text: text, occurrence: occurrence, point: point, action: action)
  }

  /// Reads a positive integer or an array of positive integers.
  private static func numbers(_ field: Field) -> [Int]? {
    field.value("a positive integer or an array of positive integers") { node in
      let numbers = (node.array ?? [node]).map { $0.integer.flatMap { $0 > 0 ? Int(exactly: $0) : nil } }
      let whole = numbers.compactMap { $0 }
      return whole.count == numbers.count ? whole : nil
    }
  }
}

extension FaultAction {
  /// Nil for an unusable action, which is reported.
  fileprivate init?(_ fields: Fields) {
    guard let field = fields.required("action"), let name = field.text() else { return nil }
    switch name {
    case "fault":
      guard let id = fields.required("id")?.integer(0...100_000) else { return nil }
      self = .fault(
        id: id, text: fields["text"]?.anyText(),
        errorClass: fields["class"]?.anyText() ?? "SP.API")
    case "close": self = .close
    case "reset": self = .reset
    case "stall": self = .stall(seconds: fields["seconds"]?.number(0...86_400))
    case "status":
      guard let status = fields.required("status")?.integer(100...999) else { return nil }
      let headers = fields["headers"]?.strings() ?? [:]
      self = .status(status, headers: headers, body: fields["body"]?.anyText() ?? "")
    case "truncate": self = .truncate(bytes: fields["bytes"]?.integer(0...Int(Int32.max)) ?? 20)
    case "garbage": self = .garbage(status: fields["status"]?.integer(100...999) ?? 502)
    case "empty": self = .empty
    case "redirect":
      guard let location = fields.required("location")?.anyText() else { return nil }
      self = .redirect(status: fields["status"]?.integer(300...399) ?? 307, location: location)
    case "expireToken": self = .expireToken
    case "delay":
      guard let milliseconds: Int64 = fields.required("milliseconds")?.integer(0...86_400_000) else { return nil }
      self = .delay(milliseconds: milliseconds)
    case "stranger":
      guard let recipient = fields.required("recipient")?.anyText() else { return nil }
      self = .stranger(recipient: recipient)
    case "twice": self = .twice(milliseconds: fields["milliseconds"]?.integer(0...86_400_000) ?? 5)
    case "huge": self = .huge(bytes: fields["bytes"]?.integer(0...1 << 30) ?? 64 << 20)
    case "echo": self = .echo(status: fields["status"]?.integer(100...999) ?? 400)
    default:
      field.refuse("is '\(name)', which is not a known action")
      return nil
    }
  }
}
