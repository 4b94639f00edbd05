import BatchFoundation

struct Charts {
  private let activity: Activity
  private let typeNames: [String: String]
  private let zone: Zone

  init(_ activity: Activity, _ typeNames: [String: String], in zone: Zone = .utc) {
    (self.activity, self.typeNames, self.zone) = (activity, typeNames, zone)
  }

  /// The number of types with a separate color; the others share one series.
  private static let colours = 6

  /// All charts that have content.
  var all: [Chart] { [events, sessions, lengths, CampaignChart(activity, in: zone)?.chart].compactMap { $0 } }

  /// Returns an axis over all counts, so that the charts align.
  private func axis(_ counts: [HourCounts]) -> TimeAxis? {
    counts.reduce(into: HourCounts(), +=).span.map { TimeAxis($0, in: zone) }
  }

  /// Returns a note about counts too far from the rest to be shown; empty if there are none. The total may be smaller
  /// than what is shown, because late records withdraw events of earlier runs.
  private func besides(_ total: Int, _ series: [(String, [Int])]) -> String {
    let shown = series.reduce(0) { $0 + $1.1.reduce(0, +) }
    return shown >= total
      ? ""
      : " \((total - shown).counted("of them is", "of them are")) years earlier or later than the rest and not shown."
  }

  private var events: Chart? {
    let types = activity.events.named
    let rest = activity.events.rest
    guard let axis = axis(types.map(\.value) + [rest]) else { return nil }
    let (first, others) = activity.events.ranked(atMost: Self.colours, by: \.total)
    var series = first.map {
      let type = $0.name.string
      let words = PlatformReport.words(ofType: type, typeNames[type])
      return (words.clipped(toBytes: Chart.longestName), axis.sums($0.value))
    }
    if others.total > 0 { series.append(("others", axis.sums(others))) }
    let total = types.reduce(rest.total) { $0 + $1.value.total }
    return Chart.overTime(
      id: "events", title: "Events over time",
      summary: "\(total.counted("event")) by type, per \(axis.step.rawValue).\(besides(total, series))", axis, series,
      stacked: true)
  }

  private var sessions: Chart? {
    guard let axis = axis([activity.sessionsStarted, activity.sessionsEnded]) else { return nil }
    let series = [("started", axis.sums(activity.sessionsStarted)), ("ended", axis.sums(activity.sessionsEnded))]
    let total = activity.sessionsStarted.total + activity.sessionsEnded.total
    return Chart.overTime(
      id: "sessions", title: "Sessions",
      summary: "\(activity.sessionsStarted.total.counted("session")) started and "
        + "\(activity.sessionsEnded.total.grouped) ended by an event, per \(axis.step.rawValue).\(besides(total, series))",
      axis, series, stacked: false)
  }

  private var lengths: Chart? {
    let total = activity.sessionLengths.reduce(0, +)
    guard total > 0 else { return nil }
    let silently = activity.sessionsOverSilently
    return Chart.classes(
      id: "lengths", title: "Session lengths",
      summary: "\(total.counted("ended session"))"
        + (silently > 0 ? " (\(silently.grouped) without an event)" : "")
        + ", grouped by time in use.",
      zip(Activity.lengths, activity.sessionLengths).map { ($0.words, $1) })
  }
}
