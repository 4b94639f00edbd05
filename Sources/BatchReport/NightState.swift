package import BatchFoundation

/// The state of a night, which all outputs print in words (reference decisions 49).
package enum NightState: String, CaseIterable, Codable, Sendable {
  case done
  /// Done, but something was lost or missed, or needs attention.
  case findings = "done with findings"
  /// No run has read its window.
  case missed
  case noInput = "no input"
  case refused
  case failed

  package init(_ exit: RunExit, hasFindings: Bool) {
    self =
      switch exit {
      case .done: hasFindings ? .findings : .done
      case .inputRefused: .refused
      case .noInput: .noInput
      default: .failed
      }
  }

  /// A sign that shows the state without its color.
  var sign: String {
    switch self {
    case .done: "✓"
    case .findings: "!"
    case .missed: "○"
    case .noInput, .refused, .failed: "✕"
    }
  }

  /// `good`, `attention` or `bad`.
  var tone: String {
    switch self {
    case .done: "good"
    case .findings, .missed: "attention"
    case .noInput, .refused, .failed: "bad"
    }
  }
}

/// A window of a job, or a part of one, that no run has read, between windows that were read (reference decisions 49).
package struct MissedWindow: Sendable, Equatable, Codable {
  package var from: Instant
  package var to: Instant
  /// The `asOf` with which the job's window includes this one; nil if there is none, as for a fixed window.
  package var asOf: Instant?

  package init(from: Instant, to: Instant, asOf: Instant? = nil) {
    (self.from, self.to, self.asOf) = (from, to, asOf)
  }

  package var words: String { "\(from.rfc3339) to \(to.rfc3339)" }

  /// Returns the command that reads the window, based on the run that found it.
  func command(_ invocation: RunInvocation) -> ShellCommand {
    var invocation = invocation
    (invocation.from, invocation.to) = asOf == nil ? (from, to) : (nil, nil)
    invocation.asOf = asOf ?? to
    return invocation.run
  }
}

extension RunReport {
  package var night: NightState {
    let upload = summary.upload
    let lost =
      summary.records.quarantined + quarantinedEvents + upload.eventsFailed + upload.eventsUnknown
      + summary.rewind.corrections + summary.identity.conflicts + (outdated?.events ?? 0)
    return NightState(exit, hasFindings: lost > 0 || !(unusual ?? []).isEmpty || !missed.isEmpty)
  }

  package var missed: [MissedWindow] { summary.missed ?? [] }

  /// The summary, including the state of the night, as one JSON object.
  package var summaryJSON: String {
    var summary = summary
    summary.night = night
    return summary.json
  }
}

/// The figures of a night that are compared with those of previous nights.
package struct NightFigures: Sendable, Equatable {
  /// The usable records, including duplicates and those of forgotten people.
  package var volume: Int
  /// The quarantined lines and events per thousand records.
  package var quarantinedPerMille: Int
  package var warnings: Int
  package var conflicts: Int
  /// The hours from the latest event to the run's `asOf`; nil without new events.
  package var age: Int?
  package var people: People?

  package init(_ report: RunReport) {
    let summary = report.summary
    volume = summary.records.accepted + summary.records.duplicates + (summary.records.forgotten ?? 0)
    let quarantined = summary.records.quarantined + report.quarantinedEvents
    // Records of forgotten people are neither errors nor part of the total.
    let records = summary.records.read - (summary.records.forgotten ?? 0)
    quarantinedPerMille = records == 0 ? 0 : quarantined * 1000 / records
    warnings = report.warningCount
    conflicts = summary.identity.conflicts
    people = summary.people
    let hours = report.activity.events.named.reduce(into: report.activity.events.rest) { $0 += $1.value }
    age = hours.span.map { Int(max(0, report.asOf.hour - $0.upperBound)) }
  }

  /// The minimum number of nights needed to show which figures are usual.
  private static let leastNights = 3

  /// Returns a sentence for each figure that is outside the range of the previous nights by more than the factor,
  /// except for small differences.
  package func unusual(beside nights: [NightFigures], factor: Int) -> [String] {
    guard nights.count >= Self.leastNights else { return [] }
    var sentences: [String] = []
    /// - Parameter slack: The minimum difference by which a figure must exceed the others.
    func hold(
      _ name: String, _ value: Int?, _ others: [Int], orBelow: Bool = false, slack: Int,
      _ words: (Int) -> String = { $0.grouped }
    ) {
      guard let value, let least = others.min(), let most = others.max() else { return }
      let isAbove = value > most * factor && value >= most + slack
      guard isAbove || orBelow && value * factor < least else { return }
      let range = least == most ? words(least) : "\(words(least)) to \(words(most))"
      sentences.append("\(name): \(words(value)); the previous \(nights.count) runs had \(range)")
    }
    hold("hours since the newest event", age, nights.compactMap(\.age), slack: 2)
    hold("usable records", volume, nights.map(\.volume), orBelow: true, slack: 10)
    hold("share quarantined", quarantinedPerMille, nights.map(\.quarantinedPerMille), slack: 10) {
      "\($0 / 10).\($0 % 10) %"
    }
    hold("warnings", warnings, nights.map(\.warnings), slack: 10)
    hold("conflicts", conflicts, nights.map(\.conflicts), slack: 3)
    return sentences
  }
}
