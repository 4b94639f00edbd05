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

  private let tokens: [Token]
  /// False if the condition could not be read; it then never holds.
  private let isUsable: Bool

  init(_ tokens: [Token]) {
    self.tokens = tokens
    isUsable = true
  }

  private init() {
    tokens = []
    isUsable = false
  }

  static var never: Condition { Condition() }

  private enum Entry {
    case parameter(Text)
    case value(Operand)
  }

  /// Returns whether the condition holds for an event's `eventParams`. A condition without tokens always holds.
  func holds(for parameters: JSONView) -> Bool {
    guard isUsable else { return false }
    guard !tokens.isEmpty else { return true }
    return unsafe withUnsafeTemporaryAllocation(of: Entry.self, capacity: tokens.count) { stack in
      var depth = 0
      for token in tokens {
        let entry: Entry
        switch token {
        case .parameter(let name): entry = .parameter(name)
        case .literal(let operand): entry = .value(operand)
        case .operation(let operation):
          guard depth >= 2, case .value(let right) = unsafe stack[depth - 1],
            let left = unsafe Self.operand(stack[depth - 2], like: right, in: parameters),
            let result = operation.result(left, right)
          else { return false }
          depth -= 2
          entry = .value(.bool(result))
        }
        unsafe stack.initializeElement(at: depth, to: entry)
        depth += 1
      }
      guard case .value(.bool(true)) = unsafe stack[depth - 1] else { return false }
      return true
    }
  }

  /// Returns the left operand's value. A parameter is read as a value of the right operand's kind; the result is nil if
  /// it is missing or of a different kind.
  private static func operand(_ entry: Entry, like right: Operand, in parameters: JSONView) -> Operand? {
    guard case .parameter(let name) = entry else {
      if case .value(let operand) = entry { return operand }
      return nil
    }
    guard let value = parameters[name] else { return nil }
    switch right {
    case .bool: return value.bool.map { .bool($0) }
    case .number: return value.number.map { .number($0) }
    case .string: return value.string.map { .string($0) }
    case .instant: return value.string.flatMap { Instant(eventTimestamp: $0) }.map { .instant($0) }
    }
  }
}
