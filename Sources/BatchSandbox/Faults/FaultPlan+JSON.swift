import BatchFoundation

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
      throw SandboxInputError(path: path + ".span", reason: "is not the first number and the last")
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
      throw SandboxInputError(path: path + ".match", reason: "nothing of a request is known at the point 'accept'")
    }
    if case .twice = action, point != .response {
      throw SandboxInputError(path: path + ".action", reason: "'twice' is possible at the point 'response' only")
    }
    if operation != nil, point == .headers || point == .halfBody {
      throw SandboxInputError(path: path + ".match.operation", reason: "is known from the point 'body' on")
    }
    if text != nil, point == .headers || point == .halfBody {
      throw SandboxInputError(path: path + ".match.text", reason: "is known from the point 'body' on")
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
