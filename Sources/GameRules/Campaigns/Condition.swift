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
