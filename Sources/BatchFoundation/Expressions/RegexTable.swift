/// A small expression as a table of states, one step for each byte of an ASCII value and no memory for a value.
///
/// Most expressions in schemas are of this kind and are asked about every event. A state of the table is the set of all
/// instructions that the program would follow at once.
struct RegexTable: Sendable {
  private static let mostStates = 64
  private static let dead: Int16 = -1

  /// The next state for each state and byte.
  private var next: [Int16] = []
  private var accepts: [Bool] = []

  /// Nil if the program looks at the places between characters, or has more states than a table should.
  init?(_ program: RegexProgram) {
    let instructions = program.instructions
    guard let start = Self.closure([0], instructions) else { return nil }
    var states = [start]
    var numbers = [start: 0]
    var at = 0
    while at < states.count {
      accepts.append(states[at].contains(instructions.count - 1))
      for byte in UInt32(0)..<128 {
        let reached = states[at].filter {
          if case .set(let set) = instructions[$0] { set.contains(byte) } else { false }
        }
        guard !reached.isEmpty else {
          next.append(Self.dead)
          continue
        }
        guard let target = Self.closure(reached.map { $0 + 1 }, instructions) else { return nil }
        let number = numbers[target] ?? states.count
        if number == states.count {
          guard number < Self.mostStates else { return nil }
          numbers[target] = number
          states.append(target)
        }
        next.append(Int16(number))
      }
      at += 1
    }
  }

  /// The instructions that wait for a character, and the last one, that are reached from these; in order. Nil for an assertion.
  private static func closure(_ seeds: [Int], _ instructions: [RegexProgram.Instruction]) -> [Int]? {
    var seen: Set<Int> = []
    var stack = seeds
    var found: [Int] = []
    while let state = stack.popLast() {
      guard seen.insert(state).inserted else { continue }
      switch instructions[state] {
      case .jump(let target): stack.append(target)
      case .split(let one, let other): stack += [one, other]
      case .set, .accept: found.append(state)
      case .assert: return nil
      }
    }
    return found.sorted()
  }

  /// Whether the whole value matches; nil if it has a character beyond ASCII, which the table does not know.
  func matches(_ value: UnsafeBufferPointer<UInt8>) -> Bool? {
    var state = 0
    for index in value.indices {
      let byte = unsafe value[index]
      guard byte < 128 else { return nil }
      let reached = next[state << 7 | Int(byte)]
      // Nothing that follows could make the value match.
      guard reached >= 0 else { return false }
      state = Int(reached)
    }
    return accepts[state]
  }
}
