import BatchPipeline
import EventSchemas
import FoundationEssentials

/// The details that the deciders of a deltaDNA job collect for the report, besides figures.
struct GameDetails: PlatformDetails {
  /// The rules, with the schema and the session configuration of the run.
  let rules: GameDecisionRules
  var findings = FindingTally()
  /// Nil without a schema.
  var coverage: SchemaCoverage?
  /// Responses of triggers by their key.
  var responses: [UInt64: Int] = [:]

  init(_ rules: GameDecisionRules) { self.rules = rules }

  mutating func add(_ other: any PlatformDetails) {
    // All deciders of a run are of one platform.
    guard let other = other as? GameDetails else { return }
    findings.add(other.findings)
    if let more = other.coverage {
      if coverage == nil { coverage = more } else { coverage?.add(more) }
    }
    responses.merge(other.responses, uniquingKeysWith: +)
  }
}

/// The details of a part of a run, for the process that adds the parts up.
extension GameDetails {
  private struct Portable: Codable {
    var findings: FindingTally
    var coverage: SchemaCoverage?
    /// Pairs of a trigger's key and its responses, sorted by key.
    var responses: [[UInt64]]
  }

  func portable() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let responses = responses.sorted { $0.key < $1.key }.map { [$0.key, UInt64($0.value)] }
    let bytes = try encoder.encode(Portable(findings: findings, coverage: coverage, responses: responses))
    return String(decoding: bytes, as: UTF8.self)
  }

  init(portable text: String, _ rules: GameDecisionRules) throws {
    self.init(rules)
    let portable = try JSONDecoder().decode(Portable.self, from: Data(text.utf8))
    (findings, coverage) = (portable.findings, portable.coverage)
    for pair in portable.responses where pair.count == 2 { responses[pair[0]] = Int(clamping: pair[1]) }
  }
}
