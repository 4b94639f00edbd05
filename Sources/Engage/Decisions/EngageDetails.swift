import BatchPipeline
import EngageRules
import EventSchemas
import FoundationEssentials

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

  init(links: DeepLinkRouter, schema: EventSchema?) { (self.links, self.schema) = (links, schema) }

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

/// What a part of a run found, for the process that adds the parts up.
extension EngageDetails {
  private struct Portable: Codable {
    var findings: FindingTally
    var coverage: SchemaCoverage?
  }

  /// Nil where events are not checked.
  func portable() throws -> String? {
    guard schema != nil else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let bytes = try encoder.encode(Portable(findings: findings, coverage: coverage))
    return String(decoding: bytes, as: UTF8.self)
  }

  init(portable text: String, of run: RunContext) throws {
    self.init(links: try DeepLinkRouter(run), schema: try EngageDecisionRules.schema(of: run))
    let portable = try JSONDecoder().decode(Portable.self, from: Data(text.utf8))
    (findings, coverage) = (portable.findings, portable.coverage)
  }
}
