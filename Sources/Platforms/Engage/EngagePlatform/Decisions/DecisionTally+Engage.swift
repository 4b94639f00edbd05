import BatchFoundation
import BatchPlatform
import BatchReport
import EngageEvents
import EngageRules

/// What Engage's deciders count for the summary, by its name in ``DecisionTally/figures``.
enum EngageFigure: String {
  case sessionsStarted, sessionsEnded, campaignsSet, campaignsExpired, identityChecks
  case waitingForUserId, waitingForSamples
}

extension DecisionTally {
  /// - Parameter campaign: the attribute that names an event's campaign.
  mutating func add(_ output: RuleOutput, campaign: Text) {
    add(output.events, campaign: campaign)
    for instant in output.sessionStarts { activity.sessionsStarted.add(instant) }
    for end in output.sessionEnds { activity.sessionEnded(at: end.at, after: end.used.wholeSeconds) }
    for set in output.campaignSets {
      activity.campaign(set.campaign.name.description) { $0.wasSet(at: set.at, until: set.campaign.expiresAt) }
    }
    for name in output.campaignExpiries { activity.campaign(name.description) { $0.expired += 1 } }
    for warning in output.warnings {
      warnings[warning.kind.rawValue, default: Warnings()].add(at: warning.position) {
        Warnings.Example(device: warning.device, position: warning.position, detail: warning.detail)
      }
    }
    add(.sessionsStarted, output.counts.sessionsStarted)
    add(.sessionsEnded, output.counts.sessionsEnded)
    add(.campaignsSet, output.counts.campaignsSet)
    add(.campaignsExpired, output.counts.campaignsExpired)
    add(.identityChecks, output.checks.count)
    add(.waitingForUserId, output.counts.waitingForUserId)
    add(.waitingForSamples, output.counts.waitingForSamples)
  }

  /// Codes, hours and campaigns repeat from event to event: looking at the last few costs less than hashing each event's.
  private mutating func add(_ output: [Event], campaign: Text) {
    var codes: [(code: Text, hours: HourCounts)] = []
    var campaigns: [(name: Text, count: Int)] = []
    for event in output {
      let hour = event.timestamp.milliseconds / 3_600_000
      if let index = codes.firstIndex(where: { $0.code == event.code }) {
        codes[index].hours.add(1, at: hour)
      } else {
        codes.append((event.code, HourCounts(one: hour)))
      }
      for index in unsafe event.attributes.indices.dropFirst(CoreAttribute.count) {
        let attribute = unsafe event.attributes[index]
        guard attribute.name == campaign else { continue }
        guard !attribute.value.isEmpty else { break }
        if let last = campaigns.indices.last, campaigns[last].name == attribute.value {
          campaigns[last].count += 1
        } else {
          campaigns.append((attribute.value, 1))
        }
        break
      }
    }
    for (code, hours) in codes {
      let name = code.description
      events[ByteText(name), default: 0] += hours.total
      activity.events[name, default: HourCounts()] += hours
    }
    for (name, count) in campaigns { activity.campaign(name.description) { $0.events += count } }
  }

  private mutating func add(_ figure: EngageFigure, _ count: Int) {
    if count > 0 { figures[figure.rawValue, default: 0] += count }
  }
}
