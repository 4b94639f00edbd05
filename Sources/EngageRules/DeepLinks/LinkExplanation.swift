package import BatchFoundation

/// The verdict on a route for a link, by the first reason (reference deep-links 9).
package enum RouteVerdict: Equatable, Sendable {
  case passed
  /// `given` is nil if the link has no host, or none is left at this level.
  case host(wanted: [UInt8], given: Text?)
  case count(wanted: Int, given: Int)
  /// `index` counts the segments of the link from 0.
  case literal(index: Int, wanted: [UInt8], given: Text)
  case expression(parameter: [UInt8], pattern: String, given: Text)
  case missing(parameter: [UInt8])
  /// The value is longer than an expression may examine; no route is chosen for the link.
  case tooLong(parameter: [UInt8])
  /// The route matches, but the other route, by its index, comes first.
  case shadowed(by: Int)

  /// The short name used in all output.
  package var code: String {
    switch self {
    case .passed: "passed"
    case .host: "host"
    case .count: "count"
    case .literal: "literal"
    case .expression: "regex"
    case .missing: "missing"
    case .tooLong: "too_long"
    case .shadowed: "shadowed_by"
    }
  }
}

/// The verdicts of all routes on a link, level by level.
package struct LinkExplanation: Sendable {
  /// One shortening of the link.
  package struct Level: Sendable {
    /// The number of parts removed.
    package var trimmed: Int
    /// The link without them.
    package var link: String
    /// The routes in the order of the file, by their index.
    package var verdicts: [(route: Int, verdict: RouteVerdict)]
  }

  package private(set) var levels: [Level] = []
  /// Whether levels or verdicts beyond the limit were dropped.
  package private(set) var isTruncated = false
  private var size = 0
  private static let largest = 10_000

  mutating func begin(level: Int, _ link: RoutableLink) {
    if size >= Self.largest || levels.count >= Self.largest / 100 {
      isTruncated = true
    } else {
      levels.append(Level(trimmed: level, link: link.address.text(withoutLast: level), verdicts: []))
    }
  }

  mutating func add(_ route: Int, _ verdict: RouteVerdict) {
    guard !isTruncated, !levels.isEmpty else { return }
    levels[levels.count - 1].verdicts.append((route, verdict))
    size += 1
  }

  mutating func choose(_ chosen: Int, among passing: [Int]) {
    guard !isTruncated, let last = levels.indices.last else { return }
    for index in levels[last].verdicts.indices {
      let route = levels[last].verdicts[index].route
      if route != chosen, passing.contains(route) { levels[last].verdicts[index].verdict = .shadowed(by: chosen) }
    }
  }
}
