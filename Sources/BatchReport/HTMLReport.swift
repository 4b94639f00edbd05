import BatchFoundation
import CEmbedded

/// The report of a run for people: one HTML file without scripts or external resources.
package enum HTMLReport {
  /// Returns the page; equal reports give equal bytes.
  ///
  /// - Parameter links: The other pages, relative to this one; nil for a page that is not in a folder of reports.
  package static func text(_ report: RunReport, links: ReportLinks? = nil) -> String {
    Markup.page(title: "\(report.job), \(report.period)") { page in
      var sections: Markup = ""
      sections.add(report)
      page.addOverview(report, links)
      let (contents, text) = sections.withAnchors()
      page.addContents(contents)
      page.line(text)
    }
  }
}

/// The pages that a report links to.
package struct ReportLinks: Sendable, Equatable {
  /// The page of all runs.
  package var index: String
  /// The reports of the job's previous and next night; nil if there is none.
  package var before: String?
  package var after: String?
  /// The number of the later run that finished this night, and its report; nil if this night needed none.
  package var finisher: Finisher?

  package struct Finisher: Sendable, Equatable {
    package var run: Int64
    /// Nil if there is no report.
    package var page: String?
  }
}

extension RunReport {
  /// The period of the report in its shortest form: a day, a range of days or times, or `asOf` for an open window.
  fileprivate var period: String {
    guard let from, let to else { return "as of \(shownZone.minute(asOf))" }
    return shownZone.period(from, to)
  }
}

extension Markup {
  static var sandboxBadge: Markup { #"<span class="badge attention">sandbox, not the service</span>"# }

  /// Adds the sections of a report, skipping empty ones.
  fileprivate mutating func add(_ report: RunReport) {
    addPeople(report)
    add(Charts(report.activity, report.platform.typeNames, in: report.shownZone).all)
    line(#"<div class="columns">"#)
    addFigures(report)
    line("</div>")
    addTable(
      "Not sent yet", "Unsent events in the store: the reason, and what sends them", report.unsent,
      [
        .text("why", \.reason), .figure("events", \.events), .code("status", \.status), .text("setting", \.setting),
        .text("ends with", \.ends),
      ])
    addQuarantine(report)
    addWarnings(report)
    addMerges(report.merges)
    for section in report.platform.sections where !section.rows.isEmpty { add(section) }
    addFields(report.orderedFields)
    addNotes(report.notes)
    addRun(report)
    let questions = FurtherQuestions.of(report)
    if !questions.isEmpty {
      line(#"<section class="long"><h2>Next questions</h2><dl>"#)
      lines(questions) { "<dt>\($0.question)</dt><dd><code>\(.words($0.command.text))</code></dd>" }
      line("</dl></section>")
    }
    let privacy =
      switch report.personalData {
      case .omit: "Ids of devices and recipients are omitted."
      case .hash:
        "Ids of devices and recipients are hashed; an id has the same hash in all reports on the same store."
      case .clear: "This report shows ids and recorded lines in plain text. Treat it as personal data."
      }
    line("<footer>\(privacy)</footer>")
  }

  fileprivate mutating func addOverview(_ report: RunReport, _ links: ReportLinks?) {
    if let links { addNavigation(links) }
    let tone = report.night.tone
    let sandbox: Markup = report.usesSandbox ? .sandboxBadge : ""
    line(
      #"<header><h1>\#(report.job)</h1><span class="badge \#(tone)"><span aria-hidden="true">\#(report.night.sign) </span>\#(report.ending)</span>\#(sandbox)<span class="soft">\#(report.period), times in \#(report.shownZone.name)</span></header>"#
    )
    lines(report.failureLines) { #"<p class="bad">\#($0)</p>"# }
    line("<p>\(RunStory.text(report))</p>")
    // A run that accepted nothing has little to count.
    addTiles(Self.tiles(report).filter { $0.count != 0 || report.summary.records.accepted > 0 })
    lines(report.unusual ?? []) { #"<p class="attention">Unusual: \#($0).</p>"# }
    let steps = NextSteps.of(report)
    if !steps.isEmpty {
      line(#"<section class="todo"><h2>To do</h2><ul>"#)
      lines(steps) { "<li>\(.words($0))</li>" }
      line("</ul></section>")
    }
  }

  private static func tiles(_ report: RunReport) -> [(label: String, count: Int, tone: String)] {
    let summary = report.summary
    var tiles: [(label: String, count: Int, tone: String)] = []
    if report.mode != .post {
      let quarantined = summary.records.quarantined + report.quarantinedEvents
      tiles += [
        ("records read", summary.records.read, "plain"), ("accepted", summary.records.accepted, "plain"),
        ("duplicates", summary.records.duplicates, "plain"), ("out of window", summary.records.outOfWindow, "plain"),
        ("quarantined", quarantined, quarantined > 0 ? "attention" : "plain"),
      ]
      if let forgotten = summary.records.forgotten, forgotten > 0 { tiles.append(("forgotten", forgotten, "plain")) }
      if summary.records.leftOut != nil { tiles.append(("left out by maps", summary.records.leftOutCount, "plain")) }
      tiles.append(("events", summary.eventCount, "plain"))
    }
    let upload = summary.upload
    if report.mode != .dryRun {
      tiles.append(("posted", upload.eventsPosted, upload.eventsPosted > 0 ? "good" : "plain"))
    }
    let rare = [
      ("failed", upload.eventsFailed), ("unknown", upload.eventsUnknown),
      ("possibly twice", report.ledger.possibleDuplicates), ("warnings", report.warningCount),
    ]
    for (label, count) in rare where count > 0 { tiles.append((label, count, "attention")) }
    return tiles
  }

  // MARK: - Findings

  private mutating func addQuarantine(_ report: RunReport) {
    let summary = report.summary
    let reasons = Bar.counts(
      QuarantineReason.allCases.compactMap { reason in
        let events = reason == .schemaInvalid ? report.quarantinedEvents : 0
        let count = summary.quarantineReasons[reason, default: 0] + events
        return count > 0 ? (reason.rawValue, reason.remedy, count) : nil
      })
    guard !reasons.isEmpty else { return }
    let table: Markup = .table(
      "Quarantined lines and events, by reason", reasons,
      [.code("reason", \.name), .bar, .number("lines", \.figure), .text("what to do", \.note)])
    line(#"<section class="long"><h2>Quarantine</h2>\#(table)"#)
    let samples = Self.fitting(report.orderedQuarantine) { [$0.shownPlace, $0.detail.shownWords] + $0.shownContent }
    let setAside = summary.records.quarantined + report.quarantinedEvents
    let shown = samples.count.grouped
    let title =
      samples.count < setAside
      ? "The first \(shown) of \(setAside.grouped) lines and events"
      : summary.records.quarantined == 0
        ? samples.count.counted("event")
        : report.quarantinedEvents > 0 ? "\(shown) lines and events" : samples.count.counted("line")
    if !samples.isEmpty {
      line(
        .table(
          title, samples,
          [
            Column("place") { sample in
              let content: Markup = .joined(sample.shownContent) { #"<br><code class="soft">\#($0)</code>"# }
              return "<code>\(sample.shownPlace)</code>\(content)"
            },
            .figure("offset") { Int(clamping: $0.offset) }, .code("reason", \.reason.rawValue),
            .text("detail", \.detail.shownWords),
          ]))
    }
    line("</section>")
  }

  private mutating func addWarnings(_ report: RunReport) {
    let tallies = Self.fitting(report.orderedWarnings) {
      $0.first.flatMap { [$0.file.shownWords, $0.detail.shownWords] }
    }
    guard !tallies.isEmpty else { return }
    line(#"<section class="long"><h2>Warnings</h2>"#)
    for tally in tallies {
      line("<h3><code>\(tally.kind)</code> \(tally.occurrences.grouped)</h3>")
      line(#"<p class="soft">What it means: <code>\#(ShellCommand("explain", tally.kind).text)</code></p>"#)
      line(
        .table(
          "First places", tally.first,
          [
            .code("place") { "\($0.file.shownWords):\($0.line)" }, .code("device", \.device.shownName),
            .text("detail", \.detail.shownWords),
          ]))
    }
    line("</section>")
  }

  private mutating func addMerges(_ merges: [IdentityMerge]) {
    addTable(
      "Identity plans", "Merges and changes of recipients; those that need a decision are listed first",
      Self.fitting(merges) {
        [$0.device.shownName, $0.loser.shownName, $0.winner.shownName, $0.reasonWithSource]
      },
      [
        .number("plan") { "\($0.plan)" },
        Column("scenario") { #"\#($0.words)<br><code class="soft">\#($0.scenario)</code>"# },
        .toned("state", \.tone, \.state), .code("device", \.device.shownName), .code("from", \.loser.shownName),
        .code("to", \.winner.shownName), .text("reason", \.reasonWithSource),
      ])
  }

  private mutating func add(_ section: ReportSection) {
    let columns = section.columns.indices.map { place in
      let kind = section.rows.contains { $0[place].isNumber } ? "number" : ""
      return Column<[ReportSection.Cell]>(
        section.columns[place].title, kind: kind,
        classes: { kind.isEmpty && Self.isName($0[place].words) ? "whole" : kind },
        cell: { "\($0[place].words.shownWords)" })
    }
    // A list of sentences reads better in columns.
    let kind = columns.count == 1 && section.rows.count > 8 ? "stack single" : "stack"
    let rows = Self.fitting(section.rows) { $0.map(\.words.shownWords) }
    addTable(section.title, nil, kind: kind, rows, columns)
  }

  /// Returns whether a word is short enough to stay on one line.
  private static func isName(_ word: String) -> Bool { word.utf8.count <= 24 && !word.contains(" ") }

  // MARK: - Further details

  private mutating func addFields(_ fields: [UnknownField]) {
    let more = fields.dropFirst(Self.shownFields)
    let others = UnknownField(name: more.count.counted("other"), records: more.reduce(0) { $0 + $1.records })
    addShortTable(
      "Unknown fields", "Ignored, with the number of records that have them",
      Array(fields.prefix(Self.shownFields)) + (more.isEmpty ? [] : [others]),
      [.code("", \.name.shownName), .figure("", \.records)])
  }

  private mutating func addNotes(_ notes: [String]) {
    guard !notes.isEmpty else { return }
    let more = notes.count - Self.shownNotes
    line("<section><h2>Notes</h2><ul>")
    lines(notes.prefix(Self.shownNotes).map(\.shownWords) + (more > 0 ? ["and \(more.grouped) more"] : [])) {
      "<li>\($0)</li>"
    }
    line("</ul></section>")
  }

  private mutating func addRun(_ report: RunReport) {
    line(#"<section class="long"><h2>This run</h2><dl>"#)
    lines(Self.facts(report)) { name, value in
      // Times must not break at their hyphens.
      let ends = value.split(separator: " to ", maxSplits: 1).map(String.init)
      let shown: Markup = ends.count == 2 ? #"\#(ends[0]) to <span class="whole">\#(ends[1])</span>"# : "\(value)"
      return "<dt>\(name)</dt><dd>\(shown)</dd>"
    }
    line("</dl>")
    if !report.configuration.layers.isEmpty {
      line("<h3>Configuration, later layers win</h3><ol>")
      lines(report.configuration.layers) { "<li><code>\($0)</code></li>" }
      line("</ol>")
    }
    if !report.configuration.settings.isEmpty {
      line(
        .table(
          "Settings that differ from the built-in defaults, without secrets", report.configuration.settings,
          [.code("setting", \.name), .code("value", \.value), .text("from", \.origin)]))
    }
    line("</section>")
  }

  private static func facts(_ report: RunReport) -> [(name: String, value: String)] {
    let digest = report.configuration.digest
    let facts: [(name: String, value: String?)] = [
      ("started", report.startedAt.rfc3339), ("took", report.summary.durationSeconds.inSeconds),
      ("as of", report.asOf.rfc3339), ("window", TimeWindow(from: report.from, to: report.to).words),
      ("known until", report.knownUntil?.rfc3339 ?? "no time; inactivity ended nothing"),
      ("kind of run", report.mode.words),
      ("destination", report.destination + (report.usesSandbox ? ", in the sandbox" : "")),
      ("job file", report.jobFile), ("store", report.store), ("configuration", digest.isEmpty ? nil : digest),
      ("exit code", String(report.exit.rawValue)),
    ]
    return facts.compactMap { name, value in value.map { (name, $0) } }
  }

  // Content from exports can be long; these limits keep a page below a megabyte.
  private static let shownFields = 100
  private static let shownNotes = 50
  private static let tableBytes = 120_000

  /// Returns the first rows, up to the size limit of a table on a page.
  private static func fitting<Row>(_ rows: [Row], _ texts: (Row) -> [String]) -> [Row] {
    var left = tableBytes
    return Array(
      rows.prefix { row in
        left -= texts(row).reduce(300) { $0 + Markup.escaped($1).utf8.count }
        return left >= 0
      })
  }
}

extension String {
  /// The part of a name that a page shows; ``shownWords`` is for sentences and paths.
  var shownName: String { clipped(toBytes: 100) }
  fileprivate var shownWords: String { clipped(toBytes: 1000) }
}

extension RedactedText {
  fileprivate var shownName: String { (text ?? "").shownName }
}

extension QuarantineSample {
  fileprivate var shownPlace: String { line == 0 ? file.shownWords : "\(file.shownWords):\(line)" }
  /// The line or its shape; empty if neither may be shown.
  fileprivate var shownContent: [String] { (content.text ?? excerpt).map { [$0] } ?? [] }
}

extension IdentityMerge {
  fileprivate var reasonWithSource: String { (reason + (source.isEmpty ? "" : " (\(source))")).shownWords }

  fileprivate var tone: String {
    switch state {
    case "done": "good"
    case "conflict", "held", "open", "undoing", Self.refused: "attention"
    default: "plain"
    }
  }
}

extension HTMLReport {
  /// The style sheet (`report.css` of CEmbedded) for light and dark screens from 360 pixels wide, and for print. Charts
  /// use fill colors, which are printed as well.
  static let style = unsafe Markup(stringLiteral: String(cString: engage_style()))
}
