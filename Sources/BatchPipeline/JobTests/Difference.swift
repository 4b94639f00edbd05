import BatchFoundation

/// The differences between a value and the expected one.
///
/// In objects, only the expected members are compared unless `isExact` is set. An expected null matches an absent
/// member.
enum ValueDifference {
  static func of(_ path: String, _ expected: JSONNode, _ actual: JSONNode?, isExact: Bool = false) -> [String] {
    if expected.isNull {
      guard let actual, !actual.isNull else { return [] }
      return ["\(path): expected none, found \(actual.compactText)"]
    }
    guard let actual else { return ["\(path): expected \(expected.compactText), found none"] }
    switch (expected.value, actual.value) {
    case (.object(let wanted), .object(let members)):
      var lines = wanted.flatMap { of("\(path).\($0.key)", $0.value, actual[$0.key], isExact: isExact) }
      if isExact {
        lines += members.filter { expected[$0.key] == nil }.map {
          "\(path).\($0.key): not expected, found \($0.value.compactText)"
        }
      }
      return lines
    case (.array(let wanted), .array(let elements)):
      guard wanted.count == elements.count else {
        return ["\(path): expected \(wanted.count.counted("element")), found \(elements.count): \(actual.compactText)"]
      }
      return zip(wanted, elements).enumerated().flatMap { index, pair in
        of("\(path)[\(index)]", pair.0, pair.1, isExact: isExact)
      }
    default:
      let (wanted, found) = (expected.compactText, actual.compactText)
      return wanted == found ? [] : ["\(path): expected \(wanted), found \(found)"]
    }
  }
}

/// The differences between a list and the expected one: missing, surplus and differing elements.
struct ListDifference {
  private enum Step {
    case same
    case missing(Int)
    case surplus(Int)
  }

  private let name: String
  private let expected: [JSONNode]
  private let actual: [JSONNode]
  private let isExact: Bool
  private let fault: String?

  init(_ name: String, _ expected: JSONNode, _ actual: [JSONNode], isExact: Bool = false) {
    self.name = name
    self.expected = expected.array ?? []
    self.actual = actual
    self.isExact = isExact
    fault = expected.array == nil ? "\(name): the expected value is \(expected.kind), but must be an array" : nil
  }

  var lines: [String] {
    if let fault { return [fault] }
    var lines: [String] = []
    var missing: [Int] = []
    var surplus: [Int] = []
    func flush() {
      // Elements at the same position probably correspond.
      for (wanted, found) in zip(missing, surplus) {
        lines += ValueDifference.of("\(name)[\(found)]", expected[wanted], actual[found], isExact: isExact)
      }
      lines += missing.dropFirst(surplus.count).map { "\(name): missing \(expected[$0].compactText)" }
      lines += surplus.dropFirst(missing.count).map { "\(name): not expected, found \(actual[$0].compactText)" }
      missing = []
      surplus = []
    }
    for step in steps {
      switch step {
      case .same: flush()
      case .missing(let index): missing.append(index)
      case .surplus(let index): surplus.append(index)
      }
    }
    flush()
    return lines
  }

  /// The shortest edit script from the expected list to the actual one.
  private var steps: [Step] {
    let same = expected.map { wanted in
      actual.map { ValueDifference.of("", wanted, $0, isExact: isExact).isEmpty }
    }
    // The length of the longest common subsequence of the remaining elements, for each pair of indices.
    var common = [[Int]](
      repeating: [Int](repeating: 0, count: actual.count + 1), count: expected.count + 1)
    for row in expected.indices.reversed() {
      for column in actual.indices.reversed() {
        common[row][column] =
          same[row][column] ? common[row + 1][column + 1] + 1 : max(common[row + 1][column], common[row][column + 1])
      }
    }
    var steps: [Step] = []
    var (row, column) = (0, 0)
    while row < expected.count || column < actual.count {
      if row < expected.count, column < actual.count, same[row][column] {
        steps.append(.same)
        (row, column) = (row + 1, column + 1)
      } else if column == actual.count || row < expected.count && common[row + 1][column] >= common[row][column + 1] {
        steps.append(.missing(row))
        row += 1
      } else {
        steps.append(.surplus(column))
        column += 1
      }
    }
    return steps
  }
}
