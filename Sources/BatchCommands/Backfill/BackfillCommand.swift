import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import FoundationEssentials

struct BackfillCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backfill",
    abstract: "Run a job once for each window of a past period.",
    discussion: """
      Each window is a separate run with its own report; its --as-of is the end of the window, and date patterns in input \
      paths match the days of the window. After an interruption, repeat the command to continue; windows that earlier \
      runs completed are skipped. A window without input files is reported and skipped; any other failure ends the backfill.

      Example: engage-batch backfill jobs/nightly.json --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z --step P1D --sandbox
      """)

  @OptionGroup var named: JobWithSettings

  @Option(help: "Start of the first window, such as 2026-01-31.", transform: Instant.argument)
  var from: Instant

  @Option(help: "End of the last window, such as 2026-02-28 or today.", transform: Instant.argument)
  var to: Instant

  @Option(help: "Length of a window, as an ISO 8601 duration such as P1D or PT6H.")
  var step = "P1D"

  @Option(help: "The time zone in which the steps are calculated.")
  var zone = "UTC"

  @OptionGroup var places: JobPlaces
  @OptionGroup var future: FutureOptions
  @OptionGroup var missing: MissingOptions
  @OptionGroup var empty: EmptyOptions

  @Flag(help: "Run against an in-process sandbox; no account is needed.")
  var sandbox = false

  @Flag(name: .customLong("no-upload"), help: "Stop each run once its events are in the store; send nothing.")
  var skipsUpload = false

  func run() throws {
    guard let span = CalendarSpan("+\(step)") else {
      throw ValidationError("--step is '\(step)', which is not an ISO 8601 duration such as P1D or PT6H.")
    }
    let calendar: Zone
    do {
      calendar = try ZoneDatabase(environment: ProcessInfo.processInfo.environment).zone(zone)
    } catch {
      throw ValidationError("--zone is '\(zone)', which is not a time zone known to this machine.")
    }
    let windows = try BackfillWindows.windows(from: from, to: to, step: span, in: calendar)
    try run(windows, Signals.interruption())
  }

  private func run(_ windows: [(from: Instant, to: Instant)], _ interruption: Interruption) throws {
    // There is at least one window, as `BackfillWindows` ensures.
    let first = try request(windows[0], reportsWarnings: true)
    let (done, refused) = try Self.done(by: first)
    let spans = TimeSpans(
      done.map { run in
        // A run read nothing after its known time.
        TimeWindow(from: run.window.from, to: run.window.to.map { min($0, run.knownUntil ?? $0) })
      })
    if let window = windows.first(where: { spans.covers($0.from..<$0.to) == nil }) {
      throw CommandError(
        .configuration,
        "\(first.storePath): error: earlier runs of '\(first.job.name)' cover only part of the window \(window.from.rfc3339) to \(window.to.rfc3339); "
          + "choose --from and --step to match the windows of those runs")
    }
    // The sandbox uses the clock of the last window, because a game service drops events that are ahead of
    // its clock.
    let last = try request(windows[windows.count - 1])
    let server = try sandbox && !skipsUpload ? EmbeddedSandbox.start(for: last) : nil
    defer { EmbeddedSandbox.stop(server) }
    var total = BackfillTotal()
    total.refused = refused
    for window in windows {
      let name = "\(window.from.rfc3339) to \(window.to.rfc3339)"
      if spans.covers(window.from..<window.to) == true {
        total.doneBefore += 1
        Streams.note("\(name)  done before")
        continue
      }
      var request = try request(window)
      request.sandboxAddress = server?.baseURL
      if !empty.allowEmpty {
        let isUsable = total.isUsable || done.contains { $0.window.to ?? .last > from && Self.isUsable($0) }
        let later = windows.filter { $0.from >= window.to }
        request.isUsableElsewhere = {
          try isUsable || JudgedTogether.anyIsUsable(later, interruption) { try self.request($0) }
        }
      }
      do {
        // Warnings from an individual run are only in its report.
        let outcome = try Pipeline(request, interruption: interruption).run()
        let report = outcome.report
        total.add(report)
        let isUnused = report.summary.records.isUseless(true) && !empty.allowEmpty
        let words = BackfillTotal.words(report.summary, events: report.quarantinedEvents)
        Streams.note("\(name)  \(words)\(isUnused ? "; no usable record, so the window does not count as done" : "")")
        let refused = outcome.report.summary.identity.refused
        guard outcome.exit == .done || Self.onlyRefused(outcome.exit.rawValue, outcome.report.summaryJSON) else {
          if let failure = outcome.report.failure { Streams.note(failure) }
          throw ExitCode(outcome.exit)
        }
        if !isUnused { total.done += 1 }
        total.refused = refused
      } catch let error as InputError {
        guard case .noInput = error else { throw stop(error, total) }
        total.withoutInput += 1
        Streams.note("\(name)  no input")
      } catch {
        throw stop(error, total)
      }
    }
    Streams.note(total.line)
    if let outdated = total.outdated { Streams.note("warning: \(outdated.advice)") }
    // The windows are done, but a person must handle the plans that the service permanently refuses.
    if total.refused > 0 {
      Streams.note(
        "The service permanently refuses \(total.refused.counted("identity plan", "identity plans")); see: "
          + ShellCommand("identity", "list", "--open", "--store", last.storePath).text)
      if total.done > 0 { throw ExitCode(.protocolRefused) }
    }
  }

  /// Returns whether a run left nothing undone except identity plans that the service permanently refuses (reference
  /// decisions 37).
  private static func onlyRefused(_ exit: Int32, _ summary: String?) -> Bool {
    guard exit == RunExit.protocolRefused.rawValue, let summary,
      // A run with unreadable figures counts as not done.
      let figures = try? JSONNode.parse(Array(summary.utf8)), figures["stopped"] == nil
    else { return false }
    func figure(_ section: String, _ name: String) -> Int64 { figures[section]?[name]?.integer ?? 0 }
    return figure("identity", "refused") > 0 && figure("upload", "eventsUnknown") == 0
      && figure("upload", "eventsPending") == 0
  }

  /// Reports the error and the progress so far, and returns the error to throw.
  private func stop(_ error: any Error, _ total: BackfillTotal) -> any Error {
    let failure = Failures.report(error)
    Streams.note(total.line)
    if let outdated = total.outdated { Streams.note("warning: \(outdated.advice)") }
    // A backfill that goes backward would be refused again.
    if case InputError.missing = error {
      Streams.note(
        "Once the input is available, repeat the command to continue from here; to continue without the input, add --allow-missing."
      )
    } else if !(error is BackwardRunError) {
      Streams.note("Repeat the command to continue from here.")
    }
    return failure
  }

  /// - Parameter reportsWarnings: Whether to print the job's warnings, which are the same for every window.
  private func request(_ window: (from: Instant, to: Instant), reportsWarnings: Bool = false) throws -> RunRequest {
    var changes = named.changes
    (changes.from, changes.to, changes.asOf) = (window.from, window.to, window.to)
    (changes.store, changes.report) = (places.store, places.report)
    let withWarnings = reportsWarnings ? try JobSource.load(named.job, changes, asksService: !sandbox) : nil
    let loaded = try withWarnings ?? JobSource.loader(asksService: !sandbox).load(job: named.job, changes)
    var request = try RunRequest(loaded: loaded, of: .installed, mode: skipsUpload ? .noUpload : .run, now: .now)
    request.isOneOfMany = true
    request.allowsFuture = future.allowFuture
    request.allowsMissing = missing.allowMissing
    if sandbox { request.useSandbox() }
    return request
  }

  /// Returns the job's completed runs in its store and the number of refused identity plans; empty without a store.
  private static func done(by request: RunRequest) throws -> (runs: [StoredRun], refused: Int) {
    guard FileManager.default.fileExists(atPath: request.storePath) else { return ([], 0) }
    let store = try Platforms.installed.openReading(request.storePath).store
    let runs = try store.runs.all()
    let refused = try store.refusedIdentityPlans()
    try store.close()
    let done = runs.filter { $0.job == request.job.name && $0.mode == request.mode.name && $0.knownUntil != nil }
      .filter { run in run.exit.map { $0 == 0 || onlyRefused($0, run.counters) } ?? false }
    return (done, refused)
  }

  /// Returns whether a run read a record that was usable or already known.
  private static func isUsable(_ run: StoredRun) -> Bool {
    guard let figures = run.figures?["records"] else { return false }
    return ["accepted", "duplicates", "forgotten", "leftOut"].contains { figures[$0]?.integer ?? 0 > 0 }
  }
}

struct BackfillTotal: Equatable {
  var done = 0
  var doneBefore = 0
  var withoutInput = 0
  /// The number of refused identity plans as of the last window. It includes those of earlier windows, because each run
  /// repeats their calls.
  var refused = 0
  /// The events that the service drops because of their age, even if it acknowledges them.
  private(set) var outdated: OutdatedEvents?
  private var figures = RunSummary()
  private var quarantinedEvents = 0

  mutating func add(_ report: RunReport) {
    let summary = report.summary
    quarantinedEvents += report.quarantinedEvents
    figures.records.add(summary.records)
    figures.otherEvents += summary.eventCount
    figures.upload.eventsPosted += summary.upload.eventsPosted
    guard let more = report.outdated else { return }
    outdated = outdated.map { $0.adding(more) } ?? more
  }

  /// Whether any records were usable or already known.
  var isUsable: Bool { figures.records.read > figures.records.quarantined + figures.records.outOfWindow }

  var line: String {
    "backfill: \(done.counted("window")) done, \(doneBefore) done before, \(withoutInput) without input: \(Self.words(figures, events: quarantinedEvents))"
  }

  /// - Parameter events: The number of quarantined events, added to the number of quarantined lines.
  static func words(_ summary: RunSummary, events: Int) -> String {
    let records = summary.records
    let others = [
      (records.duplicates, records.duplicates == 1 ? "duplicate" : "duplicates"),
      (records.outOfWindow, "out of window"), (records.forgotten ?? 0, "forgotten"), (records.leftOutCount, "left out"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1), " }.joined()
    return "\(records.read) read, \(records.accepted) accepted, \(others)\(records.quarantined + events) quarantined, "
      + "\(summary.eventCount.countedOrFewer("event")), \(summary.upload.eventsPosted) posted"
  }
}

/// The division of a past period into consecutive windows.
enum BackfillWindows {
  /// The maximum number of windows; a greater number is probably a typo.
  static let most = 10_000

  /// - Parameter step: The length of a window, counted from `from` in the calendar of `zone`; the last window ends at
  ///   `to` and may be shorter.
  static func windows(
    from: Instant, to: Instant, step: CalendarSpan, in zone: Zone
  ) throws -> [(from: Instant, to: Instant)] {
    guard from < to else { throw ValidationError("--to must be later than --from.") }
    var windows: [(from: Instant, to: Instant)] = []
    var begin = from
    while begin < to {
      guard windows.count < most else { throw ValidationError("--step results in more than \(most) windows.") }
      // Counting from the first window keeps the day of the month, even after a shorter month.
      let end = zone.instant(from, plus: step * (windows.count + 1)).map { min($0, to) } ?? to
      guard begin < end else { throw ValidationError("--step must be longer than zero.") }
      windows.append((begin, end))
      begin = end
    }
    return windows
  }
}
