import BatchFoundation

/// What a rule asks of a record (reference formats 6.3).
indirect enum MapCondition: Sendable {
  case test(MapPath, MapTest)
  /// One of them, each with all of its conditions.
  case any([[MapCondition]])

  func holds(in record: JSONView, of line: JSONView) -> Bool {
    switch self {
    case .test(let path, let test): test.holds(path.value(in: record, of: line))
    case .any(let choices): choices.contains { $0.allSatisfy { $0.holds(in: record, of: line) } }
    }
  }

  var paths: [MapPath] {
    switch self {
    case .test(let path, _): [path]
    case .any(let choices): choices.flatMap { $0.flatMap(\.paths) }
    }
  }
}

/// What is asked of the value at a path.
indirect enum MapTest: Sendable {
  /// One of the texts; a number and a boolean count as they are written.
  case isOneOf([[UInt8]])
  /// Whether there is a value that is neither null nor an empty text.
  case exists(Bool)
  case begins([UInt8])
  case ends([UInt8])
  case contains([UInt8])
  case atLeast(Double)
  case below(Double)
  case not(MapTest)
  case all([MapTest])

  func holds(_ value: JSONView?) -> Bool {
    switch self {
    case .exists(let wanted): return (value?.isGiven ?? false) == wanted
    case .not(let test): return !test.holds(value)
    case .all(let tests): return tests.allSatisfy { $0.holds(value) }
    default: break
    }
    guard let text = value?.scalarText else { return false }
    switch self {
    case .isOneOf(let texts): return texts.contains { $0.withText { $0 == text } }
    case .begins(let part):
      return text.count >= part.count && part.withText { $0 == text.slice(0, part.count) }
    case .ends(let part):
      return text.count >= part.count && part.withText { $0 == text.slice(text.count - part.count, text.count) }
    case .contains(let part):
      guard text.count >= part.count else { return false }
      return part.withText { part in
        (0...(text.count - part.count)).contains { text.slice($0, $0 + part.count) == part }
      }
    case .atLeast(let bound): return Double(text.description).map { $0 >= bound } ?? false
    case .below(let bound): return Double(text.description).map { $0 < bound } ?? false
    default: return false
    }
  }
}
