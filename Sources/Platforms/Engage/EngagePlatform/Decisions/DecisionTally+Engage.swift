import BatchFoundation
import BatchPlatform
import EngageEvents
import EngageRules

/// What Engage's deciders count for the summary, by its name in ``DecisionTally/figures``.
enum EngageFigure: String {
  case sessionsStarted, sessionsEnded, campaignsSet, campaignsExpired, identityChecks
  case waitingForUserId, waitingForSamples
}

extension DecisionTally {
  mutating func add(_ output: RuleOutput) {
    var codes: [(code: Text, count: Int)] = []
    for event in output.events {
      // A handful of codes: looking through them costs less than hashing each event's.
      if let index = codes.firstIndex(where: { $0.code == event.code }) {
        codes[index].count += 1
      } else {
        codes.append((event.code, 1))
      }
    }
    for (code, count) in codes { events[ByteText(code.description), default: 0] += count }
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

  private mutating func add(_ figure: EngageFigure, _ count: Int) {
    if count > 0 { figures[figure.rawValue, default: 0] += count }
  }
}
