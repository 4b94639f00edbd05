/// A parsed expression. Groups are dropped because nothing is captured.
indirect enum RegexNode: Sendable {
  case empty
  case set(RegexSet)
  case assertion(RegexAssertion)
  case sequence([RegexNode])
  case choice([RegexNode])
  /// `most` is nil if there is no upper limit.
  case repeated(RegexNode, least: Int, most: Int?)
}

/// A condition on a position in the value.
enum RegexAssertion: Sendable {
  /// `\A`, and `^` without the flag `m`.
  case start
  case lineStart
  /// `\z`
  case end
  /// `\Z`, and `$` without the flag `m`: the end of the value, or the position before a line terminator at the end.
  case endOrLastTerminator
  case lineEnd
  case wordBoundary
  case noWordBoundary
}

extension RegexNode {
  /// The capped cost of advancing the node by one character: one per instruction, and more for a class with many parts.
  var programSize: Int {
    switch self {
    case .empty: 0
    case .set(let set): limited(1 + set.partCount / 4)
    case .assertion: 1
    case .sequence(let nodes): nodes.reduce(0) { limited($0 + $1.programSize) }
    case .choice(let nodes): nodes.reduce(0) { limited($0 + $1.programSize + 2) }
    case .repeated(let node, let least, let most): repeatedSize(node.programSize, least, most)
    }
  }

  private func repeatedSize(_ size: Int, _ least: Int, _ most: Int?) -> Int {
    guard let most else { return limited(size * limited(least) + size + 2) }
    return limited(size * limited(least) + (size + 1) * limited(most - least))
  }

  /// The node without a leading start or a trailing end anchor: they are redundant because the whole value must match.
  var withoutOuterAnchors: RegexNode {
    guard case .sequence(var nodes) = self else { return self }
    if case .assertion(.start) = nodes.first { nodes.removeFirst() }
    switch nodes.last {
    case .assertion(.end), .assertion(.endOrLastTerminator): nodes.removeLast()
    default: break
    }
    return .sequence(nodes)
  }

  /// The length of the longest match in characters; nil if there is no limit.
  var longestMatch: Int? {
    switch self {
    case .empty, .assertion: return 0
    case .set: return 1
    case .sequence(let nodes):
      var sum = 0
      for node in nodes {
        guard let length = node.longestMatch else { return nil }
        sum = limited(sum + length)
      }
      return sum
    case .choice(let nodes):
      var longest = 0
      for node in nodes {
        guard let length = node.longestMatch else { return nil }
        longest = max(longest, length)
      }
      return longest
    case .repeated(let node, _, let most):
      guard let length = node.longestMatch else { return nil }
      if length == 0 { return 0 }
      return most.map { limited(length * limited($0)) }
    }
  }
}

/// Caps a size so that sums and products cannot overflow; the cap exceeds every accepted size.
private func limited(_ size: Int) -> Int { min(size, 1 << 20) }
