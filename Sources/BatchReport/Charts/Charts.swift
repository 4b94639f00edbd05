import BatchFoundation

/// The charts of a run.
struct Charts {
  private let activity: Activity

  init(_ activity: Activity) { self.activity = activity }

  /// Types that have a colour of their own; the rest is one series.
  private static let colours = 6

  /// All that have something to show.
  var all: [Chart] { [events, sessions, lengths, campaigns].compactMap { $0 } }

  /// The hours of everything, so that the charts stand above each other.
  private func axis(_ counts: [HourCounts]) -> TimeAxis? {
    let filled = counts.filter { !$0.counts.isEmpty }
    guard let first = filled.map(\.first).min(), let last = filled.compactMap(\.last).max() else { return nil }
    return TimeAxis(first...last)
  }

  private var events: Chart? {
    guard let axis = axis(Array(activity.events.values)) else { return nil }
    let ordered = activity.events.sorted {
      $0.value.total != $1.value.total ? $0.value.total > $1.value.total : $0.key.precedesByBytes($1.key)
    }
    var series = ordered.prefix(Self.colours).map { (EventWords.of($0.key), axis.sums($0.value)) }
    let rest = ordered.dropFirst(Self.colours)
    if !rest.isEmpty {
      let sums = rest.map { axis.sums($0.value) }
      series.append(("others", (0..<axis.count).map { step in sums.reduce(0) { $0 + $1[step] } }))
    }
    let total = activity.events.values.reduce(0) { $0 + $1.total }
    return Chart.overTime(
      id: "events", title: "Events over time",
      summary: "\(total.counted("event")) by type, per \(axis.step.rawValue) in UTC.", axis, series,
      stacked: true)
  }

  private var sessions: Chart? {
    guard let axis = axis([activity.sessionsStarted, activity.sessionsEnded]) else { return nil }
    return Chart.overTime(
      id: "sessions", title: "Sessions",
      summary: "\(activity.sessionsStarted.total.grouped) started and "
        + "\(activity.sessionsEnded.total.grouped) ended, per \(axis.step.rawValue) in UTC.", axis,
      [("started", axis.sums(activity.sessionsStarted)), ("ended", axis.sums(activity.sessionsEnded))], stacked: false)
  }

  private var lengths: Chart? {
    let total = activity.sessionLengths.reduce(0, +)
    guard total > 0 else { return nil }
    return Chart.classes(
      id: "lengths", title: "How long sessions were",
      summary: "\(total.counted("session")) that ended, by the time the app was in use.",
      zip(Activity.lengths, activity.sessionLengths).map { ($0.words, $1) })
  }

  /// Campaigns that a report names.
  static let shownCampaigns = 20

  private var campaigns: Chart? {
    let ordered = activity.campaigns.sorted {
      let (one, other) = ($0.value.events + $0.value.set, $1.value.events + $1.value.set)
      return one != other ? one > other : $0.key.precedesByBytes($1.key)
    }
    let shown = ordered.prefix(Self.shownCampaigns)
    func hour(_ instant: Instant?) -> Int64? { instant.map { $0.milliseconds / 3_600_000 } }
    let starts = shown.compactMap { hour($0.value.firstSet) }
    guard let first = starts.min(), let last = shown.compactMap({ hour($0.value.until) }).max() else { return nil }
    // A campaign that never ends must not make the others a line; the axis ends a month behind the last begin at most.
    let end = min(max(last, first), (starts.max() ?? first) + 31 * 24)
    let axis = TimeAxis(first...max(first, end))
    let names = ordered.count + (activity.otherCampaigns > 0 ? 1 : 0)
    var chart = Chart.lanes(
      id: "campaigns", title: "Campaigns",
      summary: names > shown.count
        ? "The \(shown.count) with the most events of \(ordered.count.counted("campaign")), from the first time each was set to its last expiry."
        : "\(ordered.count.counted("campaign")), from the first time each was set to its last expiry.",
      axis,
      shown.map { name, one in
        (
          name, hour(one.firstSet) ?? first, hour(one.until) ?? end,
          "set \(one.set.grouped) times, \(one.expired.grouped) expired, \(one.events.grouped) events"
        )
      })
    chart.columns = ["campaign", "first set", "until", "set", "expired", "events"]
    chart.rows = shown.map { name, one in
      Chart.Row(
        name: name,
        cells: [
          Chart.Cell(label: "first set", figure: one.firstSet?.rfc3339 ?? "before"),
          Chart.Cell(label: "until", figure: one.until?.rfc3339 ?? "unknown"),
          Chart.Cell(label: "set", figure: one.set.grouped),
          Chart.Cell(label: "expired", figure: one.expired.grouped),
          Chart.Cell(label: "events", figure: one.events.grouped),
        ])
    }
    return chart
  }
}
