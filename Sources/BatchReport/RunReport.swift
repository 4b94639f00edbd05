package import BatchFoundation

/// Everything that the reports of one run are made from; the pipeline fills it, the reports only arrange it.
package struct RunReport: Sendable, Equatable, Codable {
  /// What kind of run it was.
  package enum Mode: String, CaseIterable, Codable, Sendable {
    case run
    /// Nothing was changed or sent.
    case dryRun = "dry-run"
    /// Ended when everything was in the store.
    case noUpload = "no-upload"
    /// Sent what the store held, without reading inputs.
    case post
  }

  package var job: String
  package var jobFile: String
  /// For the commands that the report suggests.
  package var invocation: RunInvocation
  package var mode = Mode.run
  package var startedAt: Instant
  package var asOf: Instant
  /// What only silence decides was decided up to there; nil where silence decided nothing, and before it is known.
  package var knownUntil: Instant?
  /// Half-open; nil is open.
  package var from: Instant?
  package var to: Instant?
  package var destination: String
  package var usesSandbox = false
  /// Path of the store; nil if the run had none.
  package var store: String?
  package var configuration = ConfigurationOrigin()
  /// 0 for a run that is done (reference command-line 4).
  package var exit = RunExit.done
  /// Why the run ended early, without personal data; nil if it did not.
  package var failure: String?
  /// Parts that a store which collects lacks; nil for a run that ended for another reason, or did not.
  package var missingParts: Int?
  /// Whether lines were read and none could be used, so that nothing was decided or sent; nil where it was not so.
  package var nothingUsable: Bool?
  /// Whether the store was found damaged, which the same run would find again; nil where it was not.
  package var storeIsDamaged: Bool?
  package var personalData = PersonalDataPolicy.hash

  package var summary = RunSummary()
  /// What happened on the devices over time, by the events of this run.
  package var activity = Activity()
  /// Whether lines wait in quarantine; false when a person has dismissed all that this run quarantined.
  package var quarantineWaits = true
  /// The first quarantined lines: 20, or 200 of a run without a store; the summary has their number.
  package var quarantine: [QuarantineSample] = []
  /// What was wrong with all of them, the most frequent first; nil in reports of a release that did not keep it.
  package var quarantineCauses: [FindingCause]?
  package var warnings: [WarningTally] = []
  /// What is beyond the range of the nights before, in sentences; nil where that was not looked at (`Report.usualRuns`).
  package var unusual: [String]?
  /// Other things a person should know, such as a pattern that matched no file.
  package var notes: [String] = []
  package var unknownFields: [UnknownField] = []
  /// Of the inputs that somebody sees for the first time: whose and of when they are, and what of them nothing reads; nil otherwise.
  package var inputs: [String]?
  /// The plans that the run made or went on with, 200 at most, those that wait for somebody first.
  package var merges: [IdentityMerge] = []
  /// Plans of the store that wait for a person, as `identity list --open` shows them.
  package var stoppedPlans = 0
  package var ledger = UploadLedger()
  package var platform = PlatformReport()
  /// Events that went to quarantine, which the lines in `summary` do not count.
  package var quarantinedEvents = 0
  /// All events of the store that were not sent, by status and reason.
  package var unsent: [UnsentEvents] = []
  /// What the run sent, or was to send, that is too old for the service; nil for nothing.
  package var outdated: OutdatedEvents?
  package var stages: [StageDuration] = []

  /// - Parameter destination: the name of the platform.
  package init(job: String, jobFile: String, destination: String, startedAt: Instant, asOf: Instant) {
    self.destination = destination
    self.job = job
    self.jobFile = jobFile
    invocation = RunInvocation(jobFile: jobFile)
    self.startedAt = startedAt
    self.asOf = asOf
  }
}

/// Where the settings of a run came from.
package struct ConfigurationOrigin: Sendable, Equatable, Codable {
  /// In the order in which they win over each other, the defaults first.
  package var layers: [String] = []
  /// Digest of all settings without secrets; equal settings have equal digests.
  package var digest = ""
  /// Settings that a file, the job, the environment or the command line gave; secrets are left out.
  package var settings: [RunSetting] = []

  package init(layers: [String] = [], digest: String = "") {
    self.layers = layers
    self.digest = digest
  }
}

/// A line that was quarantined.
package struct QuarantineSample: Sendable, Equatable, Codable {
  package var file: String
  /// From 1; 0 when the reason concerns the file.
  package var line: UInt64
  /// Of the line's first byte.
  package var offset: UInt64
  package var reason: QuarantineReason
  package var detail: String
  /// The line itself, left out unless everything is to be shown.
  package var content: RedactedText
  /// The shape of the line with all its values masked; nil where nothing of it may be shown.
  package var excerpt: String?

  package init(
    file: String, line: UInt64, offset: UInt64, reason: QuarantineReason, detail: String, content: RedactedText,
    excerpt: String? = nil
  ) {
    self.file = file
    self.line = line
    self.offset = offset
    self.reason = reason
    self.detail = detail
    self.content = content
    self.excerpt = excerpt
  }
}

/// How often a kind of warning occurred, and where first (`docs/warnings.md`).
package struct WarningTally: Sendable, Equatable, Codable {
  package struct Place: Sendable, Equatable, Codable {
    package var device: RedactedText
    package var file: String
    package var line: UInt64
    package var detail: String

    package init(device: RedactedText, file: String, line: UInt64, detail: String) {
      self.device = device
      self.file = file
      self.line = line
      self.detail = detail
    }
  }

  package var kind: String
  package var occurrences: Int
  package var first: [Place]

  package init(kind: String, occurrences: Int, first: [Place]) {
    self.kind = kind
    self.occurrences = occurrences
    self.first = first
  }
}

/// One identity plan that the run worked on.
package struct IdentityMerge: Sendable, Equatable, Codable {
  package var plan: Int64
  /// Such as `mark-merged`.
  package var scenario: String
  /// What that is to people.
  package var words: String
  /// Such as `done`, `open`, `conflict`, `held` or `refused`.
  package var state: String
  package var device: RedactedText
  package var loser: RedactedText
  /// The same as the loser when only one recipient is concerned.
  package var winner: RedactedText
  /// Why it stopped; empty otherwise.
  package var reason: String
  /// File and line of the record that asked for what is refused, or of the device's first one; empty for other plans, and where nobody kept it.
  package var source: String

  package init(
    plan: Int64, scenario: String, words: String, state: String, device: RedactedText, loser: RedactedText,
    winner: RedactedText, reason: String = "", source: String = ""
  ) {
    self.plan = plan
    self.scenario = scenario
    self.words = words
    self.state = state
    self.device = device
    self.loser = loser
    self.winner = winner
    self.reason = reason
    self.source = source
  }

  package static let refused = "refused"

  /// What the service refuses for whom, in one sentence.
  package var refusal: String {
    "plan \(plan), \(device.text.map { "device \($0.printable)" } ?? "a device")\(source.isEmpty ? "" : " (\(source))"): \(reason)"
  }
}

/// What the upload ledger knows beyond the figures of the summary.
package struct UploadLedger: Sendable, Equatable, Codable {
  /// Events of lost answers that were sent again, or will be: the service may have them twice.
  package var possibleDuplicates = 0
  /// Chunks whose attempt an earlier, interrupted run left without an answer.
  package var recoveredChunks = 0
  /// Attempts of this run by how they ended: `acknowledged`, `not sent`, `refused`, `rejected`, `unknown`.
  package var outcomes: [String: Int] = [:]
  /// How long the service took to answer, from the intent in the ledger to its outcome; none where nothing was answered.
  package var answers: [AnswerTime] = []
  /// Why sending stopped early; nil if it did not.
  package var stop: String?
  /// Events that the service refused, by its reasons without values.
  package var refusals: [String: Int]?

  package init() {}
}

/// Within what time so many of the answers came.
package struct AnswerTime: Sendable, Equatable, Codable {
  package enum Share: String, CaseIterable, Sendable, Codable {
    case half, nearlyAll = "95 of 100", all
  }

  package var share: Share
  package var seconds: Double

  /// Shares that a few answers cannot show are left out.
  ///
  /// - Parameter milliseconds: of each answer, in any order.
  package static func times(_ milliseconds: [Int64]) -> [AnswerTime] {
    guard !milliseconds.isEmpty else { return [] }
    let sorted = milliseconds.sorted()
    let shares: [Share] = sorted.count == 1 ? [.all] : sorted.count < 20 ? [.half, .all] : Share.allCases
    return shares.map { share in
      let place =
        switch share {
        case .half: (sorted.count + 1) / 2
        case .nearlyAll: (sorted.count * 95 + 99) / 100
        case .all: sorted.count
        }
      return AnswerTime(share: share, seconds: Double(sorted[place - 1]) / 1000)
    }
  }
}

package struct StageDuration: Sendable, Equatable, Codable {
  package var name: String
  package var seconds: Double
  /// When it began; nil in reports of a release that did not keep it.
  package var startedAt: Instant?

  package init(name: String, seconds: Double, startedAt: Instant? = nil) {
    self.name = name
    self.seconds = seconds
    self.startedAt = startedAt
  }
}

extension RunReport {
  /// How it ended, in words: by its exit code, and by what is missing where one code says several things.
  var ending: String {
    if let missingParts { return "\(missingParts.counted("part is", "parts are")) missing" }
    let words = exit == .done ? night.rawValue : cause
    return night == .failed ? "failed: \(words)" : words
  }

  /// What its exit code means, where one code says several things.
  var cause: String {
    let held = summary.upload.eventsUnknown > 0 ? "events are held as UNKNOWN" : nil
    let refused = summary.identity.refused > 0 ? "a call about identities is refused for good" : nil
    let reasons = [held, refused].compactMap(\.self)
    guard exit == .protocolRefused else { return Wording.ending(exit) }
    return failure != nil && held == nil || reasons.isEmpty
      ? "TLS or protocol of the service was refused" : reasons.joined(separator: ", and ")
  }

  /// How many sessions ended, in words; those of which no event tells are counted apart.
  var endedSessions: String {
    let ended = "\(summary.sessionsEnded.orFewer) ended"
    let silently = activity.sessionsOverSilently
    return silently > 0 ? "\(ended) by an event, \(silently.grouped) by silence" : ended
  }

  /// Files that are damaged, or of another form than their entry reads; each counts as a quarantined line.
  var quarantinedFiles: Int {
    summary.quarantineReasons[.damagedFile, default: 0] + summary.quarantineReasons[.otherForm, default: 0]
  }

  /// By file and line, whatever order they came in.
  var orderedQuarantine: [QuarantineSample] {
    quarantine.sorted { one, other in
      one.file.utf8.elementsEqual(other.file.utf8)
        ? (one.line, one.offset) < (other.line, other.offset) : one.file.precedesByBytes(other.file)
    }
  }

  /// An error can have a line for each thing that is wrong.
  var failureLines: [String] {
    let lines = failure.map { $0.split(separator: "\n").map { String($0).clipped(toBytes: 1000) } } ?? []
    let more = lines.count - Self.shownFailures
    return more > 0 ? lines.prefix(Self.shownFailures) + ["and \(more.counted("more", "more"))"] : lines
  }

  private static let shownFailures = 30

  var orderedWarnings: [WarningTally] { warnings.sorted { $0.kind.precedesByBytes($1.kind) } }

  var orderedFields: [UnknownField] {
    unknownFields.sorted { $0.records != $1.records ? $0.records > $1.records : $0.name.precedesByBytes($1.name) }
  }

  var warningCount: Int { warnings.reduce(0) { $0 + $1.occurrences } }
}

extension String {
  func precedesByBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
