import BatchFoundation
import BatchPipeline
import BatchReport
import GameRules

/// The names of figures in ``ProcessingTally/figures``, for the summary. A figure in a group is named GROUP.MEMBER.
enum GameFigure: String {
  case sessionsStarted, sessionsEnded
  case optedOut = "dropped.optedOut"
  case consentDenied = "dropped.consentDenied"
  case notWhitelisted = "dropped.whitelist"
  case invalid, expired, triggered
  case decisions = "decisions.records"
  case asked = "decisions.asked"
  case answered = "decisions.answered"
  /// Questions that failed and got an earlier answer; `failed` counts those that got none.
  case cached = "decisions.cached"
  case failed = "decisions.failed"

  private static let askedPrefix = "asked\n"

  /// Returns the name of the figure that counts the questions with this outcome at a decision point and flavour.
  static func asked(_ decisionPoint: String, _ flavour: String, _ outcome: String) -> String {
    // No name that the service knows contains a line feed.
    "\(askedPrefix)\(decisionPoint)\n\(flavour)\n\(outcome)"
  }

  /// Returns the parts of a name made by `asked`; nil for any other name.
  static func place(of name: String) -> [String]? {
    guard name.hasPrefix(askedPrefix) else { return nil }
    let parts = name.dropFirst(askedPrefix.count).split(separator: "\n", omittingEmptySubsequences: false)
    return parts.count == 3 ? parts.map(String.init) : nil
  }
}

extension ProcessingTally {
  mutating func add(_ output: GameOutput) {
    for warning in output.warnings {
      warnings[warning.kind.name, default: Warnings()].add(at: warning.position) {
        Warnings.Example(device: warning.device.description, position: warning.position, detail: warning.detail)
      }
    }
    for instant in output.sessionStarts { activity.sessionsStarted.add(instant) }
    for instant in output.sessionEnds { activity.sessionsEnded.add(instant) }
    for length in output.sessionLengths { activity.sessionUsed(for: length.wholeSeconds) }
    let counts = output.counts
    add(GameFigure.sessionsStarted, output.sessionStarts.count)
    add(GameFigure.sessionsEnded, output.sessionEnds.count)
    add(GameFigure.optedOut, counts.optedOut)
    add(GameFigure.consentDenied, counts.consentDenied)
    add(GameFigure.notWhitelisted, counts.notWhitelisted)
    add(GameFigure.triggered, counts.triggered)
    add(GameFigure.decisions, output.engagements.count)
    for (type, count) in counts.ignored {
      figures["ignored.\(GameRecordType(rawValue: type)?.name ?? "")", default: 0] += count
    }
  }
}

extension Trigger {
  /// The key of the trigger's responses in ``ProcessingDetails/uses``.
  var place: Int { Self.place(key) }

  static func place(_ key: UInt64) -> Int { Int(truncatingIfNeeded: key) }
}

extension PlatformFigures {
  /// Creates the summary's member for a platform (reference deltadna 10).
  init(_ platform: String, ofGame figures: [String: Int]) {
    func number(_ figure: GameFigure) -> JSONNode { .number(figures[figure]) }
    self.init(
      platform,
      [
        "ignored": Self.group("ignored", of: figures),
        "dropped": [
          "optedOut": number(.optedOut), "consentDenied": number(.consentDenied), "whitelist": number(.notWhitelisted),
        ],
        "invalid": number(.invalid), "findings": Self.group("findings", of: figures), "expired": number(.expired),
        "triggered": number(.triggered),
        "decisions": [
          "records": number(.decisions), "asked": number(.asked), "answered": number(.answered),
          "cached": number(.cached), "failed": number(.failed),
        ],
      ])
  }
}
