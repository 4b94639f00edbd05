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
    var carried: [(campaign: Text, hours: TimeCounts)] = []
    for event in output {
      let hour = event.timestamp.milliseconds / 3_600_000
      if let index = codes.firstIndex(where: { $0.code == event.code }) {
        codes[index].hours.add(1, at: hour)
      } else {
        if codes.count == Self.lastNames { take(&codes) }
        codes.append((event.code, HourCounts(one: hour)))
      }
      for index in unsafe event.attributes.indices.dropFirst(CoreAttribute.count) {
        let attribute = unsafe event.attributes[index]
        guard attribute.name == campaign else { continue }
        guard !attribute.value.isEmpty else { break }
        if carried.last?.campaign != attribute.value {
          if carried.count == Self.lastNames { take(&carried) }
          carried.append((attribute.value, TimeCounts()))
        }
        carried[carried.count - 1].hours.add(1, at: hour)
        break
      }
    }
    take(&codes)
    take(&carried)
  }

  /// Names that are looked through before they are counted for good: an export can make a code for each event.
  private static let lastNames = 32

  private mutating func take(_ codes: inout [(code: Text, hours: HourCounts)]) {
    for (code, hours) in codes {
      let name = ByteText(code.description)
      events.add(hours.total, to: name)
      activity.events.add(hours, to: name)
    }
    codes.removeAll(keepingCapacity: true)
  }

  private mutating func take(_ carried: inout [(campaign: Text, hours: TimeCounts)]) {
    for (name, hours) in carried { activity.campaign(ByteText(name.description)) { $0.events += hours } }
    carried.removeAll(keepingCapacity: true)
  }

  private mutating func add(_ figure: EngageFigure, _ count: Int) {
    if count > 0 { figures[figure.rawValue, default: 0] += count }
  }
}
