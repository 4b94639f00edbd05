import BatchFoundation
import TestSupport
import Testing

/// Random conditions over random events, against an evaluator that is written in another way: it works backwards from the last
/// token and compares numbers as fractions of integers.
@Suite struct ConditionPropertyTests {
  @Test(arguments: UInt64(1)...8)
  func holdsAsWrittenDifferently(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var held = 0
    for _ in 0..<400 {
      let event = Value.parameters(&random)
      let tokens = Token.condition(&random)
      let condition = "[" + tokens.map(\.json).joined(separator: ",") + "]"
      let parameters =
        "{" + event.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.json)" }.joined(separator: ",") + "}"
      let expected = Model.holds(tokens, event)
      held += expected ? 1 : 0
      #expect(try TriggerFixture.holds(condition, parameters) == expected, "\(condition) for \(parameters)")
    }
    #expect(held > 40)
  }
}

/// A value of an event or a literal.
private enum Value {
  /// Thousandths, and how the number is written.
  case number(Int, String)
  case bool(Bool)
  case text(String)
  /// Milliseconds, and how the time is written.
  case time(Int, String)
  case null

  var json: String {
    switch self {
    case .number(_, let text): text
    case .bool(let flag): "\(flag)"
    case .text(let text), .time(_, let text): "\"\(text)\""
    case .null: "null"
    }
  }

  static func random(_ random: inout SplitMix64) -> Value {
    switch random.below(9) {
    case 0...2: number(&random)
    case 3, 4: .bool(random.below(2) == 0)
    case 5, 6: text(&random)
    case 7: time(&random)
    default: .null
    }
  }

  /// A parameter of each kind, now and then one of another.
  static func parameters(_ random: inout SplitMix64) -> [String: Value] {
    var event: [String: Value] = [
      "a": number(&random), "b": .bool(random.below(2) == 0), "c": text(&random), "d": time(&random),
    ]
    if random.below(4) == 0 { event[["a", "b", "c", "d"][random.below(4)]] = Value.random(&random) }
    return event
  }

  static func number(_ random: inout SplitMix64) -> Value {
    let value = random.below(9) - 4
    return switch random.below(5) {
    case 0: .number(value * 1000, "\(value)")
    case 1: .number(value * 1000, "\(value).0")
    case 2: .number(value * 1000, value == 0 ? "0e-3" : "\(value)000e-3")
    case 3: .number(value * 100 + 0, "\(value)E-1")
    default: .number(abs(value) * 1000 + 5, "\(abs(value)).005")
    }
  }

  static func text(_ random: inout SplitMix64) -> Value {
    .text((0..<random.below(4)).map { _ in ["a", "A", "b", "é"][random.below(4)] }.joined())
  }

  static func time(_ random: inout SplitMix64) -> Value {
    let second = random.below(3)
    return switch random.below(3) {
    case 0: .time(second * 1000, "2026-01-05 10:00:0\(second).000")
    case 1: .time(second * 1000, "2026-1-5 10:0:\(second)")
    default: .time(second * 1000 + 500, "2026-01-05T12:00:0\(second).5+0200")
    }
  }
}

private enum Token {
  case parameter(String)
  case literal(Value)
  case operation(String)

  var json: String {
    switch self {
    case .parameter(let name): #"{"p":"\#(name)"}"#
    case .operation(let name): #"{"o":"\#(name)"}"#
    case .literal(let value):
      switch value {
      case .number: #"{"i":\#(value.json)}"#
      case .bool: #"{"b":\#(value.json)}"#
      case .text: #"{"s":\#(value.json)}"#
      case .time: #"{"t":\#(value.json)}"#
      case .null: #"{"s":null}"#
      }
    }
  }

  static let orders = ["equal to", "not equal to", "greater than", "greater than eq", "less than", "less than eq"]
  static let searches = ["contains", "starts with", "ends with", "equal to", "not equal to"]

  /// Mostly sensible: comparisons joined by `and` and `or`, with a slip now and then.
  static func condition(_ random: inout SplitMix64) -> [Token] {
    var tokens = comparison(&random)
    for _ in 0..<random.below(3) {
      tokens += comparison(&random) + [.operation(["and", "or", "OR", "equal to"][random.below(4)])]
    }
    if random.below(8) == 0 { tokens.remove(at: random.below(tokens.count)) }
    if random.below(8) == 0 { tokens.insert(.operation("xor"), at: random.below(tokens.count + 1)) }
    return tokens
  }

  private static func comparison(_ random: inout SplitMix64) -> [Token] {
    let (name, left, right, operation): (String, Value, Value, String) =
      switch random.below(5) {
      case 0, 1: ("a", .number(&random), .number(&random), orders[random.below(6)])
      case 2: ("b", .bool(true), .bool(random.below(2) == 0), booleans[random.below(booleans.count)])
      case 3: ("c", .text(&random), .text(&random), searches[random.below(5)] + ["", " ic", " IC"][random.below(3)])
      default: ("d", .time(&random), .time(&random), orders[random.below(6)])
      }
    switch random.below(12) {
    case 0: return [.literal(.random(&random)), .literal(right), .operation(operation)]
    case 1, 2: return [.literal(left), .literal(right), .operation(operation)]
    case 3: return [.parameter(["a", "b", "c", "d", "e"][random.below(5)]), .literal(right), .operation(operation)]
    default: return [.parameter(name), .literal(right), .operation(operation)]
    }
  }

  private static let booleans = ["and", "or", "equal to", "not equal to", "less than"]
}

private enum Model {
  /// What a stretch of tokens ends with.
  private enum Result {
    case value(Value)
    case parameter(String)
  }

  private struct Broken: Error {}

  static func holds(_ tokens: [Token], _ event: [String: Value]) -> Bool {
    guard !tokens.isEmpty else { return true }
    do {
      var rest = tokens[...]
      let answer = try take(&rest, event)
      // What lies below on the stack has to be sound too.
      while !rest.isEmpty { _ = try take(&rest, event) }
      if case .value(.bool(true)) = answer { return true }
      return false
    } catch {
      return false
    }
  }

  /// Takes the expression that ends the tokens.
  private static func take(_ tokens: inout ArraySlice<Token>, _ event: [String: Value]) throws -> Result {
    guard let last = tokens.popLast() else { throw Broken() }
    switch last {
    case .parameter(let name): return .parameter(name)
    case .literal(.null): throw Broken()
    case .literal(let value): return .value(value)
    case .operation(let name):
      guard case .value(let right) = try take(&tokens, event) else { throw Broken() }
      let left: Value
      switch try take(&tokens, event) {
      case .value(let value): left = value
      case .parameter(let name):
        // A time is a text to whoever asks for one.
        if case .time(_, let text) = event[name], case .text = right {
          left = .text(text)
        } else {
          left = event[name] ?? .null
        }
      }
      return .value(.bool(try compare(left, right, name.lowercased())))
    }
  }

  private static func compare(_ left: Value, _ right: Value, _ operation: String) throws -> Bool {
    switch (left, right) {
    case (.number(let one, _), .number(let two, _)): return try order(one, two, operation)
    case (.time(let one, _), .time(let two, _)): return try order(one, two, operation)
    case (.bool(let one), .bool(let two)):
      switch operation {
      case "and": return one && two
      case "or": return one || two
      case "equal to": return one == two
      case "not equal to": return one != two
      default: throw Broken()
      }
    case (.text(let one), .text(let two)): return try search(one, two, operation)
    default: throw Broken()
    }
  }

  private static func order(_ one: Int, _ two: Int, _ operation: String) throws -> Bool {
    let table: [String: (Int, Int) -> Bool] = [
      "equal to": (==), "not equal to": (!=), "greater than": (>), "greater than eq": (>=), "less than": (<),
      "less than eq": (<=),
    ]
    guard let relation = table[operation] else { throw Broken() }
    return relation(one, two)
  }

  private static func search(_ one: String, _ two: String, _ operation: String) throws -> Bool {
    let ignoring = operation.hasSuffix(" ic")
    let bytes = { (text: String) in text.utf8.map { ignoring && (65...90).contains($0) ? $0 + 32 : $0 } }
    let (text, part) = (bytes(one), bytes(two))
    switch ignoring ? String(operation.dropLast(3)) : operation {
    case "equal to": return text == part
    case "not equal to": return text != part
    case "starts with": return text.starts(with: part)
    case "ends with": return text.reversed().starts(with: part.reversed())
    case "contains": return (0...text.count).contains { text[$0...].starts(with: part) }
    default: throw Broken()
    }
  }
}
