import BatchPipeline
import EventSchemas

/// What the deciders of a deltaDNA job note for the report, besides figures.
struct GameDetails: PlatformDetails {
  /// With the schema and the session configuration of the run.
  let rules: GameDecisionRules
  var findings = FindingTally()
  /// Nil without a schema.
  var coverage: SchemaCoverage?
  /// Responses of triggers by their key.
  var responses: [UInt64: Int] = [:]

  init(_ rules: GameDecisionRules) { self.rules = rules }

  mutating func add(_ other: any PlatformDetails) {
    // A run has deciders of one platform.
    guard let other = other as? GameDetails else { return }
    findings.add(other.findings)
    if let more = other.coverage {
      if coverage == nil { coverage = more } else { coverage?.add(more) }
    }
    responses.merge(other.responses, uniquingKeysWith: +)
  }
}
