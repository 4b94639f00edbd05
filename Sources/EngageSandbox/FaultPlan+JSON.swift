import EngageJSON

/// What is wrong with a plan, and where in it.
package struct FaultPlanError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Such as `rules[2].point`.
  package var path: String
  package var reason: String

  package var description: String { path.utf8.isEmpty ? reason : "\(path): \(reason)" }
}

extension FaultPlan {
  /// Reads a plan file; the format is in `docs/sandbox.md`. Unknown keys are errors: a rule that is not read would not fire.
  package init(json bytes: [UInt8]) throws {
    let root: JSONNode
    do {
      root = try JSONNode.parse(bytes)
    } catch {
      let place = linePosition(of: error.offset, in: bytes)
      throw FaultPlanError(path: "", reason: "\(place.line):\(place.column): \(error.reason)")
    }
    var reader = try PlanReader(root, path: "")
    self.init(
      seed: UInt64(try reader.integer("seed", 0...Int64.max) ?? 1),
      latencyMilliseconds: try reader.integer("latencyMilliseconds", 0...600_000) ?? 0)
    for (index, node) in (try reader.array("rules") ?? []).enumerated() {
      rules.append(try FaultRule(node, path: "rules[\(index)]"))
    }
    try reader.finish()
  }
}

extension FaultRule {
  fileprivate init(_ node: JSONNode, path: String) throws {
    var reader = try PlanReader(node, path: path)
    var endpoint: SandboxEndpoint?
    var operation: String?
    if let match = reader.node("match") {
      var matchReader = try PlanReader(match, path: path + ".match")
      endpoint = try matchReader.choice("endpoint", of: SandboxEndpoint.self)
      operation = try matchReader.string("operation")
      try matchReader.finish()
    }
    let nth = try reader.integers("nth")
    let every = try reader.integer("every", 1...Int64(Int32.max))
    let probability = try reader.double("probability", 0...1)
    let given = [nth != nil, every != nil, probability != nil].count { $0 }
    if given > 1 { throw FaultPlanError(path: path, reason: "only one of nth, every and probability can be given") }
    let occurrence: Occurrence =
      if let nth { .nth(Set(nth)) } else if let probability { .probability(probability) } else { .every(Int(every ?? 1)) }
    let point = try reader.choice("point", of: FaultPoint.self) ?? .body
    let action = try FaultAction(&reader)
    try reader.finish()
    if point == .accept, endpoint != nil || operation != nil {
      throw FaultPlanError(path: path + ".match", reason: "nothing of a request is known at the point 'accept'")
    }
    if operation != nil, point == .headers || point == .halfBody {
      throw FaultPlanError(path: path + ".match.operation", reason: "is known from the point 'body' on")
    }
    if point == .accept || point == .response {
      switch action {
      case .close, .reset, .stall, .delay: break
      case .truncate where point == .response, .expireToken where point == .response: break
      default:
        throw FaultPlanError(
          path: path + ".action", reason: "'\(action.name)' is not possible at the point '\(point.rawValue)'")
      }
    }
    self.init(endpoint: endpoint, operation: operation, occurrence: occurrence, point: point, action: action)
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
    case "huge": self = .huge(bytes: Int(try reader.integer("bytes", 0...1 << 30) ?? 64 << 20))
    default: throw reader.error("action", "'\(name)' is not an action")
    }
  }
}

/// Takes the members of an object one by one and knows which are left.
struct PlanReader {
  let path: String
  private let node: JSONNode
  private var rest: [JSONMember]

  init(_ node: JSONNode, path: String) throws {
    guard let members = node.members else { throw FaultPlanError(path: path, reason: "is not an object") }
    self.node = node
    self.path = path
    rest = members
  }

  func error(_ key: String, _ reason: String) -> FaultPlanError {
    FaultPlanError(path: path.utf8.isEmpty ? key : "\(path).\(key)", reason: reason)
  }

  mutating func node(_ key: String) -> JSONNode? {
    guard let index = rest.firstIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) else { return nil }
    return rest.remove(at: index).value
  }

  mutating func string(_ key: String) throws -> String? {
    guard let node = node(key) else { return nil }
    guard let text = node.string else { throw error(key, "is not a string") }
    return text
  }

  mutating func integer(_ key: String, _ range: ClosedRange<Int64>) throws -> Int64? {
    guard let node = node(key) else { return nil }
    guard let number = node.integer, range.contains(number) else { throw error(key, "is not a whole number in \(range)") }
    return number
  }

  mutating func double(_ key: String, _ range: ClosedRange<Double>) throws -> Double? {
    guard let node = node(key) else { return nil }
    guard let number = node.double, range.contains(number) else { throw error(key, "is not a number in \(range)") }
    return number
  }

  mutating func bool(_ key: String) throws -> Bool? {
    guard let node = node(key) else { return nil }
    guard let flag = node.bool else { throw error(key, "is not true or false") }
    return flag
  }

  mutating func array(_ key: String) throws -> [JSONNode]? {
    guard let node = node(key) else { return nil }
    guard let array = node.array else { throw error(key, "is not an array") }
    return array
  }

  /// A number, or an array of them.
  mutating func integers(_ key: String) throws -> [Int]? {
    guard let node = node(key) else { return nil }
    let numbers = (node.array ?? [node]).map { $0.integer.flatMap { $0 > 0 ? Int(exactly: $0) : nil } }
    let whole = numbers.compactMap { $0 }
    guard whole.count == numbers.count else { throw error(key, "is not a number from 1 on, or an array of them") }
    return whole
  }

  mutating func strings(_ key: String) throws -> [String: String]? {
    guard let node = node(key) else { return nil }
    guard let members = node.members else { throw error(key, "is not an object") }
    var strings: [String: String] = [:]
    for member in members {
      guard let text = member.value.string else { throw error("\(key).\(member.key)", "is not a string") }
      strings[member.key] = text
    }
    return strings
  }

  mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, of type: Choice.Type
  ) throws -> Choice? where Choice.RawValue == String {
    guard let text = try string(key) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let known = Choice.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw error(key, "'\(text)' is not one of \(known)")
    }
    return choice
  }

  /// Refuses what nobody asked for.
  func finish() throws {
    if let unknown = rest.first { throw error(unknown.key, "is not known here") }
  }
}
