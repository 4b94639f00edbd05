/// An expression compiled to instructions and run as a nondeterministic automaton: all alternatives advance together,
/// one character at a time, and no state is entered twice at the same position.
struct RegexProgram: Sendable {
  enum Instruction: Sendable {
    case set(RegexSet)
    case assert(RegexAssertion)
    case split(Int, Int)
    case jump(Int)
    case accept
  }

  private(set) var instructions: [Instruction] = []
  private var findsWords = false

  init(_ tree: RegexNode) {
    emit(tree)
    instructions.append(.accept)
  }

  var size: Int { instructions.count }

  /// Returns whether the whole value matches.
  func matches(_ scalars: [UInt32]) -> Bool {
    let value = RegexValue(scalars, findsWords: findsWords)
    var now = StateSet(capacity: instructions.count)
    var next = StateSet(capacity: instructions.count)
    var stack: [Int] = []
    enter(0, value, 0, &now, &stack)
    for (index, scalar) in scalars.enumerated() {
      if now.isEmpty { return false }
      next.removeAll()
      for state in now.members {
        guard case .set(let set) = instructions[state], set.contains(scalar) else { continue }
        enter(state + 1, value, index + 1, &next, &stack)
      }
      swap(&now, &next)
    }
    return now.contains(instructions.count - 1)
  }

  /// Adds a state and all states reachable from it without reading a character.
  private func enter(_ state: Int, _ value: RegexValue, _ index: Int, _ set: inout StateSet, _ stack: inout [Int]) {
    stack.append(state)
    while let state = stack.popLast() {
      guard set.insert(state) else { continue }
      switch instructions[state] {
      case .jump(let target): stack.append(target)
      case .split(let one, let other):
        stack.append(other)
        stack.append(one)
      case .assert(let assertion):
        if value.satisfies(assertion, at: index) { stack.append(state + 1) }
      case .set, .accept: break
      }
    }
  }

  private mutating func emit(_ node: RegexNode) {
    switch node {
    case .empty: break
    case .set(let set): instructions.append(.set(set))
    case .assertion(let assertion):
      instructions.append(.assert(assertion))
      findsWords = findsWords || assertion == .wordBoundary || assertion == .noWordBoundary
    case .sequence(let nodes): for node in nodes { emit(node) }
    case .choice(let nodes): emitChoice(nodes)
    case .repeated(let node, let least, let most): emitRepeated(node, least, most)
    }
  }

  private mutating func emitChoice(_ nodes: [RegexNode]) {
    var ends: [Int] = []
    for (index, node) in nodes.enumerated() {
      guard index < nodes.count - 1 else {
        emit(node)
        break
      }
      let fork = instructions.count
      instructions.append(.jump(0))
      emit(node)
      ends.append(instructions.count)
      instructions.append(.jump(0))
      instructions[fork] = .split(fork + 1, instructions.count)
    }
    for end in ends { instructions[end] = .jump(instructions.count) }
  }

  private mutating func emitRepeated(_ node: RegexNode, _ least: Int, _ most: Int?) {
    // A node without instructions matches only the empty string, however often it is repeated.
    guard node.programSize > 0 else { return }
    for _ in 0..<least { emit(node) }
    guard let most else {
      let fork = instructions.count
      instructions.append(.jump(0))
      emit(node)
      instructions.append(.jump(fork))
      instructions[fork] = .split(fork + 1, instructions.count)
      return
    }
    var forks: [Int] = []
    for _ in least..<most {
      forks.append(instructions.count)
      instructions.append(.jump(0))
      emit(node)
    }
    for fork in forks { instructions[fork] = .split(fork + 1, instructions.count) }
  }
}

/// A set of small numbers with cheap insertion and clearing, iterated in insertion order.
private struct StateSet {
  private(set) var members: [Int] = []
  /// The index of each number in `members`, valid only if `members` has the number there.
  private var places: [Int]

  init(capacity: Int) {
    places = Array(repeating: 0, count: capacity)
    members.reserveCapacity(capacity)
  }

  var isEmpty: Bool { members.isEmpty }

  func contains(_ number: Int) -> Bool {
    places[number] < members.count && members[places[number]] == number
  }

  mutating func insert(_ number: Int) -> Bool {
    if contains(number) { return false }
    places[number] = members.count
    members.append(number)
    return true
  }

  mutating func removeAll() { members.removeAll(keepingCapacity: true) }
}

struct RegexValue {
  private let scalars: [UInt32]
  /// For each character and the end, whether a word boundary precedes it; empty if the expression needs no boundaries.
  private let wordBoundaries: [Bool]

  init(_ scalars: [UInt32], findsWords: Bool) {
    self.scalars = scalars
    wordBoundaries = findsWords ? Self.wordBoundaries(in: scalars) : []
  }

  /// Returns whether the condition holds before the character at `index`.
  func satisfies(_ assertion: RegexAssertion, at index: Int) -> Bool {
    switch assertion {
    case .start: index == 0
    case .lineStart: index == 0 || (index < scalars.count && isTerminator(index - 1) && !isInsidePair(index))
    case .end: index == scalars.count
    case .endOrLastTerminator: index == scalars.count || isLastTerminator(index)
    case .lineEnd: index == scalars.count || (isTerminator(index) && !isInsidePair(index))
    case .wordBoundary: wordBoundaries[index]
    case .noWordBoundary: !wordBoundaries[index]
    }
  }

  /// Computes word boundaries; marks and format characters belong to the character before them, as in ICU.
  private static func wordBoundaries(in scalars: [UInt32]) -> [Bool] {
    var boundaries: [Bool] = []
    boundaries.reserveCapacity(scalars.count + 1)
    var wasWord = false
    for scalar in scalars {
      if RegexProperty.attached.contains(scalar) {
        boundaries.append(false)
      } else {
        let isWord = RegexProperty.word.contains(scalar)
        boundaries.append(isWord != wasWord)
        wasWord = isWord
      }
    }
    boundaries.append(wasWord)
    return boundaries
  }

  private func isTerminator(_ index: Int) -> Bool { RegexProperty.lineTerminator.contains(scalars[index]) }

  /// Returns whether the position is between a carriage return and its line feed.
  private func isInsidePair(_ index: Int) -> Bool {
    index > 0 && index < scalars.count && scalars[index - 1] == 0x0D && scalars[index] == 0x0A
  }

  private func isLastTerminator(_ index: Int) -> Bool {
    switch scalars.count - index {
    case 1: isTerminator(index) && !isInsidePair(index)
    case 2: scalars[index] == 0x0D && scalars[index + 1] == 0x0A
    default: false
    }
  }
}
