/// What a rule asks of a record (reference formats 6.3).
indirect enum MapCondition: Hashable, Sendable {
  case test(MapPath, MapTest)
  /// One of them, each with all of its conditions.
  case any([[MapCondition]])

  var paths: [MapPath] {
    switch self {
    case .test(let path, _): [path]
    case .any(let choices): choices.flatMap { $0.flatMap(\.paths) }
    }
  }
}

/// What is asked of the value at a path.
indirect enum MapTest: Hashable, Sendable {
  /// One of the texts; a number and a boolean count as they are written.
  case isOneOf([[UInt8]])
  /// Whether there is more than null, empty texts and empty arrays.
  case exists(Bool)
  case begins([UInt8])
  case ends([UInt8])
  case contains([UInt8])
  case atLeast(Double)
  case below(Double)
  case not(MapTest)
  case all([MapTest])
}
