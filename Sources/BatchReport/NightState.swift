package import BatchFoundation

/// The state of a night, which all outputs print in words (reference decisions 49).
package enum NightState: String, CaseIterable, Codable, Sendable {
  case done
  /// Done, but something was lost, missed, or needs attention.
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
  /// The `asOf` with which a run's window includes it; nil if the job's window is fixed.
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
