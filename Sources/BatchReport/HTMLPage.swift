import BatchFoundation

/// What the HTML report shows: words and figures that are ready, in their order. An empty array leaves its section out.
struct HTMLPage {
  struct Fact {
    var name: String
    var value: String
  }

  /// A large figure at the top.
  struct Tile {
    var figure: String
    var label: String
    /// `plain`, `good` or `attention`.
    var tone: String
  }

  /// A row of a table with a bar.
  struct Bar {
    var name: String
    var note: String
    var figure: String
    /// Width of the bar in percent, 0 to 100; at least 1 for a count, so that it can be seen.
    var share: Int
  }

  struct Figure {
    var name: String
    var figure: String
  }

  struct Line {
    var place: String
    var offset: String
    var reason: String
    var detail: String
    /// One element if the line may be shown.
    var content: [String]
  }

  struct Warning {
    var kind: String
    var figure: String
    var places: [Place]
  }

  struct Place {
    var place: String
    var device: String
    var detail: String
  }

  struct Merge {
    var plan: Int
    var words: String
    var scenario: String
    var state: String
    var tone: String
    var device: String
    var loser: String
    var winner: String
    var reason: String
  }

  /// A table of the platform.
  struct Section {
    var title: String
    /// `single` for a list of one column, which goes on beside itself.
    var kind: String
    var heads: [Cell]
    var rows: [Row]

    struct Row {
      var cells: [Cell]
    }
  }

  struct Cell {
    var text: String
    /// `number` for a figure.
    var kind: String
    /// The head of its column, for narrow pages; empty for a head.
    var label = ""
  }

  struct Unsent {
    var reason: String
    var figure: String
    var status: String
    var setting: String
    var ends: String
  }

  struct Setting {
    var name: String
    var value: String
    var origin: String
  }

  var job: String
  /// The days or the time that the report is about.
  var period: String
  var ending: String
  var tone: String
  var failure: [String]
  /// The run in a few sentences.
  var story: String
  var facts: [Fact]
  var tiles: [Tile]
  /// What is beyond the range of the nights before.
  var unusual: [String]
  var steps: [String]
  var charts: [Chart]
  var events: [Bar]
  var reasons: [Bar]
  var store: [Bar]
  var uploads: [Figure]
  var uploadInWords: [Figure]
  var identities: [Figure]
  var others: [Figure]
  var otherInWords: [Figure]
  var unsent: [Unsent]
  var quarantineTitle: String
  var quarantine: [Line]
  var warnings: [Warning]
  var fields: [Figure]
  var merges: [Merge]
  var sections: [Section]
  var notes: [String]
  var layers: [String]
  var settings: [Setting]
  var stages: [Bar]
  /// What a reader may want to know next, each with the command that answers it.
  var questions: [Fact]
  var privacy: String
}

extension HTMLPage {
  // What comes from outside can be long and much; a page stays below a megabyte.
  private static let shownTypes = 30
  private static let shownFields = 100
  private static let shownNotes = 50

  /// The rows of a table that fit into a page beside the others.
  fileprivate static func fitting<Row>(_ rows: [Row], _ texts: (Row) -> [String]) -> [Row] {
    var left = tableBytes
    return Array(
      rows.prefix { row in
        left -= texts(row).reduce(300) { $0 + (Markup.escaped($1).utf8.count) }
        return left >= 0
      })
  }

  private static let tableBytes = 120_000

  private static func name(_ text: String) -> String { text.clipped(toBytes: 100) }
  private static func path(_ text: String) -> String { text.clipped(toBytes: 300) }
  fileprivate static func words(_ text: String) -> String { text.clipped(toBytes: 300) }

  init(_ report: RunReport) {
    let summary = report.summary
    job = report.job
    period = Self.period(report)
    ending = report.ending
    tone = report.exit == .done ? "good" : "bad"
    failure = report.failureLines
    story = RunStory.text(report)
    facts = Self.facts(report)
    tiles = Self.tiles(report)
    unusual = report.unusual ?? []
    steps = NextSteps.of(report)
    charts = Charts(report.activity, report.platform.typeNames).all
    let types = ShownTypes(summary, atMost: Self.shownTypes)
    events = Self.bars(
      types.types.map { code, events in
        (Self.name(code), report.platform.typeNames[code] ?? report.platform.unnamedType, events)
      } + (types.others > 0 ? [("others", "", types.others)] : []))
    reasons = Self.bars(
      QuarantineReason.allCases.compactMap { reason in
        let events = reason == .schemaInvalid ? report.quarantinedEvents : 0
        let count = summary.quarantineReasons[reason, default: 0] + events
        return count > 0 ? (reason.rawValue, reason.remedy, count) : nil
      })
    store = Self.bars(summary.store.sorted { $0.key.precedesByBytes($1.key) }.map { ($0.key, "", $0.value) })
    uploads = Self.uploads(report)
    uploadInWords = report.ledger.stop.map { [Figure(name: "stopped early", figure: $0)] } ?? []
    identities = summary.identity == .init() ? [] : Self.identities(summary.identity)
    others = Self.others(report)
    otherInWords = report.platform.lines.map { Figure(name: $0.label, figure: $0.text) }
    sections = report.platform.sections.filter { !$0.rows.isEmpty }.map(Section.init)
    quarantine = Self.fitting(report.orderedQuarantine.map(Self.line)) { [$0.place, $0.detail] + $0.content }
    let shown = quarantine.count.grouped
    let setAside = summary.records.quarantined + report.quarantinedEvents
    quarantineTitle =
      quarantine.count < setAside
      ? "The first \(shown) of \(setAside.grouped) lines and events"
      : summary.records.quarantined == 0
        ? quarantine.count.counted("event")
        : report.quarantinedEvents > 0 ? "\(shown) lines and events" : quarantine.count.counted("line")
    unsent = report.unsent.map {
      Unsent(
        reason: $0.reason, figure: $0.events.grouped, status: $0.status, setting: $0.setting, ends: $0.ends)
    }
    let tallies = Self.fitting(report.orderedWarnings) {
      $0.first.flatMap { [Self.path($0.file), Self.words($0.detail)] }
    }
    warnings = tallies.map { tally in
      Warning(
        kind: tally.kind, figure: tally.occurrences.grouped,
        places: tally.first.map {
          Place(
            place: "\(Self.path($0.file)):\($0.line)", device: Self.name($0.device.text ?? ""),
            detail: Self.words($0.detail))
        })
    }
    fields = report.orderedFields.prefix(Self.shownFields).map {
      Figure(name: Self.name($0.name), figure: $0.records.grouped)
    }
    let more = report.orderedFields.dropFirst(Self.shownFields)
    if !more.isEmpty {
      let records = more.reduce(0) { $0 + $1.records }
      fields.append(Figure(name: "\(more.count.grouped) others", figure: records.grouped))
    }
    merges = Self.fitting(report.merges.map(Self.merge)) { [$0.device, $0.loser, $0.winner, $0.reason] }
    notes =
      report.notes.prefix(Self.shownNotes).map(Self.path)
      + (report.notes.count > Self.shownNotes ? ["and \((report.notes.count - Self.shownNotes).grouped) more"] : [])
    layers = report.configuration.layers
    settings = report.configuration.settings.map { Setting(name: $0.name, value: $0.value, origin: $0.origin) }
    stages = Self.stages(report.stages)
    questions = FurtherQuestions.of(report).map { Fact(name: $0.question, value: $0.command.text) }
    privacy =
      switch report.personalData {
      case .omit: "Ids of devices and recipients are left out."
      case .hash:
        "Ids of devices and recipients are hashed with a key of the store; the same id has the same hash in all its reports."
      case .clear: "This report shows ids and recorded lines as they are. Treat it as personal data."
      }
  }

  private static func line(_ sample: QuarantineSample) -> Line {
    Line(
      place: sample.line == 0 ? path(sample.file) : "\(path(sample.file)):\(sample.line)",
      offset: Int(clamping: sample.offset).grouped,
      reason: sample.reason.rawValue, detail: words(sample.detail),
      content: (sample.content.text ?? sample.excerpt).map { [$0] } ?? [])
  }

  private static func merge(_ merge: IdentityMerge) -> Merge {
    let tone =
      switch merge.state {
      case "done": "good"
      case "conflict", "held", "open", "undoing", IdentityMerge.refused: "attention"
      default: "plain"
      }
    return Merge(
      plan: Int(merge.plan), words: merge.words, scenario: merge.scenario, state: merge.state, tone: tone,
      device: name(merge.device.text ?? ""),
      loser: name(merge.loser.text ?? ""), winner: name(merge.winner.text ?? ""),
      reason: words(merge.reason + (merge.source.isEmpty ? "" : " (\(merge.source))")))
  }

  private static func bars(_ rows: [(name: String, note: String, count: Int)]) -> [Bar] {
    let most = max(1, rows.map(\.count).max() ?? 1)
    return rows.map {
      Bar(
        name: $0.name, note: $0.note, figure: $0.count.grouped,
        share: $0.count > 0 ? max(1, Int(Double($0.count) / Double(most) * 100)) : 0)
    }
  }

  private static func stages(_ stages: [StageDuration]) -> [Bar] {
    let longest = max(0.001, stages.map(\.seconds).max() ?? 0)
    return stages.map {
      Bar(
        name: $0.name, note: "", figure: Wording.seconds($0.seconds),
        share: Int(min(max($0.seconds / longest, 0), 1) * 100))
    }
  }
}

extension HTMLPage.Section {
  init(_ section: ReportSection) {
    let numbers = section.columns.indices.map { column in section.rows.contains { $0[column].isNumber } }
    title = section.title
    // A few sentences read better below each other.
    kind = section.columns.count == 1 && section.rows.count > 8 ? "stack single" : "stack"
    heads = zip(section.columns, numbers).map { HTMLPage.Cell(text: $0.title, kind: $1 ? "number" : "") }
    rows = HTMLPage.fitting(section.rows) { $0.map { HTMLPage.words($0.words) } }.map { row in
      Row(
        cells: row.indices.map { column in
          HTMLPage.Cell(
            text: HTMLPage.words(row[column].words), kind: numbers[column] ? "number" : "",
            label: section.columns[column].title)
        })
    }
  }
}
