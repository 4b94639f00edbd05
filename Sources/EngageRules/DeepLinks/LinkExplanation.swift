package import BatchFoundation

/// The verdict on a route for a link: passed, or the first reason against the route (reference deep-links 9).
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
  /// The route matches, but the route with the given index takes precedence.
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

/// The verdicts on all routes for a link, level by level.
package struct LinkExplanation: Sendable {
  /// The verdicts for the link without its last ``trimmed`` parts.
  package struct Level: Sendable {
    /// The number of parts removed.
    package var trimmed: Int
    /// The link without these parts.
    package var link: String
    /// The verdicts in file order; `route` is the index of the route.
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

/// A problem that did not prevent reading the link, but that its author should know about (reference deep-links 9).
package struct LinkWarning: Hashable, Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A `%` that is not an escape; the text was kept as written.
    case badPercent = "bad_percent"
    /// Escapes that are not UTF-8; the text was kept as written.
    case badUTF8 = "bad_utf8"
    /// A piece of the query without `=`; it was dropped.
    case bareName = "bare_name"
    /// A piece of the query that begins with `=`; it was dropped.
    case emptyName = "empty_name"
    /// A name that the query repeats; its last value counts.
    case duplicateName = "duplicate_name"
    /// A query parameter that replaced a placeholder's value.
    case pathQueryCollision = "path_query_collision"
    /// A `+`, which is taken literally here, although browsers write a space as `+`.
    case plusSign = "plus_sign"
    /// A value that contains a `=`; the SDKs dropped such parameters.
    case extraEquals = "extra_equals"
    case noScheme = "no_scheme"
    /// Neither `//` nor `/` after the scheme; no route can match.
    case opaque
    /// A value too long for a route's expression; no route was chosen.
    case tooLong = "too_long"
    /// A handler that the route names but this program does not have; it was skipped.
    case unknownHandler = "unknown_handler"
    /// More than one route matched; the explanation lists the others.
    case ambiguous
    /// A configuration key written in place of a parameter name; it is read as the parameter.
    case campaignAlias = "campaign_alias"
  }

  package var kind: Kind
  /// The parameter, segment, handler or route that the warning is about; empty if it is about the whole link.
  package var subject: Text
}

extension [LinkWarning] {
  /// The maximum number of warnings kept for one link.
  static var most: Int { 64 }

  mutating func add(_ kind: LinkWarning.Kind, about subject: Text = .empty) {
    let warning = LinkWarning(kind: kind, subject: subject)
    if count < Self.most, !contains(warning) { append(warning) }
  }

  mutating func add(_ flaw: PercentDecoding.Flaw?, about subject: Text) {
    switch flaw {
    case .badEscape: add(.badPercent, about: subject)
    case .badUTF8: add(.badUTF8, about: subject)
    case nil: break
    }
  }
}
