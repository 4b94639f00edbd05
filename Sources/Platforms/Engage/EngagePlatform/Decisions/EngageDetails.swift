import BatchPlatform
import DeltaDNASchema
import EngageRules

/// What the deciders of an Engage job note besides figures.
struct EngageDetails: PlatformDetails {
  /// With the routes of the run.
  let links: DeepLinkRouter
  /// Links by the index of the route that they matched.
  var routes: [Int: Int] = [:]
  /// Of the run; nil where events are not checked.
  let schema: EventSchema?
  var findings = FindingTally()
  /// Nil without a schema.
  var coverage: SchemaCoverage?

  init(_ rules: EngageDecisionRules) { (links, schema) = (rules.links, rules.schema) }

  mutating func add(_ other: any PlatformDetails) {
    // A run has deciders of one platform.
    guard let other = other as? EngageDetails else { return }
    routes.merge(other.routes, uniquingKeysWith: +)
    findings.add(other.findings)
    if let more = other.coverage {
      if coverage == nil { coverage = more } else { coverage?.add(more) }
    }
  }
}
