package import BatchFoundation
import FoundationEssentials

/// The content of a run's reports. The pipeline fills it, and the reports only arrange it.
package struct RunReport: Sendable, Equatable, Codable {
  package enum Mode: String, CaseIterable, Codable, Sendable {
    case run
    /// Nothing was changed or sent.
    case dryRun = "dry-run"
    /// The run ended when everything was in the store.
    case noUpload = "no-upload"
    /// The run sent the store's events without reading inputs.
    case post

    var words: String {
      switch self {
      case .run: "run"
      case .dryRun: "dry run: nothing was changed or sent"
      case .noUpload: "no upload: nothing was sent"
      case .post: "post: no inputs were read"
      }
    }
  }

  package var job: String
  package var jobFile: String
  /// The command line, for the commands that the report suggests.
  package var invocation: RunInvocation
  package var mode = Mode.run
  package var startedAt: Instant
  package var asOf: Instant
  /// The known time, up to which inactivity ended sessions; nil if there is none or it is not determined yet.
  package var knownUntil: Instant?
  /// The bounds of the window (`to` is exclusive); nil for an open end.
  package var from: Instant?
  package var to: Instant?
  /// The zone in which people see times; nil for UTC.
  package var zone: Zone?
  package var destination: String
  package var usesSandbox = false
  /// The path of the store; nil if the run had none.
  package var store: String?
  package var configuration = ConfigurationOrigin()
  /// The exit code (reference command-line 4).
  package var exit = RunExit.done
  /// The reason that the run ended early, without personal data; nil if it did not.
  package var failure: String?
  /// The number of parts missing from the store that collects them; nil if missing parts did not end the run.
  package var missingParts: Int?
  /// Whether lines were read but none was usable, so that nothing was processed or sent; nil if not.
  package var nothingUsable: Bool?
  /// Whether the store is damaged, so that the same run would fail again; nil if not.
  package var storeIsDamaged: Bool?
  package var personalData = PersonalDataPolicy.hash

  package var summary = RunSummary()
  /// The activity on devices over time, from the events of this run.
  package var activity = Activity()
  /// Whether quarantined lines are pending; false if all lines that this run quarantined have already been dismissed.
  package var hasPendingQuarantine = true
  /// Examples of quarantined lines and events: at most 20, or 200 in a dry run.
  package var quarantine: [QuarantineSample] = []
  /// The causes of all quarantined lines, the most frequent first; nil in reports from older releases.
  package var quarantineCauses: [FindingCause]?
  package var warnings: [WarningTally] = []
  /// Sentences about figures outside the range of previous nights; nil if they were not compared (`Report.usualRuns`).
  package var unusual: [String]?
  /// The devices of the previous nights, oldest first; nil if they were not compared (`Report.usualRuns`).
  package var peopleBefore: [People]?
  /// Other messages for people, such as a pattern that matched no file.
  package var notes: [String] = []
  package var unknownFields: [UnknownField] = []
  /// Sentences about the devices, times and unread fields of the inputs, if the inputs are read for the first time or
  /// validated; otherwise nil.
  package var inputs: [String]?
  /// The identity plans that the run created or continued, at most 200. Those that need a decision come first.
  package var merges: [IdentityMerge] = []
  /// The number of identity plans in the store that need a person's decision (`identity list --open`).
  package var stoppedPlans = 0
  package var ledger = UploadLedger()
  package var platform = PlatformReport()
  /// The first and last time of the records outside the window; nil if there are none.
  package var outOfWindow: ClosedRange<Instant>?
  /// The number of quarantined events, which are not included in the quarantined lines of ``summary``.
  package var quarantinedEvents = 0
  /// All events in the store that were not sent, by status and reason.
  package var unsent: [UnsentEvents] = []
  /// Events that are too old for the service although the run sent them or should have sent them; nil for none.
  package var outdated: OutdatedEvents?
  package var stages: [StageDuration] = []

  /// - Parameter destination: The name of the platform.
  package init(job: String, jobFile: String, destination: String, startedAt: Instant, asOf: Instant) {
    (self.job, self.jobFile, self.destination) = (job, jobFile, destination)
    (self.startedAt, self.asOf, invocation) = (startedAt, asOf, RunInvocation(jobFile: jobFile))
  }
}

package struct ConfigurationOrigin: Sendable, Equatable, Codable {
  /// The layers by increasing precedence, the defaults first.
  package var layers: [String] = []
  /// The digest of all settings except secrets; equal settings have equal digests.
  package var digest = ""
  /// The settings given in a file, in the job, in the environment or on the command line, without secrets.
  package var settings: [RunSetting] = []

  package init(layers: [String] = [], digest: String = "") {
    (self.layers, self.digest) = (layers, digest)
  }
}

package struct QuarantineSample: Sendable, Equatable, Codable {
  package var file: String
  /// The line number from 1; 0 if the reason concerns the whole file.
  package var line: UInt64
  /// The offset of the line's first byte.
  package var offset: UInt64
  package var reason: QuarantineReason
  package var detail: String
  /// The content of the line; omitted unless personal data is shown in clear.
  package var content: RedactedText
  /// The shape of the line with all values masked; nil unless personal data is hashed.
  package var excerpt: String?
}

/// The number of warnings of one kind, and the first places (`docs/words.md`).
package struct WarningTally: Sendable, Equatable, Codable {
  package struct Place: Sendable, Equatable, Codable {
    package var device: RedactedText
    package var file: String
    package var line: UInt64
    package var detail: String

    package init(device: RedactedText, file: String, line: UInt64, detail: String) {
      (self.device, self.file, self.line, self.detail) = (device, file, line, detail)
    }
  }

  package var kind: String
  package var occurrences: Int
  package var first: [Place]

  package init(kind: String, occurrences: Int, first: [Place]) {
    (self.kind, self.occurrences, self.first) = (kind, occurrences, first)
  }
}

package struct IdentityMerge: Sendable, Equatable, Codable {
  package var plan: Int64
  /// The scenario, such as `mark-merged`.
  package var scenario: String
  /// The scenario in words.
  package var words: String
  /// The state, such as `done`, `open`, `conflict`, `held` or `refused`.
  package var state: String
  package var device: RedactedText
  package var loser: RedactedText
  /// Equal to the loser if the plan changes only one recipient.
  package var winner: RedactedText
  /// The reason the plan stopped; empty if it did not.
  package var reason: String
  /// File and line of the refused record, or of the device's first record; empty for other plans and if unknown.
  package var source: String

  package init(
    plan: Int64, scenario: String, words: String, state: String, device: RedactedText, loser: RedactedText,
    winner: RedactedText, reason: String = "", source: String = ""
  ) {
    (self.plan, self.scenario, self.words, self.state) = (plan, scenario, words, state)
    (self.device, self.loser, self.winner) = (device, loser, winner)
    (self.reason, self.source) = (reason, source)
  }

  package static let refused = "refused"

  /// The refusal and its device in one sentence.
  package var refusal: String {
    "plan \(plan), \(device.text.map { "device \($0.printable)" } ?? "a device")\(source.isEmpty ? "" : " (\(source))"): \(reason)"
  }
}

/// Details of the upload ledger that the summary lacks.
package struct UploadLedger: Sendable, Equatable, Codable {
  /// The number of events that the service may have twice, because they were or will be sent again after a lost
  /// response.
  package var possibleDuplicates = 0
  /// The number of chunks with an attempt that an earlier, interrupted run left without a response.
  package var recoveredChunks = 0
  /// The numbers of attempts of this run, by outcome: `acknowledged`, `not sent`, `refused`, `rejected`, `unknown`.
  package var outcomes: [String: Int] = [:]
  /// The service's response times, from the start of an attempt in the ledger to its outcome; empty without responses.
  package var answers: [AnswerTime] = []
  /// The reason that sending stopped early; nil if it did not.
  package var stop: String?
  /// The numbers of rejected events, by the service's reasons without values; nil for none.
  package var rejections: [String: Int]?

  private enum CodingKeys: String, CodingKey {
    case possibleDuplicates, recoveredChunks, outcomes, answers, stop, rejections = "refusals"
  }

  package init() {}
}

/// The time within which a share of the responses arrived.
package struct AnswerTime: Sendable, Equatable, Codable {
  package enum Share: String, CaseIterable, Sendable, Codable {
    case half, nearlyAll = "95 of 100", all
  }

  package var share: Share
  package var seconds: Double

  /// Returns the time for each share of the responses. Shares for which there are too few responses are left out.
  ///
  /// - Parameter milliseconds: the times of all responses, in any order.
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
  /// The start time; nil in reports from older releases.
  package var startedAt: Instant?

  package init(name: String, seconds: Double, startedAt: Instant? = nil) {
    (self.name, self.seconds, self.startedAt) = (name, seconds, startedAt)
  }
}

extension RunReport {
  package var shownZone: Zone { zone ?? .utc }

  /// The ending in words: the missing parts if there are any, otherwise the state of the night or the cause of the exit
  /// code.
  var ending: String {
    if let missingParts { return "\(missingParts.counted("part is", "parts are")) missing" }
    let words = exit == .done ? night.rawValue : cause
    return night == .failed ? "failed: \(words)" : words
  }

  /// The meaning of the exit code. For a code with several meanings, those that apply are listed.
  var cause: String {
    let (events, plans) = (summary.upload.eventsUnknown, summary.identity.refused)
    let held = events > 0 ? "\(events.counted("event is", "events are")) held as UNKNOWN" : nil
    let refused = plans > 0 ? "the service refused \(plans.counted("identity plan")) for good" : nil
    let reasons = [held, refused].compactMap(\.self)
    guard exit == .protocolRefused else { return exit.ending }
    return failure != nil && held == nil || reasons.isEmpty
      ? "TLS or protocol error at the service" : reasons.joined(separator: ", and ")
  }

  /// The number of finished sessions in words; those that no event ended are counted separately.
  var endedSessions: String {
    let ended = "\(summary.sessionsEnded.orFewer) ended"
    let silently = activity.sessionsOverSilently
    return silently > 0 ? "\(ended) by an event, \(silently.grouped) without one" : ended
  }

  /// The number of files that are damaged or not in the format that their entry in the job expects. Each counts as a
  /// quarantined line.
  var quarantinedFiles: Int {
    summary.quarantineReasons[.damagedFile, default: 0] + summary.quarantineReasons[.otherForm, default: 0]
  }

  /// The samples ordered by file and line.
  var orderedQuarantine: [QuarantineSample] {
    quarantine.sorted { one, other in
      one.file.utf8.elementsEqual(other.file.utf8)
        ? (one.line, one.offset) < (other.line, other.offset) : one.file.precedesByBytes(other.file)
    }
  }

  /// The lines of the failure, one per error, shortened.
  var failureLines: [String] { Self.shownLines(of: failure) }

  package static func shownLines(of failure: String?) -> [String] {
    let lines = failure.map { $0.split(separator: "\n").map { String($0).clipped(toBytes: 1000) } } ?? []
    let more = lines.count - shownFailures
    return more > 0 ? lines.prefix(shownFailures) + ["and \(more.counted("more", "more"))"] : lines
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

/// A report in the format kept in a store, from which the same pages can be recreated.
///
/// It has no secrets. Members added by later releases must be optional, so that older reports remain readable.
package enum StoredReport {
  /// - Throws: `EncodingError` for a number that is not finite.
  package static func bytes(_ report: RunReport) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return Array(try encoder.encode(report))
  }

  /// - Throws: `DecodingError` for bytes in another release's format.
  package static func report(_ bytes: [UInt8]) throws -> RunReport {
    try JSONDecoder().decode(RunReport.self, from: Data(bytes))
  }
}
