public import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import BatchStore
import FoundationEssentials

struct QuarantineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quarantine",
    abstract: "List quarantined lines, import them again, or dismiss them.",
    subcommands: [QuarantineListCommand.self, QuarantineReplayCommand.self, QuarantineResolveCommand.self])
}

struct QuarantineListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List quarantined lines by cause, or one by one with --all, oldest first.")

  @OptionGroup var options: StoreOptions<JobName>

  @Flag(help: "Show the lines themselves, which may contain personal data.")
  var showRaw = false

  @Flag(help: "List each line, including those that have since been replayed, dismissed, or replaced in their files.")
  var all = false

  @Option(help: "List only lines with this reason, such as invalid-json.")
  var reason: QuarantineReason?

  @Option(help: "List lines one by one, at most this many.")
  var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
  }

  func run() throws {
    try options.reading { store, platform in
      let dictionary = Platforms.installed.vocabulary(of: platform).dictionary
      let isGrouped = options.answer.format == .text && !all && !showRaw && limit == nil
      var causes = CauseTally(dictionary)
      var listing = Listing(
        options.answer.format, columns: isGrouped ? FindingRow.columns : QuarantineRow.columns(showsRaw: showRaw))
      var count = 0
      try store.quarantine.forEachLine(all: all) { entry in
        guard reason == nil || entry.line.reason == reason, limit.map({ count < $0 }) ?? true else { return }
        if isGrouped { return causes.add(entry.line) }
        listing.add(QuarantineRow.cells(entry, dictionary, showsRaw: showRaw))
        count += 1
      }
      for cause in causes.causes { listing.add(FindingRow.cells(cause)) }
      listing.end()
      if let note = try store.quarantine.unkeptNote() { Streams.note(note) }
    }
  }
}

enum FindingRow {
  static let columns = ["lines", "reason", "detail", "first"]

  static func cells(_ cause: FindingCause) -> [JSONNode] {
    [.number(cause.count), .text(cause.reason), .text(cause.detail), .text(cause.place)]
  }
}

enum QuarantineRow {
  static func columns(showsRaw: Bool) -> [String] {
    ["id", "run", "file", "line", "offset", "reason", "detail", "replayedRun", "resolution", "event"]
      + (showsRaw ? ["raw", "rawBase64"] : [])
  }

  /// Returns the cells; bytes that are not UTF-8 are shown in base64. `dictionary` helps to guess the intended record.
  static func cells(_ entry: StoredQuarantine, _ dictionary: FieldDictionary, showsRaw: Bool) -> [JSONNode] {
    let line = entry.line
    var cells: [JSONNode] = [
      .number(entry.id), .number(entry.run.number), .text(line.place.file), .number(line.place.line),
      .number(line.offset),
      .text(line.reason.rawValue), .text(LineDiagnosis(line, dictionary).shownDetail),
      .number(entry.replayedRun?.number),
      .text(entry.resolution?.rawValue),
      .text(QuarantinedLine.event(at: line.file)),
    ]
    if showsRaw {
      let text = String(validating: line.raw, as: UTF8.self)
      cells += [.text(text), .text(text == nil ? Data(line.raw).base64EncodedString() : nil)]
    }
    return cells
  }
}

struct QuarantineReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Import quarantined lines again, with the job's current configuration.",
    discussion: """
      Lines that are now valid records become events, which the next run sends; the others stay quarantined, with the current \
      reason. docs/failures.md explains when replaying helps. Replayed lines are usually late: within the reach of \
      Ingest.rewind, their devices are rewound and processed again. Beyond that reach, neither sessions nor campaigns are \
      rewound, and Ingest.lateRecords determines whether late records are imported or stay quarantined.
      """)

  @OptionGroup var job: StoredJob

  @Option(help: "The clock of the run. (default: the job's, else now)", transform: Instant.argument)
  var asOf: Instant?

  @OptionGroup var future: FutureOptions

  @Option(help: ArgumentHelp("Write the events, one per line; - for stdout.", valueName: "file"))
  var eventsOut: String?

  @OptionGroup var answer: AnswerOption

  func validate() throws {
    if eventsOut == "-", answer.format == .json {
      throw ValidationError("--events-out and --format json cannot both write to stdout.")
    }
  }

  func run() throws {
    var changes = job.changes
    changes.asOf = asOf
    let loaded = try JobSource.load(job.named.job, changes, asksService: false)
    let monitor = TerminalMonitor(.auto)
    let interruption = try Signals.interruption()
    defer { monitor.finish() }
    var request = try job.request(.replay, loaded)
    request.eventsOut = eventsOut
    request.allowsFuture = future.allowFuture
    let outcome = try Pipeline(request, monitor: monitor, interruption: interruption).run()
    monitor.finish()
    if outcome.isWhole {
      let replay = outcome.replay ?? ReplayOutcome()
      answer.format.show(Self.figures(replay), notes: Self.words(replay))
    }
    if let failure = outcome.report.failure { Streams.note(failure) }
    guard outcome.exit == .done else { throw ExitCode(outcome.exit) }
  }

  static func figures(_ outcome: ReplayOutcome) -> Facts {
    let counts = outcome.counts
    let reasons = QuarantineReason.allCases.compactMap { reason in
      counts.reasons[reason].map { (reason.rawValue, JSONNode.number($0)) }
    }
    return [
      "read": .number(counts.read), "accepted": .number(counts.accepted), "duplicates": .number(counts.duplicates),
      "outOfWindow": .number(counts.outOfWindow), "forgotten": .number(counts.forgotten),
      "stillQuarantined": .number(counts.quarantined),
      "quarantineReasons": .object(reasons), "unavailable": .number(outcome.unavailable),
      "events": .number(outcome.events), "late": .number(outcome.late),
    ]
  }

  static func words(_ outcome: ReplayOutcome) -> String {
    let counts = outcome.counts
    return
      "\(counts.read.counted("quarantine entry", "quarantine entries")) tried: \(counts.accepted) accepted, \(counts.duplicates.counted("duplicate")), "
      + "\(counts.outOfWindow) out of window, "
      + (counts.forgotten > 0 ? "\(counts.forgotten) deleted as records of forgotten people, " : "")
      + "\(counts.quarantined) still quarantined"
      + (outcome.unavailable > 0
        ? "; "
          + outcome.unavailable.counted(
            "line is neither in the store nor in its file", "lines are neither in the store nor in their files") : "")
  }
}

extension QuarantineReason: ExpressibleByArgument {}

struct QuarantineResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Dismiss quarantined lines: one, all with a given reason, or all of a file.",
    discussion: """
      Dismissed lines are listed only with --all, and are not quarantined again when their file is read again. Lines fixed in \
      their file need no command: the next run that reads the file resolves them.
      """)

  @OptionGroup var options: StoreOptions<JobName>

  @Option(help: "The id of the line, as in 'quarantine list --all'.")
  var id: Int64?

  @Option(help: "All lines with this reason, such as invalid-json.")
  var reason: QuarantineReason?

  @Option(help: "All lines of this file.")
  var file: String?

  func validate() throws {
    guard [id != nil, reason != nil, file != nil].count(where: { $0 }) == 1 else {
      throw ValidationError("Give exactly one of --id, --reason and --file.")
    }
  }

  func run() throws {
    try options.writing { store, _ in
      var ids: [Int64] = []
      let path = file.map { PathText.resolve($0, in: FileManager.default.currentDirectoryPath) }
      try store.quarantine.forEachLine(all: false) { entry in
        let isMeant =
          if let id { entry.id == id } else if let reason { entry.line.reason == reason } else {
            [file, path].contains { $0?.utf8.elementsEqual(entry.line.place.file.utf8) ?? false }
          }
        if isMeant { ids.append(entry.id) }
      }
      if let id, ids.isEmpty {
        throw UnknownName(
          kind: "quarantined line", name: "\(id)",
          hint: "the line may no longer be pending; 'engage-batch quarantine list --all' lists all lines")
      }
      try store.quarantine.resolve(ids, as: .dismissed)
      options.answer.format.show(
        ["dismissed": .number(ids.count)], notes: ids.count.counted("line was dismissed", "lines were dismissed"))
      if ids.isEmpty { throw ExitCode(.noInput) }
    }
  }
}
