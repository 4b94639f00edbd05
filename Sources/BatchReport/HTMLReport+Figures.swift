import BatchFoundation

extension Markup {
  private static let shownTypes = 30

  mutating func addFigures(_ report: RunReport) {
    let summary = report.summary
    let types = ShownTypes(summary, atMost: Self.shownTypes)
    var events: [(name: String, note: String, count: Int)] = types.types.map { code, count in
      (code.shownName, report.platform.typeNames[code] ?? report.platform.unnamedType, count)
    }
    if types.others > 0 { events.append(("others", "", types.others)) }
    addShortTable(
      "Events by type", "Events created from the records of this run", Bar.counts(events),
      [Column("") { "<code>\($0.name)</code> \($0.note)" }, .bar, .number("", \.figure)])
    addShortTable(
      "Events in the store", "All events in the store, by status",
      Bar.counts(summary.store.sorted { $0.key.precedesByBytes($1.key) }.map { ($0.key, "", $0.value) }),
      [.code("", \.name), .bar, .number("", \.figure)])
    addFigures(
      "Upload", "Events and requests sent, and the responses", Self.uploads(report),
      inWords: report.ledger.stop.map { [("stopped early", $0)] } ?? [])
    if summary.records.accepted != 0 || summary.eventCount != 0 {
      addFigures(
        "Sessions and campaigns", "Counted by the rules of this run", Self.sessions(report),
        inWords: report.platform.lines.map { ($0.label, $0.text) })
    }
    addFigures("Identity", "Outcomes of identity checks", Self.identities(summary.identity))
    addShortTable(
      "Time", "Duration of each stage", Bar.times(report.stages),
      [.text("", \.name), .bar, .number("", \.figure)])
  }

  private typealias Figure = (name: String, figure: String)

  /// - Parameter inWords: Entries whose values are text, shown below the figures.
  private mutating func addFigures(_ title: String, _ caption: String, _ figures: [Figure], inWords: [Figure] = []) {
    guard !figures.isEmpty || !inWords.isEmpty else { return }
    line("<section><h2>\(title)</h2>\(figures.isEmpty ? "" : .shortTable(caption, figures, Self.named))")
    if !inWords.isEmpty {
      line("<dl>")
      lines(inWords) { "<dt>\($0.name)</dt><dd>\($0.figure)</dd>" }
      line("</dl>")
    }
    line("</section>")
  }

  private static var named: [Column<Figure>] { [.text("") { $0.name }, .number("") { $0.figure }] }

  /// Returns the figures that are not zero.
  private static func counted(_ figures: [(String, Int)]) -> [Figure] {
    figures.filter { $0.1 != 0 }.map { ($0.0, $0.1.grouped) }
  }

  private static func uploads(_ report: RunReport) -> [Figure] {
    let upload = report.summary.upload
    let outcomes = report.ledger.outcomes.sorted { $0.key.precedesByBytes($1.key) }
    let answers: [Figure] = report.ledger.answers.map { answer in
      let share =
        switch answer.share {
        case .half: "median response time"
        case .nearlyAll: "95th percentile response time"
        case .all: "slowest response time"
        }
      return (share, answer.seconds.inSeconds)
    }
    return counted(
      [
        ("chunks", upload.chunks), ("requests", upload.requests), ("retries", upload.retries),
        ("events posted", upload.eventsPosted), ("events failed", upload.eventsFailed),
        ("events pending", upload.eventsPending), ("events unknown", upload.eventsUnknown),
        ("events that the service may have twice", report.ledger.possibleDuplicates),
        ("chunks recovered from an interrupted run", report.ledger.recoveredChunks),
      ] + outcomes.map { ("attempts \($0.key)", $0.value) })
      + answers
  }

  private static func sessions(_ report: RunReport) -> [Figure] {
    let silently = report.activity.sessionsOverSilently
    return counted(
      [
        ("sessions started", report.summary.sessionsStarted),
        (silently > 0 ? "sessions ended by an event" : "sessions ended", report.summary.sessionsEnded),
      ] + (silently > 0 ? [("sessions ended without an event", silently)] : []))
  }

  private static func identities(_ identity: RunSummary.Identity) -> [Figure] {
    counted([
      ("checks", identity.checks), ("created", identity.created), ("updated", identity.updated),
      ("merged", identity.merged), ("conflicts", identity.conflicts), ("refused", identity.refused),
      ("decided by policy", identity.decidedByPolicy), ("audit rows", identity.auditRows),
      ("devices with a new owner", identity.newOwners),
    ])
  }
}

struct Bar {
  var name: String
  var note = ""
  var figure: String
  /// The width of the bar in percent, 0 to 100; at least 1 for a positive count, so that it is visible.
  var share: Int

  static func counts(_ rows: [(name: String, note: String, count: Int)]) -> [Bar] {
    let most = max(1, rows.map(\.count).max() ?? 1)
    return rows.map { row in
      let share = row.count > 0 ? max(1, Int(Double(row.count) / Double(most) * 100)) : 0
      return Bar(name: row.name, note: row.note, figure: row.count.grouped, share: share)
    }
  }

  static func times(_ stages: [StageDuration]) -> [Bar] {
    let longest = max(0.001, stages.map(\.seconds).max() ?? 0)
    return stages.map {
      Bar(
        name: $0.name, figure: $0.seconds.inSeconds, share: Int(min(max($0.seconds / longest, 0), 1) * 100))
    }
  }
}

extension Column where Row == Bar {
  static var bar: Column {
    Column("", classes: { _ in "wide" }) {
      #"<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="\#($0.share)" height="8"/></svg>"#
    }
  }
}

extension Markup {
  private static let shownCampaigns = 20

  /// Adds the devices of the run and of earlier nights, and each campaign's devices by step.
  mutating func addPeople(_ report: RunReport) {
    guard let people = report.summary.people, people != People() else { return }
    line(#"<section class="long"><h2>People</h2>"#)
    let nights = report.peopleBefore ?? []
    let figures: [(words: String, count: (People) -> Int)] =
      [("devices with records", \.devices)]
      + people.inDevices.indices.map { place in (people.inDevices[place].words, { $0.inDevices[place].devices }) }
    let rows = figures.filter { figure in ([people] + nights).contains { figure.count($0) != 0 } }
    line(
      .table(
        "Devices of this run, not people: a person may use several, and a device may change hands", rows,
        [.text("", \.words), .figure("this run") { $0.count(people) }]
          + (nights.isEmpty ? [] : [.number(Self.beforeWords(nights.count)) { nights.median($0.count) }])))
    let (campaigns, rest) = report.activity.campaigns.ranked(atMost: Self.shownCampaigns, by: \.weight)
    let steps = campaigns.compactMap { campaign in
      campaign.value.steps.map { (name: campaign.name.string.clipped(toBytes: Chart.longestName), steps: $0) }
    }
    if !steps.isEmpty {
      var others = rest.steps.map { [(name: "all others (a device may count more than once)", steps: $0)] } ?? []
      if CampaignStep.allCases.contains(where: { people.withoutCampaign[$0] != (0, 0) }) {
        others.append((name: "no campaign", steps: people.withoutCampaign))
      }
      line(
        .table(
          "Campaigns: devices of each step, the share of devices from the previous step that also took it, and events",
          steps + others,
          [.text("campaign", \.name)]
            + CampaignStep.allCases.map { step in Column("\(step)", kind: "number") { $0.steps.words(of: step) } }))
      line(
        "<p class=\"soft\">A session counts when it is finished, for the campaign that was active at its end; a goal counts when it is completed.</p>"
      )
    }
    line("</section>")
  }

  private static func beforeWords(_ nights: Int) -> String {
    nights == 1 ? "the night before" : "median of the \(nights) nights before"
  }
}

extension CampaignSteps {
  /// Returns the devices of a step, the share of devices from the previous step that also took it, and its events.
  fileprivate func words(of step: CampaignStep) -> Markup {
    let reach = self[step]
    guard reach != (0, 0) else { return "-" }
    let before = CampaignStep.allCases.prefix { $0 != step }.last.map { self[$0].devices } ?? 0
    // The other devices of the step took the previous one on an earlier night, or never.
    let percent = before > 0 ? (continued(step) * 100 + before / 2) / before : 0
    let share = before > 0 ? " (\(continued(step).grouped) of \(before.grouped), \(percent)%)" : ""
    return
      #"<span class="whole">\#(reach.devices.counted("device"))\#(share),</span> <span class="whole">\#(reach.events.countedOrFewer("event"))</span>"#
  }
}
