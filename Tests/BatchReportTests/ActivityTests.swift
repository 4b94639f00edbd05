import BatchFoundation
import Foundation
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchReport

@Suite("Activity over time, in bounded memory") struct ActivityTests {
  /// 2026-01-12T00:00:00Z, a Monday.
  private static let monday: Int64 = 1_768_176_000_000 / 3_600_000

  @Test("Of too many names the first by their bytes are kept, whole, whatever the order and the parts")
  func namesDoNotDependOnOrder() {
    var random = SplitMix64(seed: 5)
    let entries = (0..<4000).map { (ByteText("name-\($0 % 700)"), $0 % 7 + 1) }
    var straight = NameTable<Int>(atMost: 20)
    for (name, count) in entries { straight.add(count, to: name) }
    let parts = (0..<3).map { _ in
      var part = NameTable<Int>(atMost: 20)
      for (name, count) in entries.shuffled(using: &random) { part.add(count, to: name) }
      return part
    }
    var backwards = NameTable<Int>(atMost: 20)
    for (name, count) in entries.sorted(by: { $0.0 > $1.0 }) { backwards.add(count, to: name) }
    #expect(straight.named.count == 20)
    #expect(
      straight.named.prefix(4).map(\.name.string) == ["name-0", "name-1", "name-10", "name-100"])
    let all = entries.reduce(0) { $0 + $1.1 }
    #expect(straight.total == all)
    #expect(straight.named.reduce(straight.rest) { $0 + $1.value } == all)
    for (name, value) in straight.named { #expect(value == entries.reduce(0) { $0 + ($1.0 == name ? $1.1 : 0) }) }
    #expect(parts.allSatisfy { $0 == straight } && backwards == straight)
    var joined = NameTable<Int>(atMost: 20)
    for place in 0..<4 {
      var part = NameTable<Int>(atMost: 20)
      for (offset, entry) in entries.enumerated() where offset % 4 == place { part.add(entry.1, to: entry.0) }
      joined += part
    }
    #expect(joined == straight)
  }

  @Test("A name as long as a line is cut")
  func longNamesAreCut() {
    var table = NameTable<Int>(atMost: 5)
    table.add(1, to: ByteText(String(repeating: "ä", count: 5000)))
    #expect(table.named.map(\.name.string) == [String(repeating: "ä", count: 128) + "…"])
    #expect("aäb".clipped(toBytes: 2) == "a…" && "aäb".clipped(toBytes: 4) == "aäb")
  }

  /// It stayed in the chart with zeros, and with the times of what was taken back.
  @Test("A campaign that a later night takes back is in no table")
  func campaignTakenBack() {
    let name = ByteText("Spring")
    var before = Activity()
    before.campaign(name) { $0.wasSet(at: Instant(milliseconds: 1), until: Instant(milliseconds: 9)) }
    var change = Activity()
    change -= before
    var total = before
    total += change
    #expect(total.campaigns.named.isEmpty && total == Activity())
  }

  @Test("Steps become longer, days and weeks as the time that is counted grows, and no count is lost")
  func stepsWiden() {
    var counts = TimeCounts()
    counts.add(1, at: Self.monday + 5)
    counts.add(2, at: Self.monday + 5 + 47)
    #expect(counts.width == 1 && counts.counts.count == 48 && counts.hours == Self.monday + 5..<Self.monday + 53)
    counts.add(4, at: Self.monday + 5 + 48)
    #expect(counts.width == 2 && counts.counts.count == 25 && counts.hour(0) == Self.monday + 4)
    counts.add(8, at: Self.monday - 1 - 16 * 24)
    #expect(counts.width == 24 && counts.hour(0) == Self.monday - 17 * 24)
    #expect(counts.counts == [8] + [Int](repeating: 0, count: 16) + [1, 0, 6])
    counts.add(16, at: Self.monday + 60 * 24)
    #expect(counts.width == 168 && counts.counts == [8, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 16])
    counts.add(32, at: Self.monday - 100 * 365 * 24)
    #expect(counts.counts.count <= TimeCounts.limit && counts.total == 63)
  }

  @Test("Steps do not depend on the order or the parts in which counts come", arguments: 0..<20)
  func stepsDoNotDependOnOrder(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    let span = [30, 3000, 30_000, 300_000][seed % 4]
    let hours = (0..<200).map { _ in Self.monday - Int64(random.next() % UInt64(span)) }
    var straight = TimeCounts()
    for hour in hours { straight.add(1, at: hour) }
    var parts = [TimeCounts](repeating: TimeCounts(), count: 3)
    for (place, hour) in hours.shuffled(using: &random).enumerated() { parts[place * place % 3].add(1, at: hour) }
    var joined = TimeCounts()
    for part in parts.reversed() { joined += part }
    #expect(joined == straight && straight.total == 200)
  }

  @Test(
    "Hours do not depend on the order or the parts in which counts come, however many days there are", arguments: 0..<6)
  func hoursDoNotDependOnOrder(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    // The longest has more days than are kept.
    let span = [30, 3000, 80_000][seed % 3]
    let hours = (0..<6000).map { _ in Self.monday - Int64(random.next() % UInt64(span)) }
    var straight = HourCounts()
    for hour in hours { straight.add(1, at: hour) }
    var parts = [HourCounts](repeating: HourCounts(), count: 3)
    for (place, hour) in hours.shuffled(using: &random).enumerated() { parts[place * place % 3].add(1, at: hour) }
    let joined = parts.reversed().reduce(into: HourCounts(), +=)
    #expect(joined == straight && straight.total == 6000)
    let numbers = Dictionary(grouping: hours) { $0 }.mapValues(\.count)
    var told = 0
    var last = Int64.min
    straight.forEach { hour, count in
      #expect(hour > last && count == numbers[hour])
      (told, last) = (told + count, hour)
    }
    let firstKept = Set(hours.map { $0.flooredQuotient(24) }).sorted().suffix(1128).first ?? 0
    #expect(told == hours.count { $0.flooredQuotient(24) >= firstKept } && (told < 6000) == (span == 80_000))
    #expect(
      try JSONDecoder().decode([HourCounts].self, from: JSONEncoder().encode([straight, HourCounts()])) == [
        straight, HourCounts(),
      ])
  }

  @Test("Clocks that were years off do not press the others into a corner of a chart, and are told")
  func farOffClocks() throws {
    var activity = Activity()
    var counts = HourCounts()
    for hour in [-1, 0, 25, 26] { counts.add(hour == 25 ? 3 : 2, at: Self.monday + Int64(hour)) }
    counts.add(4, at: -5)
    counts.add(4, at: Self.monday + 73 * 366 * 24)
    #expect(counts.span == Self.monday - 1...Self.monday + 26)
    #expect(counts.perDay.first?.rfc3339 == "2026-01-11T00:00:00.000Z" && counts.perDay.counts == [2, 2, 5])
    #expect(counts.total == 17)
    activity.events.add(counts, to: "12")
    let chart = try #require(Charts(activity, [:]).all.first)
    #expect(
      chart.summary
        == "17 events by type, per hour. 8 of them are years earlier or later than the rest and not shown.")
  }

  @Test("A campaign's lane shows when it was set, carried and expired, and the rest is a row of its own")
  func campaignLane() throws {
    var activity = Activity()
    let start = Instant(milliseconds: Self.monday * 3_600_000)
    activity.campaign("Spring") {
      $0.wasSet(at: start, until: Instant(milliseconds: (Self.monday + 24) * 3_600_000))
      $0.events.add(3, at: Self.monday + 2)
      $0.expired.add(1, at: Self.monday + 24)
    }
    for number in 0..<25 {
      activity.campaign(ByteText("c\(number)")) { $0.wasSet(at: start, until: start) }
    }
    let chart = try #require(CampaignChart(activity)?.chart)
    #expect(chart.rows.count == CampaignChart.shown + 1)
    #expect(chart.rows.last == ["all others", "", "", "6", "0", "0"])
    #expect(chart.columns == ["campaign", "first set in this run", "until", "set", "expired", "events"])
    let words = chart.boxes.prefix(4).map { "\($0.tone) \($0.words)" }
    #expect(
      words == [
        "band Spring: 1 set, 1 expired, 3 events", "c0 2026-01-12 02:00: 3 events", "c2 2026-01-12 00:00: set 1 time",
        "c1 2026-01-13 00:00: expired 1 time",
      ])
    #expect(chart.summary.hasPrefix("The 20 most active of 26 campaigns: "))
  }

  @Test("A lifetime of months leaves room for the hours of a night, and the band names its end")
  func longCampaign() throws {
    var activity = Activity()
    let start = Instant(milliseconds: Self.monday * 3_600_000)
    activity.campaign("Long") {
      $0.wasSet(at: start, until: start + Milliseconds(90 * 86_400_000))
      for hour in 0..<3 { $0.events.add(1, at: Self.monday + Int64(hour)) }
    }
    let chart = try #require(CampaignChart(activity)?.chart)
    // Three hours of ten, each a tenth of the width.
    let events = chart.boxes.filter { $0.tone == "c0" }
    #expect(events.map(\.words) == (0..<3).map { "2026-01-12 0\($0):00: 1 event" })
    #expect(events.allSatisfy { $0.width > 34 && $0.width < 36 }, "\(events.map(\.width))")
    #expect(chart.labels.contains { $0.text == "until 2026-04-12 00:00" && $0.anchor == "end" })
    // Its edge is outside of the drawing.
    #expect(chart.boxes.first.map { $0.x + $0.width } == Chart.width + 2)
  }

  @Test("Only a band that lies within the axis has edges, so that different ends look different")
  func openBands() throws {
    var activity = Activity()
    let start = Instant(milliseconds: Self.monday * 3_600_000)
    for (name, hours) in [("a", 2), ("b", 200), ("c", 900)] {
      activity.campaign(ByteText(name)) {
        $0.wasSet(at: start, until: start + Milliseconds(Int64(hours) * 3_600_000))
        $0.events.add(1, at: Self.monday)
      }
    }
    activity.campaign("earlier") { $0.events.add(1, at: Self.monday + 1) }
    let chart = try #require(CampaignChart(activity)?.chart)
    // From 00:00 to 09:00.
    let bands = chart.boxes.filter { $0.tone == "band" }.map { "\(Int($0.x)) \(Int($0.x + $0.width))" }
    #expect(bands == ["4 82", "4 362", "4 362", "-2 362"])
    #expect(
      chart.labels.compactMap { $0.size.isEmpty ? nil : $0.text } == [
        "until 2026-01-20 08:00", "until 2026-02-18 12:00",
      ])
    #expect(
      chart.summary.hasSuffix(
        "A band without an edge began earlier or ends later. An end is unknown if an earlier run set the campaign."))
    #expect(chart.rows.map { $0[1] } == ["2026-01-12 00:00", "2026-01-12 00:00", "2026-01-12 00:00", "before"])
  }

  @Test("Withdrawn events of earlier runs are explained, and not taken for events years away")
  func withdrawn() throws {
    var activity = Activity()
    var hours = HourCounts()
    hours.add(3, at: Self.monday)
    hours.add(-5, at: Self.monday + 24 * 365 * 9)
    activity.events.add(hours, to: "14")
    activity.campaign("a") {
      $0.events.add(2, at: Self.monday)
      $0.expired.add(-4, at: Self.monday)
    }
    let charts = Charts(activity, [:]).all
    #expect(charts.map(\.id).contains("events"))
    for chart in charts { #expect(!chart.summary.contains("years"), "\(chart.summary)") }
    let campaigns = try #require(charts.first { $0.id == "campaigns" })
    #expect(campaigns.summary.hasSuffix("Counts below 0 are of events from earlier runs that late records withdrew."))
  }

  @Test("A campaign is marked as expired where its band ends")
  func expiredInside() throws {
    var activity = Activity()
    let start = Instant(milliseconds: Self.monday * 3_600_000)
    let expiry = start + Milliseconds(19 * 3_600_000 + 7 * 60_000)
    activity.campaign("Live") {
      $0.wasSet(at: start, until: expiry)
      $0.expired.add(expiry)
    }
    let chart = try #require(CampaignChart(activity)?.chart)
    let band = try #require(chart.boxes.first { $0.tone == "band" })
    let mark = try #require(chart.boxes.first { $0.tone == "c1" })
    #expect(abs(mark.x + mark.width - band.x - band.width) < 0.01, "\(band) \(mark)")
  }

  @Test("Days and times are those of the zone, also where a day has 23 hours")
  func zone() throws {
    let zone = try JSONDecoder().decode(
      Zone.self,
      from: Data(
        #"{"name": "America/New_York", "firstOffset": -18000, "transitions": [{"second": 1772953200, "offset": -14400}]}"#
          .utf8))
    // 2026-03-07 to 2026-03-09, from midnight to midnight in New York.
    let first = try #require(Instant.parse(rfc3339: "2026-03-07T05:00:00Z")).hour
    let axis = TimeAxis(first...first + 70, in: zone)
    #expect(axis.edges.map { $0 - first } == [0, 24, 47, 71])
    #expect((0..<3).map(axis.name) == ["2026-03-07", "2026-03-08", "2026-03-09"])
    #expect(TimeAxis(first + 25...first + 26, in: zone).name(1) == "2026-03-08 03:00")
    #expect(TimeAxis(first...first + 40 * 24, in: zone).count == 41)
    #expect(TimeAxis(first...first + 100 * 24, in: zone).name(0) == "week of 2026-03-02")
    let months = TimeAxis(first...first + 500 * 24, in: zone)
    #expect(months.name(0) == "2026-03" && months.name(months.count - 1) == "2027-07" && months.count == 17)
    let midnight = Instant(milliseconds: first * 3_600_000)
    #expect(zone.period(midnight, zone.startOfDay(midnight, plus: 1)) == "2026-03-07")
    #expect(zone.period(midnight, zone.startOfDay(midnight, plus: 2)) == "2026-03-07 to 2026-03-08")
    #expect(zone.period(midnight, midnight + Milliseconds(60_000)) == "2026-03-07 00:00 to 2026-03-07 00:01")
  }

  @Test("A chart has its numbers above its bars; where they do not fit, they are printed beside it")
  func numbersOfCharts() throws {
    var activity = Activity()
    for day in 0..<7 {
      activity.events.change(ByteText("17")) { $0.add(1200, at: Self.monday + Int64(24 * day)) }
      activity.sessionsStarted.add(30 + day, at: Self.monday + Int64(24 * day))
    }
    activity.sessionsEnded.add(4, at: Self.monday)
    for _ in 0..<9 { activity.sessionUsed(for: 5) }
    let charts = Charts(activity, ["17": "named event"]).all
    #expect(charts.map(\.id) == ["events", "sessions", "lengths"])
    #expect(charts.map(\.numbers) == ["", "", ""])
    func figures(_ chart: Chart) -> [String] { chart.labels.filter { $0.size == "small" }.map(\.text) }
    #expect(figures(charts[0]) == Array(repeating: "1.2k", count: 7))
    #expect(figures(charts[1]) == ["30", "31", "32", "33", "34", "35", "36", "4"])
    #expect(charts[0].keys.map(\.name) == ["named event (code 17): 8,400"])
    #expect(
      charts[2].summary
        == "9 ended sessions (5 without an event), grouped by time in use.")
    var hours = Activity()
    for hour in 0..<40 { hours.events.change(ByteText("17")) { $0.add(1_234_567, at: Self.monday + Int64(hour)) } }
    let narrow = try #require(Charts(hours, [:]).all.first)
    #expect(narrow.numbers == "printed" && figures(narrow) == [])
  }

  @Test("What a rewind takes back is gone, and counts below zero where an earlier run had counted it")
  func takenBack() {
    let first = Instant(milliseconds: Self.monday * 3_600_000)
    func activity(_ at: Instant, _ seconds: Int64) -> Activity {
      var activity = Activity()
      activity.sessionsStarted.add(first)
      activity.sessionEnded(at: at, after: seconds)
      activity.events.change(ByteText("14")) { $0.add(at) }
      activity.campaign(ByteText("Spring")) {
        $0.wasSet(at: first, until: at)
        $0.events.add(at)
      }
      return activity
    }
    var same = activity(first, 600)
    same -= activity(first, 600)
    #expect(same == Activity())
    var moved = activity(first + Milliseconds(2 * 86_400_000), 1080)
    moved -= activity(first, 600)
    #expect(moved.sessionLengths == [0, 0, 0, 0, -1, 1, 0, 0])
    #expect(moved.sessionsStarted == HourCounts())
    #expect(moved.sessionsEnded.perDay.counts == [-1, 0, 1])
    #expect(moved.events.named.map(\.value) == [moved.sessionsEnded])
    let campaign = moved.campaigns[ByteText("Spring")]
    #expect(campaign?.set == TimeCounts() && campaign?.firstSet == nil && campaign?.events.total == 0)
    moved += activity(first, 600)
    #expect(moved.sessionsEnded.perDay.counts == [0, 0, 1])
    // Numbers below zero have no bar.
    var back = Activity()
    back -= activity(first, 600)
    for chart in Charts(back, [:]).all {
      #expect(chart.boxes.allSatisfy { $0.tone == "band" })
    }
  }
}
