import BatchFoundation

/// Matches one route against a link whose last `level` segments were removed (reference deep-links 3).
struct LinkMatch {
  let link: RoutableLink
  let level: Int
  let route: Route

  /// Returns the first reason against the route (host, path, query, then required parameters), or `passed`.
  func verdict() -> RouteVerdict {
    if let host = route.host {
      guard let given = link.host, given.equals(host) else { return .host(wanted: host, given: link.host) }
    }
    guard let segments = link.segments(for: route, level: level) else {
      return .host(wanted: route.host ?? [], given: nil)
    }
    guard route.parts.count == segments.count else { return .count(wanted: route.parts.count, given: segments.count) }
    // A key without parts matches only the original link, not the rest of a longer one (reference decisions 18).
    if route.host == nil, route.parts.isEmpty, level > 0 { return .count(wanted: 0, given: link.segments.count) }
    return pathFault(segments) ?? queryFault() ?? missingFault() ?? .passed
  }

  /// Returns the placeholder values of a route that passed, in the order of the placeholders in its key.
  func placeholders(into arena: Arena) -> [Attribute] {
    zip(route.parts, link.segments(for: route, level: level) ?? []).compactMap { part, segment in
      guard case .placeholder(let name, _) = part else { return nil }
      return unsafe Attribute(name.withUnsafeBufferPointer { unsafe arena.copy($0) }, segment)
    }
  }

  /// Returns the query parameters that the route declares, in their order in the link.
  func declaredParameters() -> [Attribute] {
    if route.parameters.isEmpty { return [] }
    return link.query.parameters.filter { pair in route.parameters.contains { pair.name.equals($0.name) } }
  }

  private func pathFault(_ segments: ArraySlice<Text>) -> RouteVerdict? {
    for (index, (part, segment)) in zip(route.parts, segments).enumerated() {
      switch part {
      case .literal(let text):
        if !segment.equals(text) { return .literal(index: index, wanted: text, given: segment) }
      case .placeholder(_, let parameter):
        guard let parameter else { continue }
        if let fault = expressionFault(route.parameters[parameter], segment) { return fault }
      }
    }
    return nil
  }

  /// Examines every occurrence of a declared name, although only the last one counts.
  private func queryFault() -> RouteVerdict? {
    for parameter in route.parameters where parameter.expression != nil {
      for pair in link.query.parameters where pair.name.equals(parameter.name) {
        if let fault = expressionFault(parameter, pair.value) { return fault }
      }
    }
    return nil
  }

  private func missingFault() -> RouteVerdict? {
    for parameter in route.parameters where parameter.isRequired {
      let isPresent =
        route.placeholderNames.contains(parameter.name)
        || link.query.parameters.contains { $0.name.equals(parameter.name) }
      if !isPresent { return .missing(parameter: parameter.name) }
    }
    return nil
  }

  private func expressionFault(_ parameter: Route.Parameter, _ value: Text) -> RouteVerdict? {
    guard let expression = parameter.expression else { return nil }
    switch unsafe expression.verdict(on: value.bytes) {
    case .accepted: return nil
    case .rejected: return .expression(parameter: parameter.name, pattern: expression.pattern, given: value)
    case .tooLong: return .tooLong(parameter: parameter.name)
    }
  }
}
