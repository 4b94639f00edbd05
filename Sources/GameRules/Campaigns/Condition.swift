import BatchFoundation

/// A trigger's condition: tokens in reverse Polish notation (reference deltadna 7).
struct Condition: Sendable {
  enum Token: Sendable {
    case parameter(Text)
    case literal(Operand)
    case operation(Operation)
  }

  /// An operand. Texts point into the memory of the configuration or of the event.
  enum Operand: Sendable {
    case bool(Bool)
    case number(Text)
    case string(Text)
    case instant(Instant)
  }

  /// Nil if the condition could not be read; it then never holds.
  private let tokens: [Token]?

  init(_ tokens: [Token]?) { self.tokens = tokens }

  static let never = Condition(nil)

  /// Returns whether the condition holds for an event's `eventParams`. A condition without tokens always holds.
  func holds(for parameters: JSONView) -> Bool {
    guard let tokens else { return false }
    guard !tokens.isEmpty else { return true }
    return unsafe withUnsafeTemporaryAllocation(of: Token.self, capacity: tokens.count) { stack in
      var depth = 0
      for token in tokens {
        var entry = token
        if case .operation(let operation) = token {
          guard depth >= 2, case .literal(let right) = unsafe stack[depth - 1],
            let left = unsafe Self.operand(stack[depth - 2], like: right, in: parameters),
            let result = operation.result(left, right)
          else { return false }
          depth -= 2
          entry = .literal(.bool(result))
        }
        unsafe stack.initializeElement(at: depth, to: entry)
        depth += 1
      }
      guard case .literal(.bool(true)) = unsafe stack[depth - 1] else { return false }
      return true
    }
  }

  /// Returns the left operand's value. A parameter is read as a value of the right operand's kind; the result is nil if
  /// it is missing or of a different kind.
  private static func operand(_ entry: Token, like right: Operand, in parameters: JSONView) -> Operand? {
    if case .literal(let operand) = entry { return operand }
    guard case .parameter(let name) = entry, let value = parameters[name] else { return nil }
    switch right {
    case .bool: return value.bool.map { .bool($0) }
    case .number: return value.number.map { .number($0) }
    case .string: return value.string.map { .string($0) }
    case .instant: return value.string.flatMap { Instant(eventTimestamp: $0) }.map { .instant($0) }
    }
  }
}

/// An operator in a condition (reference deltadna-service 4.6).
enum Operation: Sendable, Equatable {
  case and, or
  case order(Order)
  case text(Search, ignoringCase: Bool)

  /// Comparisons of two values of the same kind. Strings and booleans support only the first two.
  enum Order: String, CaseIterable, Sendable {
    case equal = "equal to"
    case notEqual = "not equal to"
    case greater = "greater than"
    case greaterOrEqual = "greater than eq"
    case less = "less than"
    case lessOrEqual = "less than eq"

    /// - Parameter comparison: negative, zero or positive if the left side is less than, equal to or greater than the
    ///   right.
    func holds(_ comparison: Int) -> Bool {
      switch self {
      case .equal: comparison == 0
      case .notEqual: comparison != 0
      case .greater: comparison > 0
      case .greaterOrEqual: comparison >= 0
      case .less: comparison < 0
      case .lessOrEqual: comparison <= 0
      }
    }

    var isEquality: Bool { self == .equal || self == .notEqual }
  }

  /// Comparisons of strings only.
  enum Search: String, CaseIterable, Sendable {
    case equal = "equal to"
    case notEqual = "not equal to"
    case contains = "contains"
    case starts = "starts with"
    case ends = "ends with"
  }

  /// - Parameter name: the name in a session configuration; ASCII case is ignored.
  init?(name: String) {
    let folded = String(
      decoding: name.utf8.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    if folded.isIdentical(to: "and") {
      self = .and
    } else if folded.isIdentical(to: "or") {
      self = .or
    } else if let order = Order.allCases.first(where: { $0.rawValue.isIdentical(to: folded) }) {
      self = .order(order)
    } else if let search = Search.allCases.first(where: { $0.rawValue.isIdentical(to: folded) }) {
      self = .text(search, ignoringCase: false)
    } else if let search = Search.allCases.first(where: { "\($0.rawValue) ic".isIdentical(to: folded) }) {
      self = .text(search, ignoringCase: true)
    } else {
      return nil
    }
  }

  /// Returns the result; nil if the operands are of different kinds, or of a kind that the operator does not compare.
  func result(_ left: Condition.Operand, _ right: Condition.Operand) -> Bool? {
    switch (self, left, right) {
    case (.and, .bool(let left), .bool(let right)): return left && right
    case (.or, .bool(let left), .bool(let right)): return left || right
    case (.order(let order), .bool(let left), .bool(let right)):
      return order.isEquality ? order.holds(left == right ? 0 : 1) : nil
    case (.order(let order), .number(let left), .number(let right)):
      guard let left = ExactDecimal(left), let right = ExactDecimal(right) else { return nil }
      return order.holds(left.compared(to: right))
    case (.order(let order), .instant(let left), .instant(let right)):
      return order.holds(left == right ? 0 : left < right ? -1 : 1)
    case (.order(let order), .string(let left), .string(let right)):
      return order.isEquality ? order.holds(left == right ? 0 : 1) : nil
    case (.text(let search, let ignoringCase), .string(let left), .string(let right)):
      return search.holds(left, right, ignoringCase: ignoringCase)
    default: return nil
    }
  }
}

extension Operation.Search {
  func holds(_ text: Text, _ part: Text, ignoringCase: Bool) -> Bool {
    func matches(at start: Int) -> Bool {
      guard ignoringCase else { return text.slice(start, start + part.count) == part }
      for index in 0..<part.count where Text.lowered(text[start + index]) != Text.lowered(part[index]) { return false }
      return true
    }
    let room = text.count - part.count
    switch self {
    case .equal: return room == 0 && matches(at: 0)
    case .notEqual: return room != 0 || !matches(at: 0)
    case .starts: return room >= 0 && matches(at: 0)
    case .ends: return room >= 0 && matches(at: room)
    case .contains:
      guard room >= 0 else { return false }
      for start in 0...room where matches(at: start) { return true }
      return false
    }
  }
}
