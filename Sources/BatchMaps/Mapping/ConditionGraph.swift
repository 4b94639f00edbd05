import BatchFoundation

/// The conditions of all rules as a decision graph: each test leads to another, to a matching rule, or to the end.
struct ConditionGraph {
  struct Test {
    enum Kind {
      /// Whether the value is an object, or more than null, an empty string or an array without values.
      case exists
      case equals, begins, ends, contains
      case atLeast(Double)
      case below(Double)
    }

    var kind: Kind
    var place: MapOutline.Place
    var text = Text.empty
    var yes: Int
    var no: Int
  }

  /// The place after all rules.
  static let end = -1

  /// Returns the place in the graph at which a rule matches.
  static func rule(_ number: Int) -> Int { -2 - number }

  private var tests: [Test] = []
  var first = end

  /// - Parameter place: the place to begin at: ``first``, or the place after the last matching rule.
  /// - Returns: the index of the next rule that matches; nil if there is none.
  @inline(__always)
  func rule(from place: Int, _ values: RecordValues) -> Int? {
    var place = place
    while place >= 0 {
      place = holds(tests[place], values) ? tests[place].yes : tests[place].no
    }
    return place == Self.end ? nil : -2 - place
  }

  @inline(__always)
  private func holds(_ test: Test, _ values: RecordValues) -> Bool {
    guard let value = values[test.place] else { return false }
    if case .exists = test.kind { return value.kind == .object || value.isThere }
    guard let text = value.scalarText else { return false }
    if case .equals = test.kind { return text == test.text || value.kind == .number && text.isEqualNumber(test.text) }
    if value.kind == .number, !text.isPlainInteger, let integer = DecimalText(text)?.integerText {
      return integer.withText { Self.holds(test, $0) }
    }
    return Self.holds(test, text)
  }

  private static func holds(_ test: Test, _ text: Text) -> Bool {
    let part = test.text
    switch test.kind {
    case .exists, .equals: return true
    case .begins: return text.count >= part.count && text.slice(0, part.count) == part
    case .ends: return text.count >= part.count && text.slice(text.count - part.count, text.count) == part
    case .contains:
      guard text.count >= part.count else { return false }
      return (0...(text.count - part.count)).contains { text.slice($0, $0 + part.count) == part }
    case .atLeast(let bound): return Double(text.description).map { $0 >= bound } ?? false
    case .below(let bound): return Double(text.description).map { $0 < bound } ?? false
    }
  }

  /// Adds the tests for conditions that must all hold.
  ///
  /// - Returns: the place of the first test.
  mutating func add(
    _ conditions: some BidirectionalCollection<MapCondition>, then yes: Int, else no: Int, _ outline: inout MapOutline,
    _ memory: Arena
  ) -> Int {
    // In reverse order, because each test refers to the next.
    conditions.reversed().reduce(yes) { yes, condition in
      switch condition {
      case .test(let path, let test): add(test, outline.place(of: path, memory), yes, no, memory)
      case .any(let choices):
        choices.reversed().reduce(no) { add($1, then: yes, else: $0, &outline, memory) }
      }
    }
  }

  private mutating func add(_ test: MapTest, _ place: MapOutline.Place, _ yes: Int, _ no: Int, _ memory: Arena) -> Int {
    func row(_ kind: Test.Kind, _ text: [UInt8] = []) -> Test {
      Test(
        kind: kind, place: place, text: unsafe text.withUnsafeBufferPointer { unsafe memory.copy($0) }, yes: yes, no: no
      )
    }
    switch test {
    case .not(let test): return add(test, place, no, yes, memory)
    case .all(let tests): return tests.reversed().reduce(yes) { add($1, place, $0, no, memory) }
    case .isOneOf(let texts):
      return texts.reversed().reduce(no) { no, text in
        var test = row(.equals, text)
        test.no = no
        return add(test)
      }
    case .exists(let wanted): return wanted ? add(row(.exists)) : add(.not(.exists(true)), place, yes, no, memory)
    case .begins(let text): return add(row(.begins, text))
    case .ends(let text): return add(row(.ends, text))
    case .contains(let text): return add(row(.contains, text))
    case .atLeast(let bound): return add(row(.atLeast(bound)))
    case .below(let bound): return add(row(.below(bound)))
    }
  }

  private mutating func add(_ test: Test) -> Int {
    tests.append(test)
    return tests.count - 1
  }
}
