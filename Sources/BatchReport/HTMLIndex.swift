package import BatchFoundation

/// A run in the list of all runs of a store.
package struct ListedRun: Sendable, Equatable {
  package var number: Int64
  package var job: String
  package var mode: String
  package var started: Instant
  package var asOf: Instant
  /// The end of the time that the run covers; a nightly run with yesterday's window covers nothing after that day.
  package var until: Instant
  package var window = TimeWindow()
  /// Nil for a run that was killed or is in progress.
  package var exit: RunExit?
  /// The stored state of the night; nil for a run of a release that did not store it.
  package var night: NightState?
  /// The ends of the windows that no run had read when this run ended.
  package var missed: [Instant] = []
  package var seconds: Double?
  package var accepted = 0
  package var quarantined = 0
  package var events = 0
  package var posted = 0
  package var failed = 0
  /// The events of the store that were not sent when the run ended; nil if unknown.
  package var unsent: Int?
  /// The reason that the run ended early; nil if it did not.
  package var stopped: String?
  /// The number of lines that this replay imported from the quarantine of each other run, by run number.
  package var repaired: [Int64: Int] = [:]
  /// The events that the run left pending.
  package var pending = 0
  /// The folder of the run's report, next to the page; nil if there is none.
  package var folder: String?
  /// The later run that finished this night: it read the window again, or sent what an outage had kept.
  var finisher: Finisher?

  struct Finisher: Sendable, Equatable {
    var number: Int64
    /// The folder of its report; nil if there is none.
    var folder: String?

    fileprivate init(_ run: ListedRun) { (number, folder) = (run.number, run.folder) }
  }

  package init(number: Int64, job: String, mode: String, started: Instant, asOf: Instant, exit: RunExit?) {
    (self.number, self.job, self.mode, self.exit) = (number, job, mode, exit)
    (self.started, self.asOf, until) = (started, asOf, asOf)
  }

  /// Whether the run read the window of a night, rather than sending or rereading data from earlier runs.
  var isNight: Bool { !["post", "replay", "rerun"].contains(mode) }

  /// Returns whether the run is a successful rerun whose window contains the instant.
  fileprivate func hasReread(_ instant: Instant) -> Bool {
    mode == "rerun" && exit == .done && window.contains(instant)
  }

  /// Whether the run failed, and no later run finished its night.
  fileprivate var isUnfinished: Bool { exit != .done && finisher == nil }

  /// Whether the run sends what earlier ones left in the store, and sent all of it.
  fileprivate var hasSentAll: Bool { ["run", "post"].contains(mode) && exit == .done && pending == 0 }

  fileprivate var state: NightState? {
    let hasFindings = failed + quarantined > 0
    if finisher != nil, exit != .done { return NightState(.done, hasFindings: hasFindings) }
    return night ?? exit.map { NightState($0, hasFindings: hasFindings) }
  }

  fileprivate var tone: String { state?.tone ?? "attention" }

  /// The order of states from good to bad.
  fileprivate var rank: Int { ["good", "attention", "bad"].firstIndex(of: tone) ?? 0 }

  fileprivate var sign: String { state?.sign ?? "…" }

  fileprivate var ending: String {
    guard let exit, let state else { return "killed or still running" }
    if let finisher { return "\(state.rawValue), finished by run \(finisher.number)" }
    return state == .failed ? "failed: \(exit.ending)" : state.rawValue
  }

  /// The last millisecond that the run covers; a run until midnight belongs to the day before.
  var last: Instant { until.lastBefore }
}

extension Instant {
  fileprivate var lastBefore: Instant { Instant(milliseconds: milliseconds - 1) }
}

extension [ListedRun] {
  /// The runs, with all runs of one window combined into the last. A record counts in its window, whether the first
  /// run, a later one or a replay read it. The quarantined lines are the ones that the last run found and no replay
  /// imported. The page belongs to the run that accepted the most records. A night that met an outage is finished by the
  /// next run that sent everything.
  var byWindow: [ListedRun] {
    var counted: [ListedRun] = []
    var places: [String: Int] = [:]
    var ofRun: [Int64: Int] = [:]
    var pages: [Int: ListedRun] = [:]
    for var run in self {
      for (number, lines) in run.repaired.sorted(by: { $0.key < $1.key }) {
        guard let place = ofRun[number] else { continue }
        let accepted = Swift.min(lines, run.accepted)
        run.accepted -= accepted
        counted[place].accepted += accepted
        counted[place].quarantined = Swift.max(0, counted[place].quarantined - lines)
      }
      let window = run.window.from.flatMap { from in
        run.window.to.map { "\(from.milliseconds) \($0.milliseconds) \(run.job)" }
      }
      guard run.isNight, let window else {
        ofRun[run.number] = counted.count
        counted.append(run)
        continue
      }
      if let place = places[window] {
        let before = counted[place]
        // The page of a run that only added a corrected line does not show the night.
        if let page = pages[place], run.accepted < page.accepted {
          if page.exit != .done, run.exit == .done { run.finisher = ListedRun.Finisher(run) }
          run.folder = page.folder ?? run.folder
        } else {
          pages[place] = run
        }
        // A run that read nothing leaves the lines in quarantine.
        if run.accepted + run.quarantined == 0 { run.quarantined = before.quarantined }
        run.accepted += before.accepted
        run.posted += before.posted
        run.failed += before.failed
        counted[place] = run
      } else {
        places[window] = counted.count
        pages[counted.count] = run
        counted.append(run)
      }
      ofRun[run.number] = places[window]
    }
    for place in counted.indices where counted[place].exit == .serviceUnavailable {
      let number = counted[place].number
      counted[place].finisher = first { $0.number > number && $0.hasSentAll }.map(ListedRun.Finisher.init)
    }
    return counted
  }
}

/// `index.html`: all runs of a store on one page, with a calendar, trends and failures.
package enum HTMLIndex {
  private static let shownMonths = 13
  private static let shownRuns = 400
  private static let shownFailures = 30

  /// Returns markup that identifies the store of a page, so that pages of other stores are not replaced.
  static func mark(of store: String) -> Markup { #"<meta name="store" content="\#(store)">"# }

  /// - Parameters:
  ///   - runs: The runs, oldest first.
  ///   - zone: The zone in which the page shows times.
  package static func text(
    _ runs: [ListedRun], store: String, in zone: Zone = .utc, usesSandbox: Bool = false
  ) -> String {
    let jobs = Set(runs.map(\.job)).sorted { $0.precedesByBytes($1) }.joined(separator: ", ").clipped(toBytes: 100)
    return Markup.page(title: "\(jobs), all runs", head: "\n\(mark(of: store))") {
      $0.addIndex(runs, jobs, store, zone, usesSandbox)
    }
  }

  fileprivate static func months(_ runs: [ListedRun], _ zone: Zone) -> [Month] {
    var days = Dictionary(grouping: runs.filter(\.isNight)) { zone.day($0.last) }
    for missed in runs.flatMap(\.missed).map(\.lastBefore) where days[zone.day(missed)] == nil {
      if !runs.contains(where: { $0.hasReread(missed) }) { days[zone.day(missed)] = [] }
    }
    let firsts = Set(days.keys.map { $0 - Int64(CivilTime(milliseconds: $0 * DaySpans.day).day) + 1 })
    return firsts.sorted(by: >).prefix(shownMonths).map { first in
      let month = CivilTime(milliseconds: first * DaySpans.day)
      // 1970 began on a Thursday; weeks begin on Monday.
      let blank = Int((first + 3) - (first + 3).flooredQuotient(7) * 7)
      let cells =
        [Month.Day?](repeating: nil, count: blank)
        + (1...CivilTime.days(in: month.month, of: month.year)).map { Month.Day($0, days[first + Int64($0) - 1]) }
      return Month(
        name: String(Instant(milliseconds: first * DaySpans.day).rfc3339.prefix(7)),
        weeks: stride(from: 0, to: cells.count, by: 7).map { start in
          (start..<start + 7).map { $0 < cells.count ? cells[$0] : nil }
        })
    }
  }

  /// Returns charts of the runs' figures, by the end of the time that each run covers; none for fewer than two time
  /// steps.
  fileprivate static func charts(_ runs: [ListedRun], _ zone: Zone) -> [Chart] {
    func chart(_ id: String, _ title: String, _ series: [(name: String, count: (ListedRun) -> Int)]) -> Chart? {
      let counts = series.map { series in
        runs.reduce(into: HourCounts()) { $0.add(series.count($1), at: $1.last.hour) }
      }
      let all = counts.reduce(into: HourCounts(), +=)
      guard all.total != 0, let axis = all.span.map({ TimeAxis($0, in: zone) }), axis.count > 1 else { return nil }
      let sums = zip(series, counts).map { ($0.name, axis.sums($1)) }
      return Chart.overTime(
        id: id, title: title, summary: "By the end of each window, per \(axis.step.rawValue).", axis, sums,
        stacked: true)
    }
    return [
      chart("records", "Records", [("accepted", \.accepted), ("quarantined", \.quarantined)]),
      chart("posted", "Events", [("posted", \.posted), ("failed", \.failed)]),
    ].compactMap { $0 }
  }

  fileprivate static func failures(_ runs: [ListedRun]) -> [ListedRun] {
    Array(runs.reversed().filter(\.isUnfinished).prefix(shownFailures))
  }

  fileprivate static func newest(_ runs: [ListedRun]) -> [ListedRun] { Array(runs.reversed().prefix(shownRuns)) }

  fileprivate struct Month {
    struct Day {
      var number: Int
      var tone = ""
      var note = ""
      /// The state, which narrow pages show by its sign only.
      var state = ""
      var words = ""
      var folder: String?

      /// - Parameter runs: The last runs of the day's windows; the worst gives the state. Empty for a missed day, nil
      ///   for an unknown one.
      init(_ number: Int, _ runs: [ListedRun]?) {
        self.number = number
        guard let runs else { return }
        let worst = runs.map(\.rank).max()
        guard let last = runs.last(where: { $0.rank == worst }) else {
          let missed = NightState.missed
          (tone, note, state, words) = (missed.tone, missed.sign, missed.rawValue, "no run has read its window")
          return
        }
        tone = last.tone
        let count = runs.reduce(0) { $0 + $1.accepted }
        state =
          switch last.state {
          case .findings: "findings"
          case let state: state?.rawValue ?? "unfinished"
          }
        note = count == 0 && last.tone == "bad" ? last.sign : "\(last.sign) \(Chart.compact(count))"
        words = runs.count == 1 ? last.ending : "\(runs.count.counted("window")), the worst: \(last.ending)"
        folder = last.folder
      }
    }

    var name: String
    /// The days from Monday to Sunday; nil outside the month.
    var weeks: [[Day?]]
  }
}

extension Markup {
  fileprivate mutating func addIndex(
    _ runs: [ListedRun], _ jobs: String, _ store: String, _ zone: Zone, _ usesSandbox: Bool
  ) {
    let counted = runs.byWindow
    let failed = counted.count(where: \.isUnfinished)
    let unsent = runs.compactMap(\.unsent).last ?? 0
    line(
      #"<header><h1>\#(jobs)</h1>\#(usesSandbox ? .sandboxBadge : "")<span class="soft">all runs of \#(store), times in \#(zone.name)</span></header>"#
    )
    addTiles([
      ("runs", runs.count, "plain"), ("not done", failed, failed > 0 ? "bad" : "plain"),
      ("records accepted", runs.reduce(0) { $0 + $1.accepted }, "plain"),
      ("quarantined", counted.reduce(0) { $0 + $1.quarantined }, "plain"),
      ("events posted", runs.reduce(0) { $0 + $1.posted }, "plain"),
      ("not sent yet", unsent, unsent > 0 ? "attention" : "plain"),
    ])
    line(#"<div class="columns">"#)
    for month in HTMLIndex.months(counted, zone) { add(month) }
    line("</div>")
    add(HTMLIndex.charts(counted, zone))
    addTable(
      "Not done", "Runs that did not succeed and that no later run finished, newest first", HTMLIndex.failures(counted),
      [
        Column("run", kind: "number", cell: \.linkedNumber), .time("as of", zone, \.asOf),
        .toned("ended", \.tone) { "\($0.sign) \($0.ending)" },
        .text("why") { ($0.stopped ?? "").replacing("\n", with: "; ").clipped(toBytes: 300) },
        Column("its report") { run in
          let command = ShellCommand("report", "--run", "\(run.number)", "--store", store).text
          return run.linked("report.html") ?? "<code>\(command)</code>"
        },
      ])
    addTable(
      "All runs", "Newest first; calendar, charts and sums count a window once, on its last day",
      HTMLIndex.newest(runs),
      [
        Column("run", kind: "number", cell: \.linkedNumber), .text("job", \.job.shownName), .text("mode", \.mode),
        .time("as of", zone, \.asOf), .toned("ended", \.tone) { "\($0.sign) \($0.ending)" },
        .figure("accepted", \.accepted), .figure("quarantined", \.quarantined), .figure("events", \.events),
        .figure("posted", \.posted), .figure("failed", \.failed), .number("not sent") { $0.unsent?.grouped ?? "" },
        .number("took") { $0.seconds.map(\.inSeconds) ?? "" },
      ])
    line("<footer>This page shows no ids of people.</footer>")
  }

  private mutating func add(_ month: HTMLIndex.Month) {
    let heads: Markup = .joined(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]) { #"<th scope="col">\#($0)</th>"# }
    line(
      #"""
      <section><h2>\#(month.name)</h2><table class="month"><caption class="heard">Nights of \#(month.name): records accepted</caption>
      <thead><tr>\#(heads)</tr></thead><tbody>
      """#)
    lines(month.weeks) { week in
      let cells: Markup = .joined(week) { day in
        guard let day else { return "<td></td>" }
        guard !day.tone.isEmpty else { return #"<td class="soft">\#(day.number)</td>"# }
        let number: Markup = day.folder.map { #"<a href="\#($0)/report.html">\#(day.number)</a>"# } ?? "\(day.number)"
        return
          #"<td class="\#(day.tone)" title="\#(day.words)">\#(number)<span>\#(day.note)</span><i>\#(day.state)</i></td>"#
      }
      return "<tr>\(cells)</tr>"
    }
    line("</tbody></table></section>")
  }
}

extension ListedRun {
  fileprivate var linkedNumber: Markup { linked("\(Int(number))") ?? "\(Int(number))" }

  /// Returns a link to the run's report; nil if there is none.
  fileprivate func linked(_ words: String) -> Markup? {
    folder.map { #"<a href="\#($0)/report.html">\#(words)</a>"# }
  }
}
