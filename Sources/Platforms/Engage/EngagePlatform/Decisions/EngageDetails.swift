import BatchPlatform
import EngageRules

/// What the deciders of an Engage job note besides figures.
struct EngageDetails: PlatformDetails {
  /// With the routes of the run.
  let links: DeepLinkRouter
  /// Links by the index of the route that they matched.
  var routes: [Int: Int] = [:]

  mutating func add(_ other: any PlatformDetails) {
    // A run has deciders of one platform.
    guard let other = other as? EngageDetails else { return }
    routes.merge(other.routes, uniquingKeysWith: +)
  }
}
