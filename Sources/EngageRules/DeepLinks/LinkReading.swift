package import BatchFoundation

/// What a link says, once routes and query are read (reference deep-links 3 to 6). Fresh for every link.
///
/// Texts lie in the memory of the link or in the arena that the caller gave.
package struct LinkReading {
  package enum Outcome: Equatable, Sendable {
    /// A route of the file, by its index, after the last `trimmed` parts of the link were left out.
    case matched(route: Int, trimmed: Int)
    /// No route matched at any level, and the default route was taken.
    case fallback(trimmed: Int)
    /// No route matched and the file has no default route, or there is no file.
    case none(trimmed: Int)

    /// How many parts (segments from the end, then the host) were left out.
    package var trimmed: Int {
      switch self {
      case .matched(_, let trimmed), .fallback(let trimmed), .none(let trimmed): trimmed
      }
    }
  }

  package var outcome: Outcome
  /// What the matched route captured: placeholders and declared query parameters, by the bytes of their names.
  package var routeParameters: [Attribute] = []
  /// Whether the route's parameters are among ``parameters``; false where the route lists no handler of Engage.
  package var deliversRouteParameters = false
  /// What goes on to campaigns and events: the route's parameters if they are delivered, and every pair of the query,
  /// declared or not, which wins. By the bytes of the names.
  package var parameters: [Attribute] = []
  /// The pairs of the query alone; also in ``parameters``. By the bytes of the names, of a repeated name the last one.
  package var query: [Attribute] = []
  /// Campaign tags and click ids of the query, declared or not; also in ``parameters``. By the bytes of the names.
  package var tracking: [Attribute] = []
  package var warnings: [LinkWarning] = []
}

/// Choices about the reading of links.
package struct LinkOptions: Sendable {
  package var routeOrder: RouteOrderPolicy
  /// Hosts of `http` and `https` links that count as the app itself, so that `https://www.shop.example/product/5` is read
  /// like `app://product/5`. `*.shop.example` stands for all hosts below that domain.
  package var ownDomains: [String]

  package init(routeOrder: RouteOrderPolicy, ownDomains: [String]) {
    self.routeOrder = routeOrder
    self.ownDomains = ownDomains
  }
}
