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
  /// The reason that the run ended early; nil if it did not.
  package var stopped: String?
  /// The folder of the run's report, next to the page; nil if there is none.
  package var folder: String?

  package init(number: Int64, job: String, mode: String, started: Instant, asOf: Instant, exit: RunExit?) {
    self.started = started
    self.number = number
    self.job = job
    self.mode = mode
    self.asOf = asOf
    until = asOf
    self.exit = exit
  }

  /// Whether the run read the window of a night, rather than sending or rereading data from earlier runs.
  fileprivate var isNight: Bool { !["post", "replay", "rerun"].contains(mode) }

  /// Returns whether the run is a successful rerun whose window contains the instant.
  fileprivate func hasReread(_ instant: Instant) -> Bool {
    mode == "rerun" && exit == .done && window.contains(instant)
  }

  fileprivate var state: NightState? {
    night ?? exit.map { NightState($0, hasFindings: failed + quarantined > 0) }
  }

  fileprivate var tone: String { state?.tone ?? "attention" }

  fileprivate var sign: String { state?.sign ?? "…" }

  fileprivate var ending: String {
    guard let exit, let state else { return "killed or still running" }
    return state == .failed ? "failed: \(Wording.ending(exit))" : state.rawValue
  }

  /// The last millisecond that the run covers; a run until midnight belongs to the day before.
  fileprivate var last: Instant { until.lastBefore }
}

extension Instant {
  fileprivate var lastBefore: Instant { Instant(milliseconds: milliseconds - 1) }

  /// Days since 1970.
  fileprivate var day: Int64 { milliseconds.flooredQuotient(DaySpans.day) }
}

extension [ListedRun] {
  /// The runs, with the quarantined lines of a window counted only in the last run that read it.
  fileprivate var counted: [ListedRun] {
    var windows: Set<String> = []
    return reversed().map { run in
      guard let from = run.window.from, let to = run.window.to, run.accepted + run.quarantined > 0,
        !windows.insert("\(from.milliseconds) \(to.milliseconds) \(run.job)").inserted
      else { return run }
      var run = run
      run.quarantined = 0
      return run
    }.reversed()
  }
}

/// `index.html`: all runs of a store on one page, with a calendar, trends and failures.
package enum HTMLIndex {
  private static let shownMonths = 13
  private static let shownRuns = 400
  private static let shownFailures = 30

  /// Returns markup that identifies the store of a page, so that pages of other stores are not replaced.
  static func mark(of store: String) -> Markup { #"<meta name="store" content="\#(store)">"# }

  /// - Parameter runs: The runs, oldest first.
  package static func text(_ runs: [ListedRun], store: String) -> String {
    let jobs = Set(runs.map(\.job)).sorted { $0.precedesByBytes($1) }.joined(separator: ", ").clipped(toBytes: 100)
    return Markup.page(title: "\(jobs), all runs", head: "\n\(mark(of: store))\n<style>\n\(style)\n</style>") {
      $0.addIndex(runs, jobs, store)
    }
  }

  private static let style: Markup = """
    .month { table-layout: fixed; } .month th, .month td { text-align: center; border: 0; padding: .15rem; }
    .month a { color: inherit; } .month td span { display: block; font-size: .75rem; }
    .month td.good { background: var(--good-bg); } .month td.attention { background: var(--warn-bg); } .month td.bad { background: var(--bad-bg); font-weight: 600; }
    """

  fileprivate static func months(_ runs: [ListedRun]) -> [Month] {
    var days = Dictionary(grouping: runs.filter(\.isNight), by: \.last.day)
    for missed in runs.flatMap(\.missed).map(\.lastBefore) where days[missed.day] == nil {
      if !runs.contains(where: { $0.hasReread(missed) }) { days[missed.day] = [] }
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
  fileprivate static func charts(_ runs: [ListedRun]) -> [Chart] {
    func chart(_ id: String, _ title: String, _ series: [(name: String, count: (ListedRun) -> Int)]) -> Chart? {
      var all = HourCounts()
      let counts = series.map { series in
        runs.reduce(into: HourCounts()) {
          $0.add(series.count($1), at: $1.last.hour)
        }
      }
      for counts in counts { all += counts }
      guard let axis = all.span.map(TimeAxis.init), axis.count > 1 else { return nil }
      let sums = zip(series, counts).map { ($0.name, axis.sums($1)) }
      return Chart.overTime(
        id: id, title: title, summary: "By the known time of each run, per \(axis.step.rawValue) in UTC.", axis,
        sums,
        stacked: true)
    }
    return [
      chart("records", "Records", [("accepted", \.accepted), ("quarantined", \.quarantined)]),
      chart("posted", "Events", [("posted", \.posted), ("failed", \.failed)]),
    ].compactMap { $0 }
  }

  fileprivate static func failures(_ runs: [ListedRun]) -> [ListedRun] {
    Array(runs.reversed().filter { $0.exit != .done }.prefix(shownFailures))
  }

  fileprivate static func newest(_ runs: [ListedRun]) -> [ListedRun] { Array(runs.reversed().prefix(shownRuns)) }

  fileprivate struct Month {
    struct Day {
      var number: Int
      var tone = ""
      var note = ""
      var words = ""
      var folder: String?

      /// - Parameter runs: The day's runs, oldest first; the last gives the state. Empty for a missed day, nil for an
      ///   unknown one.
      init(_ number: Int, _ runs: [ListedRun]?) {
        self.number = number
        guard let runs else { return }
        guard let last = runs.last else {
          (tone, note, words) = (
            NightState.missed.tone, "\(NightState.missed.sign) \(NightState.missed.rawValue)",
            "no run has read its window"
          )
          return
        }
        tone = last.tone
        let count = Chart.compact(runs.reduce(0) { $0 + $1.accepted })
        let state =
          switch last.state {
          case .done: count
          case .findings: "\(count), findings"
          case let state: state?.rawValue ?? "unfinished"
          }
        note = "\(last.sign) \(state)"
        words = "\(runs.count.counted("run")), the last: \(last.ending)"
        folder = last.folder
      }
    }

    var name: String
    /// The days from Monday to Sunday; nil outside the month.
    var weeks: [[Day?]]
  }
}

extension Markup {
  fileprivate mutating func addIndex(_ runs: [ListedRun], _ jobs: String, _ store: String) {
    let failed = runs.count { $0.exit != .done }
    let counted = runs.counted
    line(#"<header><h1>\#(jobs)</h1><span class="soft">all runs of \#(store)</span></header>"#)
    addTiles([
      ("runs", runs.count, "plain"), ("not done", failed, failed > 0 ? "bad" : "plain"),
      ("records accepted", runs.reduce(0) { $0 + $1.accepted }, "plain"),
      ("quarantined", counted.reduce(0) { $0 + $1.quarantined }, "plain"),
      ("events posted", runs.reduce(0) { $0 + $1.posted }, "good"),
    ])
    line(#"<div class="columns">"#)
    for month in HTMLIndex.months(runs) { add(month) }
    line("</div>")
    add(HTMLIndex.charts(counted))
    addTable(
      "Not done", "Runs that did not succeed, newest first", HTMLIndex.failures(runs),
      [
        Column("run", kind: "number", cell: \.linkedNumber), .text("as of", \.asOf.rfc3339),
        .toned("ended", \.tone) { "\($0.sign) \($0.ending)" },
        .text("why") { ($0.stopped ?? "").replacing("\n", with: "; ").clipped(toBytes: 300) },
        .code("its report") { ShellCommand("report", "--run", "\($0.number)", "--store", store).text },
      ])
    addTable(
      "All runs", "Newest first; the calendar shows a run on the last day of its known time, in UTC",
      HTMLIndex.newest(runs),
      [
        Column("run", kind: "number", cell: \.linkedNumber), .text("job", \.job.shownName), .text("mode", \.mode),
        .text("as of", \.asOf.rfc3339), .toned("ended", \.tone) { "\($0.sign) \($0.ending)" },
        .figure("accepted", \.accepted),
        .figure("quarantined", \.quarantined), .figure("events", \.events), .figure("posted", \.posted),
        .figure("failed", \.failed), .number("took") { $0.seconds.map(Wording.seconds) ?? "" },
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
        return #"<td class="\#(day.tone)" title="\#(day.words)">\#(number)<span>\#(day.note)</span></td>"#
      }
      return "<tr>\(cells)</tr>"
    }
    line("</tbody></table></section>")
  }
}

extension ListedRun {
  fileprivate var linkedNumber: Markup {
    folder.map { #"<a href="\#($0)/report.html">\#(Int(number))</a>"# } ?? "\(Int(number))"
  }
}
