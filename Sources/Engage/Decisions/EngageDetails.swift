import BatchFoundation
import BatchPipeline
import BatchReport
import EngageRules
import EventSchemas
import FoundationEssentials

/// The results of an Engage job's deciders apart from figures.
struct EngageDetails: PlatformDetails {
  let links: DeepLinkRouter
  /// The number of links by the index of the matching route.
  var routes: [Int: Int] = [:]
  /// The schema of the run; nil if events are not checked.
  let schema: EventSchema?
  var findings = FindingTally()
  /// Nil without a schema.
  var coverage: SchemaCoverage?

  init(links: DeepLinkRouter, schema: EventSchema?) { (self.links, self.schema) = (links, schema) }

  mutating func add(_ other: any PlatformDetails) {
    // All deciders of a run belong to one platform.
    guard let other = other as? EngageDetails else { return }
    routes.merge(other.routes, uniquingKeysWith: +)
    findings.add(other.findings)
    if let more = other.coverage {
      if coverage == nil { coverage = more } else { coverage?.add(more) }
    }
  }
}

/// The findings of one part of a run, as text for the process that merges the parts.
extension EngageDetails {
  private struct Portable: Codable {
    var findings: FindingTally
    var coverage: SchemaCoverage?
  }

  /// Returns nil if events are not checked.
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

/// The counts of Engage's deciders for the summary, named as in ``DecisionTally/figures``.
enum EngageFigure: String {
  case sessionsStarted, sessionsEnded, campaignsSet, campaignsExpired, linksInSessions, identityChecks
  case waitingForUserId, waitingForSamples
}

extension DecisionTally {
  /// Adds the rules' output except for its events.
  mutating func add(_ output: RuleOutput) {
    for instant in output.sessionStarts { activity.sessionsStarted.add(instant) }
    for end in output.sessionEnds { activity.sessionEnded(at: end.at, after: end.used.wholeSeconds) }
    for set in output.campaignSets {
      activity.campaign(ByteText(set.campaign.name.description)) {
        $0.wasSet(at: set.at, until: set.campaign.expiresAt)
      }
    }
    for campaign in output.campaignExpiries {
      activity.campaign(ByteText(campaign.name.description)) { $0.expired.add(campaign.expiresAt) }
    }
    for warning in output.warnings {
      warnings[warning.kind.rawValue, default: Warnings()].add(at: warning.position) {
        Warnings.Example(device: warning.device, position: warning.position, detail: warning.detail)
      }
    }
    let counts = output.counts
    add(EngageFigure.sessionsStarted, counts.sessionsStarted)
    add(EngageFigure.sessionsEnded, counts.sessionsEnded)
    add(EngageFigure.campaignsSet, counts.campaignsSet)
    add(EngageFigure.campaignsExpired, counts.campaignsExpired)
    add(EngageFigure.linksInSessions, counts.linksInSessions)
    add(EngageFigure.identityChecks, output.checks.count { $0.check.instruction == nil })
    add(EngageFigure.waitingForUserId, counts.waitingForUserId)
    add(EngageFigure.waitingForSamples, counts.waitingForSamples)
  }
}
