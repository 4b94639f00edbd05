import BatchFoundation

/// A timeline with a lane for each campaign, which shows when the campaign was set, could be active, was carried by
/// events and expired.
struct CampaignChart {
  static let shown = 20
  private static let lane = 44.0
  /// The height of a lane's band. ``mark`` is the height of the marks for set and expired at the top of the band.
  private static let band = 18.0
  private static let mark = 6.0
  /// The minimum number of hours after the last count that the axis can show; see ``init(_:in:)``.
  private static let hoursAfter: Int64 = 6

  private struct Lane {
    var name: String
    var campaign: CampaignActivity
    /// Hours since 1970.
    var from: Double
    var to: Double

    /// Whether the campaign can be active beyond the axis, as one can that an earlier run set and nothing ended.
    func isOpen(after axis: TimeAxis) -> Bool {
      campaign.until == nil ? campaign.expired.total == 0 : to > Double(axis.edges[axis.count])
    }

    var figures: String {
      let set = campaign.set.total, expired = campaign.expired.total
      return "\(set.grouped) set, \(expired.grouped) expired, \(campaign.events.total.counted("event"))"
    }
  }

  private let lanes: [Lane]
  private let axis: TimeAxis
  private let zone: Zone
  /// The number of known names, and the activity of all campaigns that are not shown.
  private let names: Int
  private let rest: CampaignActivity

  /// Returns nil if there are no campaigns. The axis covers the time of all counts. If campaigns can be active after
  /// that, the axis at most doubles, so that a lifetime of months does not squeeze the hours of a night.
  init?(_ activity: Activity, in zone: Zone = .utc) {
    let shown: [(name: ByteText, value: CampaignActivity)]
    (shown, rest) = activity.campaigns.ranked(atMost: Self.shown, by: \.weight)
    let begins = shown.compactMap(\.value.begin)
    guard let first = begins.min(), let lastBegin = begins.max() else { return nil }
    let counts = shown.flatMap { [$0.value.events, $0.value.expired] }.compactMap { $0.hours?.upperBound }
    let seen = max(counts.max() ?? first, lastBegin + 1)
    let ends = shown.compactMap { $0.value.until?.hour }.max() ?? first
    axis = TimeAxis(first...max(min(ends, seen + max(seen - first, Self.hoursAfter)), seen - 1), in: zone)
    self.zone = zone
    names = activity.campaigns.named.count
    lanes = shown.map { name, campaign in
      Lane(
        name: name.string.clipped(toBytes: Chart.longestName), campaign: campaign,
        from: campaign.firstSet.map(\.hours) ?? Double(first),
        to: (campaign.until.map(\.hours) ?? campaign.expired.hours.map { Double($0.upperBound) }) ?? Double(seen))
    }
  }

  var chart: Chart {
    let height = Int(Self.lane) * lanes.count + 22
    var chart = Chart(id: "campaigns", title: "Campaigns", summary: summary, height: height)
    for (number, lane) in lanes.enumerated() { add(lane, at: Self.lane * Double(number), to: &chart) }
    for step in stride(from: 0, to: axis.count, by: max(1, (axis.count + 4) / 5)) {
      chart.labels.append(
        Chart.Label(
          x: place(Double(axis.edges[step])), y: Double(height - 8), anchor: step == 0 ? "start" : "middle",
          text: axis.tick(step)))
    }
    chart.keys = [
      Chart.Key(tone: "band", name: "can be active"), Chart.Key(tone: "c0", name: "events with the campaign"),
      Chart.Key(tone: "c2", name: "set"), Chart.Key(tone: "c1", name: "expired"),
    ]
    chart.columns = ["campaign", "first set in this run", "until", "set", "expired", "events"]
    chart.rows = lanes.map { lane in
      row(
        lane.name, from: lane.campaign.firstSet.map(zone.minute) ?? "before",
        until: lane.campaign.until.map(zone.minute) ?? "unknown",
        lane.campaign)
    }
    if rest.weight > 0 { chart.rows.append(row("all others", from: "", until: "", rest)) }
    return chart
  }

  private var summary: String {
    let isOpen = lanes.contains { $0.campaign.firstSet == nil || $0.isOpen(after: axis) }
    let words =
      "when \(lanes.count == 1 ? "it" : "each") was set, how long it could be active, and when events carried it."
      + (isOpen ? " A band without an edge began earlier or ends later." : "")
      + (lanes.contains { $0.campaign.until == nil } ? " An end is unknown if an earlier run set the campaign." : "")
      + (lanes.contains { $0.campaign.set.total < 0 || $0.campaign.expired.total < 0 }
        ? " Counts below 0 are of events from earlier runs that late records withdrew." : "")
    return rest.weight > 0
      ? "The \(lanes.count) most active of \(names.grouped)\(names == Activity.campaignLimit ? " or more" : "") campaigns: \(words)"
      : "\(lanes.count.counted("campaign")): \(words)"
  }

  private func add(_ lane: Lane, at y: Double, to chart: inout Chart) {
    let figures = lane.figures
    let room = Chart.width - 20 - Chart.textWidth(figures)
    chart.labels.append(
      Chart.Label(x: 4, y: y + 11, anchor: "start", text: Chart.clipped(lane.name, toWidth: room)))
    chart.labels.append(Chart.Label(x: Chart.width - 4, y: y + 11, anchor: "end", text: figures))
    let base = y + 18 + Self.band
    // A band that continues beyond the axis leaves the drawing, so it shows no end there.
    let isOpen = lane.isOpen(after: axis)
    let left = lane.campaign.firstSet == nil ? -2 : place(lane.from)
    chart.boxes.append(
      Chart.Box(
        x: left, y: base - Self.band, width: max(1, (isOpen ? Chart.width + 2 : place(lane.to)) - left),
        height: Self.band, tone: "band", words: "\(lane.name): \(figures)"))
    if isOpen, let until = lane.campaign.until {
      chart.labels.append(
        Chart.Label(x: Chart.width - 8, y: base - 6, anchor: "end", text: "until \(zone.minute(until))", size: "small"))
    }
    let events = steps(lane.campaign.events)
    let most = Double(max(1, events.counts.max() ?? 1))
    for (step, count) in events.counts.enumerated() where count > 0 {
      let height = max(1, (Self.band - Self.mark - 1) * Double(count) / most)
      let x = place(Double(events.hour(step)))
      chart.boxes.append(
        Chart.Box(
          x: x, y: base - height, width: max(1, place(Double(events.hour(step + 1))) - x), height: height, tone: "c0",
          words: "\(time(events.hour(step))): \(count.counted("event"))"))
    }
    for (counts, tone, word) in [(lane.campaign.set, "c2", "set"), (lane.campaign.expired, "c1", "expired")] {
      let counts = steps(counts)
      for (step, count) in counts.counts.enumerated() where count > 0 {
        // Marks for set are at the start of a step, marks for expired at its end, both within the band.
        let (start, end) = (Double(counts.hour(step)), Double(counts.hour(step + 1)))
        let x = tone == "c2" ? place(max(start, min(lane.from, end))) : place(min(end, max(start, lane.to))) - 3
        chart.boxes.append(
          Chart.Box(
            x: min(max(0, x), Chart.width - 3), y: base - Self.band, width: 3, height: Self.mark, tone: tone,
            words: "\(time(counts.hour(step))): \(word) \(count.counted("time"))"))
      }
    }
  }

  /// Returns the counts in steps that are wide enough to distinguish.
  private func steps(_ counts: TimeCounts) -> TimeCounts {
    counts.coarsened(to: (axis.edges[axis.count] - axis.edges[0]) / Int64(TimeCounts.limit))
  }

  private func place(_ hour: Double) -> Double {
    let start = Double(axis.edges[0])
    let span = max(1, Double(axis.edges[axis.count]) - start)
    return 4 + (Chart.width - 8) * min(max((hour - start) / span, 0), 1)
  }

  private func time(_ hour: Int64) -> String { zone.minute(Instant(milliseconds: hour * 3_600_000)) }

  private func row(_ name: String, from: String, until: String, _ campaign: CampaignActivity) -> [String] {
    [
      name, from, until, campaign.set.total.grouped, campaign.expired.total.grouped, campaign.events.total.grouped,
    ]
  }
}

extension Instant {
  fileprivate var hours: Double { Double(milliseconds) / 3_600_000 }
}

extension CampaignActivity {
  /// The weight by which campaigns are ranked; the most active ones come first.
  var weight: Int { events.total + set.total }

  /// The first known hour since 1970; nil if nothing is known.
  fileprivate var begin: Int64? {
    [firstSet?.hour, events.hours?.lowerBound, expired.hours?.lowerBound].compactMap { $0 }.min()
  }
}
