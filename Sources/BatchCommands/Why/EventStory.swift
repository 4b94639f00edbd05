import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

/// An explanation of an event: the reasons for its content, and its delivery.
struct EventStory {
  private let store: EventStore
  private let platform: any Platform
  private let personal: PersonalData
  private let timeline: DeviceTimeline
  private let stories: any PlatformStories
  private let index: Int
  private var event: DeviceTimeline.Entry { timeline.entries[index] }

  init(_ event: StoredEvent, in store: EventStore, _ personal: PersonalData) throws {
    self.store = store
    self.personal = personal
    platform = try Platforms.installed.platform(named: store.format.destination)
    stories = try InstalledPlatforms.of(platform).stories(in: store, personal)
    timeline = try DeviceTimeline(of: event.device, in: store, platform, stories)
    guard let index = timeline.index(of: event.id) else {
      throw UnknownName(
        kind: "event", name: "\(event.id)", hint: "the store changed while it was read; repeat the command")
    }
    self.index = index
  }

  func answer() throws -> Facts {
    let device = String(decoding: event.stored.device, as: UTF8.self)
    var answer: Facts = [
      "id": .text("\(event.id)"), "type": .text(event.type), "eventTimestamp": .text(event.timestamp.rfc3339),
      "statusName": .text(event.stored.status.name), "chunk": .number(event.stored.chunk),
      "file": .text(event.source?.file), "line": .number(event.source?.line),
    ]
    answer.add(subject: "\(event.words.capitalizedFirst) at \(event.timestamp.rfc3339)")
    answer.add(
      "event", titled: "event", "\(event.id), event number \(index + 1) of device \(personal.id(device).text ?? "")")
    answer.add(
      "source", titled: "read from",
      event.source.map { "\($0)" } ?? "unknown: the store has no source line for this event")
    let settings = try ProcessedBy(event.stored.chunk, in: store)
    if let correction = try correction() {
      answer.add("correction", titled: "correction", correction)
    } else {
      try stories.describe(index, in: timeline, settings, &answer)
    }
    answer.add("decided", titled: "processed by", settings.words)
    answer.add("status", titled: "status", try status())
    answer.add("sending", titled: "sending", try sending())
    return answer
  }

  /// Describes the correction of an event that a late record changed after it was sent; nil if there is none. The
  /// event's session and campaign follow from the records that had been processed when it was sent, so the device's
  /// other events would give a false reason.
  private func correction() throws -> [String]? {
    var words: [String]?
    try store.ledger.forEachCorrection { correction in
      guard correction.event == event.id, correction.chunk == event.stored.chunk else { return }
      words = [
        "\(correction.verdict), but sent events cannot be recalled; 'store corrections --show-personal-data' shows both versions",
        "the event was processed without the late record, so its session and campaign are not explained",
      ]
    }
    return words
  }

  // MARK: - Delivery

  private func status() throws -> [String] {
    let status = event.stored.status
    var lines: [String] = []
    switch status {
    case .successfullyPosted: lines.append("posted: acknowledged by the service (SUCCESSFULLY_POSTED)")
    default:
      let unsent = try platform.unsentEvents(in: store).filter { $0.status == status.name }
      let state = [.unknown, .processing].contains(status) ? "perhaps posted" : "not posted"
      lines += unsent.map {
        "\(state): \($0.reason) (\(status.name), \($0.setting)); this status ends with \($0.ends)"
      }
      if unsent.isEmpty { lines.append("\(state) (\(status.name))") }
      if status == .notPosted { lines += try lastRun() }
    }
    if let reason = event.stored.reason {
      lines.append("reported by the service or the network: \(reason.printable)")
    }
    return lines
  }

  /// Returns the reason, from the last run's report, why pending events were not sent; empty if the report has none.
  private func lastRun() throws -> [String] {
    guard let run = try store.runs.all().last, let bytes = try store.runs.report(of: run.id) else { return [] }
    let report = try StoredReport.report(bytes)
    if report.mode == .noUpload { return ["run \(run.id.number), the last one, sent nothing (mode no-upload)"] }
    guard let failure = report.failure else { return [] }
    return [
      "run \(run.id.number), the last one, ended with exit code \(report.exit.rawValue): \(failure.inOneLine.printable)"
    ]
  }

  private func sending() throws -> [String] {
    guard let chunk = try store.ledger.chunk(event.stored.chunk) else { return [] }
    let isOver = event.stored.status == .expired && platform.window(Settings(), asOf: .now) != nil
    if isOver, try store.ledger.attempts(of: chunk.id).isEmpty {
      return [
        "not in any request; each run and each 'post' checks again whether the service accepts events from that time"
      ]
    }
    let others = chunk.events - 1
    var attempts = try store.ledger.attempts(of: chunk.id)
    let isRefused = attempts.contains { $0.chunk == chunk.parent && $0.outcome != .acknowledged }
    // Attempts to send the parent chunk do not count if the event was removed from it before those attempts.
    if !isRefused { attempts.removeAll { $0.chunk == chunk.parent } }
    let request = others == 0 ? "a request with this event only" : "one request with \(others.counted("other event"))"
    var lines = [
      "\(request) (chunk \(chunk.id)"
        + (chunk.parent.map {
          ", split from chunk \($0)\(isRefused ? ", which the service did not accept as a whole" : ""))"
        }
          ?? ")")
    ]
    if attempts.isEmpty { lines.append("no attempt yet") }
    for attempt in attempts {
      let ending = attempt.outcome.map(Self.words) ?? "under way, or its run was killed"
      let reason = attempt.reason.map { ": \($0.printable)" } ?? ""
      lines.append(
        "attempt \(attempt.number)\(attempt.chunk == chunk.id ? "" : " of chunk \(attempt.chunk)") in run "
          + "\(attempt.run.number) at \(attempt.started.rfc3339): \(ending)\(reason)")
    }
    return lines
  }

  private static func words(_ outcome: AttemptOutcome) -> String {
    switch outcome {
    case .acknowledged: "acknowledged by the service"
    case .notSent: "no byte of the request left this machine"
    case .refused: "the service refused the request, regardless of its content"
    case .rejected: "the service rejected the content of the request"
    case .unknown: "no complete response arrived; the service may have accepted the request"
    }
  }
}

/// The run that processed an event, and its settings.
struct ProcessedBy {
  private var run: StoredRun?
  private var settings: [String: RunSetting] = [:]

  init(_ chunk: Int64, in store: EventStore) throws {
    guard let number = try store.ledger.chunk(chunk)?.run else { return }
    run = try store.runs.all().first { $0.id == number }
    for setting in try run.map({ try store.runs.settings(digest: $0.configurationDigest) }) ?? [] {
      settings[setting.name] = setting
    }
  }

  var words: [String] {
    guard let run else { return [] }
    return [
      "run \(run.id.number) of job '\(run.job.printable)', started \(run.started.rfc3339), as of \(run.asOf.rfc3339)"
    ]
  }

  /// Returns whether the run is known to have had an empty value for the setting.
  func isEmpty(_ name: String) -> Bool { settings[name]?.value.isEmpty ?? false }

  /// Returns the setting's value in that run, with its name and origin, in words.
  func setting(_ name: String) -> String {
    guard let setting = settings[name] else { return "the value of \(name)" }
    return "\(setting.value) (\(name), \(setting.origin))"
  }
}

extension String {
  fileprivate var inOneLine: String { split(separator: "\n").joined(separator: "; ") }

  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// The reason why an event was quarantined, and the way to send it.
struct QuarantinedEventStory {
  let id: EventID
  let event: StoredQuarantine
  private var source: RecordSource? { event.line.source }

  /// - Parameter replay: The command that imports the event again; nil if unknown.
  func answer(replay: ShellCommand?) -> Facts {
    var answer: Facts = [
      "id": .text("\(id)"), "eventTimestamp": .text(id.timestamp.rfc3339),
      "reason": .text(event.line.reason.rawValue), "file": .text(source?.file), "line": .number(source?.line),
    ]
    answer.add(subject: "Event \(id) at \(id.timestamp.rfc3339)")
    answer.add(
      "source", titled: "read from", source.map { "\($0)" } ?? "unknown: the store has no source line for this event")
    answer.add(
      "quarantine", titled: "quarantined",
      "by run \(event.run.number): \(event.line.detail.printable) (\(event.line.reason.rawValue))",
      event.line.reason.remedy)
    answer.add("status", titled: "status", status(replay))
    return answer
  }

  private func status(_ replay: ShellCommand?) -> String {
    if let run = event.replayedRun { return "imported again by run \(run.number)" }
    switch event.resolution {
    case .dismissed: return "not sent: dismissed in quarantine"
    case .replaced: return "replaced: the event was processed or queued again later"
    case nil: break
    }
    let status = "not sent: in quarantine"
    guard let replay else {
      return "\(status); fix the cause, then import the event again with 'quarantine replay' and the store's job"
    }
    return "\(status); fix the cause, then import the event again for the next run to send: \(replay.text)"
  }
}
