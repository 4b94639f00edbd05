import BatchFoundation
import BatchPipeline
import BatchReport
import EngageRules

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
    add(EngageFigure.identityChecks, output.checks.count { $0.instruction == nil })
    add(EngageFigure.waitingForUserId, counts.waitingForUserId)
    add(EngageFigure.waitingForSamples, counts.waitingForSamples)
  }
}
