import BatchFoundation

extension SessionConfigurationReader {
  /// Reads a trigger's condition, and warns if it can never hold.
  func readCondition(_ field: Field?) -> Condition {
    if field == nil { return Condition([]) }
    guard let elements = array(field, otherwise: "the condition never holds") else { return .never }
    var tokens: [Condition.Token] = []
    for element in elements {
      guard let token = readToken(element) else { return .never }
      tokens.append(token)
    }
    warnIfNeverTrue(tokens, at: elements)
    return Condition(tokens)
  }

  private func readToken(_ node: JSONNode) -> Condition.Token? {
    guard let members = node.members, members.count == 1, let member = members.first else {
      faults.warn(node.place, "a token is not an object with one key; the condition never holds")
      return nil
    }
    guard let token = token(member.key, member.value) else {
      faults.warn(
        node.place, "the token '\(member.key)' is unknown or its value is unreadable; the condition never holds")
      return nil
    }
    return token
  }

  private func token(_ key: String, _ value: JSONNode) -> Condition.Token? {
    switch Array(key.utf8) {
    case [UInt8(ascii: "p")]: value.string.map { .parameter(texts.text($0)) }
    case [UInt8(ascii: "o")]: value.string.flatMap { Operation(name: $0) }.map { .operation($0) }
    case [UInt8(ascii: "b")]: value.bool.map { .literal(.bool($0)) }
    case [UInt8(ascii: "s")]: value.string.map { .literal(.string(texts.text($0))) }
    case [UInt8(ascii: "t")]:
      value.string.flatMap { Instant(eventTimestamp: texts.text($0)) }.map { .literal(.instant($0)) }
    case [UInt8(ascii: "i")], [UInt8(ascii: "l")], [UInt8(ascii: "f")], [UInt8(ascii: "d")]: number(value)
    default: nil
    }
  }

  /// Returns the token for a number, or for a string that contains one; otherwise nil.
  private func number(_ node: JSONNode) -> Condition.Token? {
    guard let written = node.stringOrNumber else { return nil }
    let text = texts.text(written)
    return ExactDecimal(text) == nil ? nil : .literal(.number(text))
  }

  /// Warns of a condition that cannot hold for any event. Counts the values and tracks which of them are parameters.
  private func warnIfNeverTrue(_ tokens: [Condition.Token], at nodes: [JSONNode]) {
    var isParameter: [Bool] = []
    for (token, node) in zip(tokens, nodes) {
      switch token {
      case .parameter: isParameter.append(true)
      case .literal: isParameter.append(false)
      case .operation:
        guard isParameter.count >= 2 else {
          faults.warn(node.place, "an operator has too few values before it; the condition never holds")
          return
        }
        if isParameter.removeLast() {
          faults.warn(node.place, "a parameter is on the right of an operator; the condition never holds")
          return
        }
        isParameter[isParameter.count - 1] = false
      }
    }
    if let last = nodes.last, isParameter.last == true || tokens.last?.isLiteralOtherThanTrue == true {
      faults.warn(
        last.place, "the condition ends with a parameter or a constant other than true; the condition never holds")
    }
  }
}

extension Condition.Token {
  fileprivate var isLiteralOtherThanTrue: Bool {
    switch self {
    case .literal(.bool(true)): false
    case .literal: true
    case .parameter, .operation: false
    }
  }
}
