package import BatchFoundation

/// Reads links according to the routes in a file, as MobileDeepLinking and Engage intended (reference deep-links 3 to
/// 9). No state survives between links, and a link costs at most one look-up for each of its parts.
package struct DeepLinkRouter: Sendable {
  package let file: RouteFile?
  private let options: LinkOptions
  private let index: RouteIndex
  private let deliversAlways: Bool

  /// - Parameter routes: If nil, only the query is read, as the SDKs intended for apps without a configuration file.
  package init(routes: RouteFile?, options: LinkOptions) {
    file = routes
    self.options = options
    index = RouteIndex(routes?.routes ?? [])
    deliversAlways = routes.map { !$0.namesEngageHandlers } ?? false
  }

  /// Reads a link. Decoded text is stored in the arena; the rest stays in the memory of the link.
  package func read(_ url: Text, into arena: Arena) -> LinkReading {
    var nothing: LinkExplanation?
    return read(url, into: arena, explanation: &nothing)
  }

  /// Reads a link and also returns the verdicts on the routes at each level that was tried.
  package func explain(_ url: Text, into arena: Arena) -> (reading: LinkReading, explanation: LinkExplanation) {
    var explanation: LinkExplanation? = LinkExplanation()
    let reading = read(url, into: arena, explanation: &explanation)
    return (reading, explanation ?? LinkExplanation())
  }

  private func read(_ url: Text, into arena: Arena, explanation: inout LinkExplanation?) -> LinkReading {
    let address = LinkAddress(url)
    var warnings: [LinkWarning] = []
    let link = RoutableLink(address, ownDomains: options.ownDomains, into: arena, warnings: &warnings)
    var reading = LinkReading(outcome: .none(trimmed: 0))
    route(link, &reading, &warnings, into: arena, explanation: &explanation)
    reading.query = link.query.parameters.lastByName()
    let delivered = reading.deliversRouteParameters ? reading.routeParameters : []
    reading.parameters = delivered.isEmpty ? reading.query : (delivered + reading.query).lastByName()
    warnAboutAliases(reading.parameters, &warnings)
    reading.tracking = TrackingParameters.among(reading.parameters)
    reading.warnings = warnings
    return reading
  }

  // MARK: Levels

  /// Chooses a route, and sets the outcome and the captured parameters.
  private func route(
    _ link: RoutableLink, _ reading: inout LinkReading, _ warnings: inout [LinkWarning], into arena: Arena,
    explanation: inout LinkExplanation?
  ) {
    guard let file else { return }
    var trimmed = 0
    if link.isRoutable {
      for level in 0...link.segments.count {
        explanation?.begin(level: level, link)
        let passing: [Int]
        switch candidates(link, level, file, explanation: &explanation) {
        case .passing(let routes): passing = routes
        case .unclear(let parameter):
          unsafe warnings.add(.tooLong, about: parameter.withUnsafeBufferPointer { unsafe arena.copy($0) })
          reading.outcome = fallback(file, link.partCount)
          return
        }
        guard let chosen = choose(passing, link, file) else { continue }
        explanation?.choose(chosen, among: passing)
        if passing.count > 1 { warnings.add(.ambiguous, about: arena.text(file.routes[chosen].key)) }
        reading.outcome = .matched(route: chosen, trimmed: level)
        capture(file.routes[chosen], link, level, &reading, &warnings, into: arena)
        return
      }
      trimmed = link.partCount
    }
    reading.outcome = fallback(file, trimmed)
  }

  private func capture(
    _ route: Route, _ link: RoutableLink, _ level: Int, _ reading: inout LinkReading, _ warnings: inout [LinkWarning],
    into arena: Arena
  ) {
    for handler in route.handlers where !handler.isEngage {
      warnings.add(.unknownHandler, about: arena.text(handler.name))
    }
    let match = LinkMatch(link: link, level: level, route: route)
    let placeholders = match.placeholders(into: arena)
    for value in placeholders
    where link.query.parameters.contains(where: { $0.name == value.name && $0.value != value.value }) {
      warnings.add(.pathQueryCollision, about: value.name)
    }
    reading.routeParameters = (placeholders + match.declaredParameters()).lastByName()
    reading.deliversRouteParameters = deliversAlways || route.handlers.contains(where: \.isEngage)
  }

  private func fallback(_ file: RouteFile, _ trimmed: Int) -> LinkReading.Outcome {
    file.defaultHandlers == nil ? .none(trimmed: trimmed) : .fallback(trimmed: trimmed)
  }

  private enum Candidates {
    case passing([Int])
    /// A value was too long for the expression of this parameter.
    case unclear([UInt8])
  }

  private func candidates(
    _ link: RoutableLink, _ level: Int, _ file: RouteFile, explanation: inout LinkExplanation?
  ) -> Candidates {
    var passing: [Int] = []
    let asksAll = explanation.map { !$0.isTruncated } ?? false
    let indexes = !asksAll ? index.routes(for: link, level: level) : Array(file.routes.indices)
    for index in indexes {
      let verdict = LinkMatch(link: link, level: level, route: file.routes[index]).verdict()
      explanation?.add(index, verdict)
      switch verdict {
      case .passed: passing.append(index)
      case .tooLong(let parameter): return .unclear(parameter)
      default: break
      }
    }
    return .passing(passing)
  }

  /// Returns the best of the passing routes; nil if there is none.
  private func choose(_ passing: [Int], _ link: RoutableLink, _ file: RouteFile) -> Int? {
    guard passing.count > 1, options.routeOrder == .literalFirst else { return passing.first }
    return passing.min { one, other in
      let ranks = (file.routes[one].ranks(link), file.routes[other].ranks(link))
      if ranks.0 != ranks.1 { return ranks.0.lexicographicallyPrecedes(ranks.1) }
      let hostFirst = (file.routes[one].host == nil, file.routes[other].host == nil)
      if hostFirst.0 != hostFirst.1 { return hostFirst.1 }
      return one < other
    }
  }

  // MARK: Warnings

  private func warnAboutAliases(_ parameters: [Attribute], _ warnings: inout [LinkWarning]) {
    for parameter in parameters
    where parameter.name == "ParamCampaignValidFor" || parameter.name == "ParamCampaignExpiresAt" {
      warnings.add(.campaignAlias, about: parameter.name)
    }
  }
}

extension Route {
  /// Returns the rank of each part, for ordering routes that match the same link: 0 for a literal, 1 for a placeholder
  /// with an expression, 2 for any other placeholder. A route's host counts as a literal if the first segment serves as
  /// the host.
  fileprivate func ranks(_ link: RoutableLink) -> [Int] {
    let ranks = parts.map { part in
      switch part {
      case .literal: 0
      case .placeholder(_, let parameter?) where parameters[parameter].expression != nil: 1
      case .placeholder: 2
      }
    }
    return link.hostIsOwnDomain && host != nil ? [0] + ranks : ranks
  }
}

/// The routes by host and number of parts, so that, for each level of a link, only those that may match are examined.
struct RouteIndex: Sendable {
  /// Route indices by number of parts, in file order.
  private typealias ByCount = [Int: [Int]]

  private var byHost: [[UInt8]: ByCount] = [:]
  private var withoutHost: ByCount = [:]

  init(_ routes: [Route]) {
    for (index, route) in routes.enumerated() {
      if let host = route.host {
        byHost[host, default: [:]][route.parts.count, default: []].append(index)
      } else {
        withoutHost[route.parts.count, default: []].append(index)
      }
    }
  }

  /// Returns the routes whose host and number of parts fit the link, in file order.
  func routes(for link: RoutableLink, level: Int) -> [Int] {
    let left = link.segments.count - level
    let anyHost = withoutHost[left] ?? []
    guard !byHost.isEmpty, let host = link.host, let hosted = unsafe byHost[Array(host.bytes)] else { return anyHost }
    let named = hosted[link.hostIsOwnDomain ? left - 1 : left] ?? []
    return anyHost.isEmpty ? named : named.isEmpty ? anyHost : (named + anyHost).sorted()
  }
}

/// The result of reading a link by routes and query (reference deep-links 3 to 6). Its texts are in the link or the
/// caller's arena.
package struct LinkReading {
  package enum Outcome: Equatable, Sendable {
    /// The route with this index matched after the last `trimmed` parts of the link were removed.
    case matched(route: Int, trimmed: Int)
    /// No route was chosen; the default route was taken.
    case fallback(trimmed: Int)
    /// No route was chosen and the file has no default route, or there is no file.
    case none(trimmed: Int)

    /// The number of removed parts: segments from the end, then the host.
    package var trimmed: Int {
      switch self {
      case .matched(_, let trimmed), .fallback(let trimmed), .none(let trimmed): trimmed
      }
    }
  }

  package var outcome: Outcome
  /// The parameters captured by the matched route: placeholders and declared query parameters, sorted by name.
  package var routeParameters: [Attribute] = []
  /// Whether ``parameters`` includes the route's; false if the file names Engage handlers but the route names none.
  package var deliversRouteParameters = false
  /// The parameters for campaigns and events: the route's parameters if they are delivered, and every pair of the
  /// query, declared or not. The query takes precedence. Sorted by name.
  package var parameters: [Attribute] = []
  /// The pairs of the query alone, which ``parameters`` also contains. Sorted by name; if a name is repeated, only its
  /// last pair is kept.
  package var query: [Attribute] = []
  /// The campaign tags and click ids among ``parameters``, sorted by name.
  package var tracking: [Attribute] = []
  package var warnings: [LinkWarning] = []
}

/// Options for reading links.
package struct LinkOptions: Sendable {
  package var routeOrder: RouteOrderPolicy
  /// Hosts of `http` and `https` links that count as the app itself, so that `https://www.shop.example/product/5` is
  /// read like `app://product/5`. `*.shop.example` matches all hosts below that domain.
  package var ownDomains: [String]

  package init(routeOrder: RouteOrderPolicy, ownDomains: [String]) {
    self.routeOrder = routeOrder
    self.ownDomains = ownDomains
  }
}
