import BatchFoundation

/// The routes by host and number of parts, so that a level of a link looks only at those that may take it.
struct RouteIndex: Sendable {
  /// Route indexes by number of parts, in the order of the file.
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

  /// The routes that fit in host and number of parts, in the order of the file.
  func routes(for link: RoutableLink, level: Int) -> [Int] {
    let left = link.segments.count - level
    let anyHost = withoutHost[left] ?? []
    guard !byHost.isEmpty, let host = link.host, let hosted = unsafe byHost[Array(host.bytes)] else { return anyHost }
    let named = hosted[link.hostIsOwnDomain ? left - 1 : left] ?? []
    return anyHost.isEmpty ? named : named.isEmpty ? anyHost : (named + anyHost).sorted()
  }
}
