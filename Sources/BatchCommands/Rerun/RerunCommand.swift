import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

struct RerunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rerun",
    abstract: "Process a window of a store again: unsent events are replaced, sent ones are compared.",
    discussion: """
      The inputs of the job are processed again, with its current settings, from the store's first processed record to its \
      last, because sessions and campaigns can span days. The resulting events of the window replace its pending events. \
      Events that were or may have been sent are kept, and compared. Nothing is sent; 'post' or the next run sends the \
      pending events. Only unread lines change device states; identities and plans are not changed.
      """)

  @OptionGroup var job: StoredJob

  @Option(help: "Start of the window, such as 2026-01-31 or 'yesterday'.", transform: Instant.argument)
  var from: Instant?

  @Option(help: "End of the window, such as 2026-02-01 or 'today'.", transform: Instant.argument)
  var to: Instant?

  @Option(
    help: ArgumentHelp(
      "Both ends of the window, or a day in UTC such as 2026-01-31 or 'yesterday'.", valueName: "from/to"),
    transform: RerunWindow.argument)
  var window: RerunWindow?

  @Option(
    help: ArgumentHelp(
      "Resend events that were already sent: 'different' for those whose attributes differ now, 'all' for unchanged ones too.",
      valueName: "different|all"))
  var sendAgain: SentEvents?

  @Flag(help: "Continue even if files that earlier runs read are missing.")
  var allowMissingInputs = false

  @OptionGroup var empty: EmptyOptions

  @Flag(help: "Show the events that would be replaced, and change nothing.")
  var dryRun = false

  @OptionGroup var answer: AnswerOption

  func validate() throws {
    guard (window == nil) == (from != nil && to != nil), window == nil || (from == nil && to == nil) else {
      throw ValidationError("Give the window with --from and --to, or with --window FROM/TO or --window DAY.")
    }
    guard let span, span.from < span.to else { throw ValidationError("The window must end after it begins.") }
  }

  private var span: RerunWindow? {
    if let window { return window }
    guard let from, let to else { return nil }
    return RerunWindow(from: from, to: to)
  }

  func run() throws {
    // `validate` ensures that there is a window.
    guard let span else { return }
    let interruption = try Signals.interruption()
    let request = try request(known: nil)
    try EventStore.change(request.storePath, format: request.platform.storeFormat) { store in
      try rerun(span, request, store, interruption)
    }
  }

  private func rerun(
    _ span: RerunWindow, _ first: RunRequest, _ store: EventStore, _ interruption: Interruption
  ) throws {
    try store.check(against: first.storeDestination, jobFile: first.job.file)
    guard let known = try RunRequest.known(to: store) else {
      throw CommandError(
        .configuration, "\(first.storePath.printable): error: no run has processed a record yet; run the job first")
    }
    guard span.from < known.asOf, known.from < span.to else {
      throw CommandError(
        .configuration,
        "\(first.storePath.printable): error: the store covers \(known.from.rfc3339) to \(known.asOf.rfc3339), but not this window; "
          + "process the window with 'run' or 'backfill'")
    }
    let rerun = Rerun(
      from: span.from, to: span.to, sendsAgain: sendAgain, allowsMissingInputs: allowMissingInputs, isRehearsal: dryRun)
    let monitor = TerminalMonitor(.none)
    let outcome = try Pipeline(request(known: known), monitor: monitor, interruption: interruption)
      .rerun(rerun, in: store)
    let report = RerunReport(outcome: outcome, rerun: rerun, request: first)
    answer.format.show(report.facts)
    for note in report.notes { Streams.note(note.printable) }
  }

  /// - Parameter known: The processed window and `asOf` to use instead of the job's; nil to load the job unchanged.
  private func request(known: (from: Instant, to: Instant, asOf: Instant)?) throws -> RunRequest {
    var changes = job.changes
    if let known { (changes.from, changes.to, changes.asOf) = (known.from, known.to, known.asOf) }
    let loaded = known == nil ? try job.load() : nil
    var request = try job.request(
      .noUpload, loaded ?? JobSource.loader(asksService: !job.sandbox).load(job: job.named.job, changes))
    request.allowsEmpty = empty.allowEmpty
    return request
  }
}

struct RerunWindow {
  var from: Instant
  var to: Instant

  @Sendable static func argument(_ text: String) throws(ValidationError) -> RerunWindow {
    let ends = text.split(separator: "/", omittingEmptySubsequences: false)
    let from = try Instant.argument(String(ends[0]))
    if ends.count == 1, from == Zone.utc.startOfDay(from, plus: 0) {
      return RerunWindow(from: from, to: Zone.utc.startOfDay(from, plus: 1))
    }
    guard ends.count == 2 else { throw ValidationError("give a day, or both ends, such as 2026-01-15/2026-01-16") }
    return RerunWindow(from: from, to: try Instant.argument(String(ends[1])))
  }
}

extension SentEvents: ExpressibleByArgument {}

struct RerunReport {
  let outcome: RerunOutcome
  let rerun: Rerun
  /// The request for the unchanged job, from which the next commands are built.
  let request: RunRequest

  var facts: Facts {
    let counts = outcome.counts
    let records = outcome.records.records
    var facts: Facts = [
      "from": .text(rerun.from.rfc3339), "to": .text(rerun.to.rfc3339), "dryRun": .flag(rerun.isRehearsal),
      "files": .number(outcome.files), "missingFiles": .number(outcome.missingFiles),
    ]
    facts.add(
      "records", records.json,
      "\(rerun.from.rfc3339) to \(rerun.to.rfc3339), \(records.read) read from \(outcome.files.counted("file")): "
        + "\(records.accepted) accepted, \(records.duplicates.counted("duplicate")), \(records.outOfWindow) out of window, "
        + (records.forgotten ?? 0 > 0 ? "\(records.forgotten ?? 0) forgotten, " : "")
        + "\(records.quarantined) quarantined"
        + (records.leftOut == nil ? "" : ", \(records.leftOutCount) left out by maps"))
    if let (accepted, rewind) = outcome.taken.map({ ($0.records.accepted, $0.rewind) }) {
      let members = (["records": .number(accepted)] as JSONNode).adding(rewind.json.members ?? [])
      let lines = accepted.counted("previously unread line", "previously unread lines")
      facts.add(
        "taken", members,
        accepted == 0 ? [] : ["\(lines) imported: \(rewind.devices.counted("device")) rewound, \(rewind.words)"])
    } else {
      facts.add("taken", [:])
    }
    facts.add(
      "waiting",
      [
        "before": .number(counts.removed), "now": .number(counts.stored), "unchanged": .number(counts.unchanged),
        "heldBack": .number(counts.heldBack),
      ],
      "pending before: \(counts.removed.counted("event")); after: \(counts.stored), of which \(counts.unchanged) unchanged"
    )
    let sent = (counts.same + counts.different + counts.gone).counted("event")
    let doubt = "it is unknown whether the service has received \(counts.inDoubt) of these (see 'store events')"
    facts.add(
      "sent",
      [
        "same": .number(counts.same), "different": .number(counts.different), "gone": .number(counts.gone),
        "inDoubt": .number(counts.inDoubt),
      ],
      [
        "sent before: \(sent); \(counts.same) unchanged, \(counts.different) with different attributes, "
          + "\(counts.gone) no longer produced"
      ] + (counts.inDoubt > 0 ? [doubt] : []))
    return facts
  }

  var notes: [String] {
    let counts = outcome.counts
    var notes: [String] = []
    if counts.heldBack > 0 {
      notes.append(
        counts.heldBack.counted(
          "event was not replaced: events of its device",
          "events were not replaced: events of their devices")
          + " are or were held (HOLD), and states are not replaced")
    }
    if outcome.missingFiles > 0 {
      notes.append(
        "\(outcome.missingFiles.counted("file")) from earlier runs \(outcome.missingFiles == 1 ? "is missing: its" : "are missing: their") records "
          + "were not processed")
    }
    if outcome.taken == nil, outcome.records.records.quarantined > 0 {
      notes.append("quarantined lines were left for the next run that reads them; 'validate' lists them")
    }
    if counts.different > 0, rerun.sendsAgain == nil {
      notes.append(
        "sent events whose attributes now differ are not sent again; to send them, use --send-again different")
    }
    if rerun.isRehearsal {
      notes.append("nothing was changed")
    } else if counts.stored > 0 {
      let invocation = request.invocation
      notes.append("To send pending events: \(invocation.post.text)\(invocation.omission)")
    }
    return notes
  }
}
