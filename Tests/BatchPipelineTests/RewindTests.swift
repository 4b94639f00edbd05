import BatchConfiguration
import BatchFoundation
import BatchReport
import Foundation
import Testing

@testable import BatchPipeline
@testable import BatchStore

/// Nights whose records come up to two days late make what one run over all records makes (reference decisions 34).
@Suite("Rewind") struct RewindTests {
  private struct Decided: Equatable {
    var events: [String] = []
    /// By device: events that it holds, when it is due, its state.
    var devices: [String] = []
    /// Sessions started, ended; campaigns set, expired; events.
    var figures: [Int] = []
    var types: [String: Int] = [:]
    /// What the charts show.
    var activity = Activity()
    var corrections = 0
    /// Records, each counted once.
    var accepted = 0
  }

  /// Lines of an export, night by night, some of them late.
  private struct Delivery {
    let export: RandomExport
    /// When each night ends.
    let cuts: [Int64]
    private(set) var nights: [[RandomExport.Line]]
    /// How far behind what is known a line may be, in milliseconds; nil for the default, which none comes near.
    private(set) var reach: Int64?

    /// Odd seeds also have records of one time, lines that come twice, and a short reach with a line that is at its end.
    init(_ destination: String, _ seed: UInt64, _ random: inout SplitMix64, cuts count: Int? = nil) {
      var more = SplitMix64(seed: ~seed)
      let isOdd = seed % 2 == 1
      let export = RandomExport(destination, &random, ties: isOdd ? more : nil)
      let ends = (0..<(count ?? Int.random(in: 1...7, using: &random))).map { _ in
        Int64.random(in: RandomExport.start + 1..<export.end, using: &random)
      }
      var cuts = Set(ends)
      var last: (line: RandomExport.Line, cut: Int64)?
      if isOdd {
        let reach = 1000 * Int64.random(in: 60...20_000, using: &more)
        self.reach = reach
        let candidates = export.lines.filter { !$0.isFirstSample && $0.timestamp + reach < export.end }
        if let line = candidates.randomElement(using: &more) {
          let cut = line.timestamp + reach
          last = (line, cut)
          cuts.formUnion([cut, Int64.random(in: line.timestamp + 1..<cut, using: &more)])
        }
      }
      self.export = export
      self.cuts = cuts.sorted() + [export.end]
      nights = self.cuts.map { _ in [] }
      // Which of one time and kind is first is a matter of their lines, if they come together (reference decisions 35).
      var together: [String: Int] = [:]
      for line in export.lines {
        let place = "\(line.device) \(line.timestamp) \(line.kind)"
        var night = together[place] ?? arrival(of: line, &random)
        if let last, last.line.text == line.text, let cut = self.cuts.firstIndex(of: last.cut) {
          night = together[place] ?? cut
        }
        together[place] = night
        nights[night].append(line)
        if isOdd, Int.random(in: 0..<8, using: &more) == 0 {
          nights[Int.random(in: night..<self.cuts.count, using: &more)].append(line)
        }
      }
    }

    private static let fourDays: Int64 = 345_600_000

    /// The lines of each night in time, or some of them later. One line of a device that has any comes in time: what would be the settings of
    /// a night that knew nothing of the device, the store does not keep.
    init(_ export: RandomExport, _ cuts: [Int64], someLater random: inout SplitMix64, isLate: Bool) {
      (self.export, self.cuts) = (export, cuts)
      nights = cuts.map { _ in [] }
      for device in Set(export.lines.map(\.device)).sorted() {
        let lines = export.lines.filter { $0.device == device }.sorted { $0.timestamp < $1.timestamp }
        for (night, own) in Dictionary(grouping: lines, by: { line in cuts.firstIndex { line.timestamp < $0 } ?? 0 })
          .sorted(by: { $0.key < $1.key })
        {
          let inTime = Int.random(in: 0..<own.count, using: &random)
          for (place, line) in own.enumerated() {
            let later = Int.random(in: night..<cuts.count, using: &random)
            // What comes from beyond the reach is not decided in its place (docs/guarantees.md).
            let mayBeLate = place != inTime && !line.isFirstSample && cuts[later] - line.timestamp <= Self.fourDays
            nights[isLate && mayBeLate && line.timestamp % 3 == 0 ? later : night].append(line)
          }
        }
      }
    }

    private func arrival(of line: RandomExport.Line, _ random: inout SplitMix64) -> Int {
      let night = cuts.firstIndex { line.timestamp < $0 } ?? cuts.count - 1
      guard !line.isFirstSample, Int.random(in: 0..<4, using: &random) == 0 else { return night }
      let later = night + Int.random(in: 1...2, using: &random)
      return later < cuts.count && cuts[later] - line.timestamp <= reach ?? 299_999_999 ? later : night
    }
  }

  @Test(
    "Late records make no difference, whenever they are read",
    arguments: RandomExport.cases(short: Array(1...4) + [114, 145_361_397, 77_725_889]))
  func agree(destination: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let delivery = Delivery(destination, seed, &random)
    let whole = try decide(delivery, atOnce: true)
    #expect(whole.events.count > 60)
    let cut = try decide(delivery)
    #expect(difference(cut.events, whole.events).isEmpty, "cut at \(delivery.cuts)")
    #expect(difference(cut.devices, whole.devices).isEmpty)
    #expect(cut.figures == whole.figures)
    #expect(
      cut.accepted == whole.accepted && whole.accepted == Set(delivery.export.lines.map { $0.kind + $0.text }).count)
    #expect(cut.types == whole.types)
    #expect(difference(shown(cut.activity), shown(whole.activity)).isEmpty)
  }

  @Test(
    "What was sent between nights, and its corrections, are what one run makes",
    arguments: RandomExport.cases(short: Array(1...3)))
  func corrections(destination: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let delivery = Delivery(destination, seed, &random, cuts: 5)
    let whole = try decide(delivery, atOnce: true)
    var sent: [String] = []
    let cut = try decide(delivery) { folder in
      #expect(try difference(StoredResult.sent(in: folder), sent).filter { $0.hasPrefix("missing") }.isEmpty)
      try StoredResult.post(some: &random, in: folder)
      if seed % 2 == 1 { try StoredResult.lose(some: &random, in: folder) }
      sent = try StoredResult.sent(in: folder)
    }
    #expect(difference(cut.events, whole.events).isEmpty, "cut at \(delivery.cuts)")
  }

  @Test(
    "Late records are decided by the settings of the night that they belong to",
    arguments: RandomExport.cases(short: [1, 873_346_215, 78_157_275, 385_316_425]))
  func settings(destination: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let export = RandomExport(destination, &random)
    let ends = (0..<4).map { _ in Int64.random(in: RandomExport.start + 1..<export.end, using: &random) }
    let cuts = Set(ends).sorted() + [export.end]
    // What these change is decided by records, never by silence, which is decided by the settings of whoever reads on.
    let key = destination == "engage" ? "General.defaultCurrentCampaignExpiration=%@ hours" : "DeltaDNA.sdkVersion=v%@"
    let settings = try ["1", "5"].map {
      try #require(SettingOverride(key.replacingOccurrences(of: "%@", with: $0)))
    }
    let inTime = try decide(Delivery(export, cuts, someLater: &random, isLate: false), settings: settings)
    let late = try decide(Delivery(export, cuts, someLater: &random, isLate: true), settings: settings)
    #expect(difference(late.events, inTime.events).isEmpty, "cut at \(cuts)")
    #expect(late.types == inTime.types)
  }

  /// The numbers behind the charts. Of campaigns the sums: the steps of their times get longer, and never shorter again, and their first
  /// and last times stay where something was taken back.
  private func shown(_ activity: Activity) -> [String] {
    var shown: [String] = []
    func add(_ name: String, _ counts: HourCounts) {
      counts.forEach { hour, count in shown.append("\(name) \(hour): \(count)") }
    }
    for (type, counts) in activity.events.named { add(type.string, counts) }
    add("started", activity.sessionsStarted)
    add("ended", activity.sessionsEnded)
    shown.append("lengths \(activity.sessionLengths)")
    for (name, campaign) in activity.campaigns.named {
      let totals = [campaign.set.total, campaign.expired.total, campaign.events.total]
      shown.append("\(name.string) \(totals)")
    }
    return shown
  }

  private func decide(
    _ delivery: Delivery, atOnce: Bool = false, settings: [SettingOverride] = [],
    afterEach: ((JobFolder) throws -> Void)? = nil
  ) throws -> Decided {
    let (export, nights, ends) = (delivery.export, delivery.nights, atOnce ? [delivery.export.end] : delivery.cuts)
    let folder = try JobFolder([
      "job.json": """
      {"name": "j", "destination": "\(export.destination)", "settings": \(export.settings), "store": "j.sqlite",
       "inputs": {"events": ["in/*/events"], "notifications": ["in/*/notifications"], "deepLinks": ["in/*/deepLinks"]}}
      """
    ])
    var decided = Decided()
    var from = RandomExport.start
    var read = 0
    for (place, to) in ends.enumerated() {
      while read < (place == ends.count - 1 ? nights.count : place + 1) {
        for kind in RandomExport.kinds {
          let path = "\(folder.path)/in/\(read)"
          try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
          try folder.write("in/\(read)/\(kind)", export.text(of: nights[read], kind))
        }
        read += 1
      }
      var changes = CommandLineChanges(
        settings: delivery.reach.flatMap { SettingOverride("Ingest.rewind=\($0 / 1000) seconds") }.map { [$0] } ?? [])
      if !settings.isEmpty { changes.settings.append(settings[place % settings.count]) }
      (changes.from, changes.to) = (Instant(milliseconds: from), Instant(milliseconds: to))
      changes.asOf = Instant(milliseconds: to)
      let report = try folder.run(folder.request(changes)).report
      #expect(report.failure == nil)
      #expect(report.warnings.allSatisfy { $0.kind != "late-record" })
      let summary = report.summary
      let figures = [
        summary.sessionsStarted, summary.sessionsEnded, summary.campaignsSet, summary.campaignsExpired,
        summary.eventCount,
      ]
      decided.figures = decided.figures.isEmpty ? figures : zip(decided.figures, figures).map { $0 + $1 }
      decided.accepted += summary.records.accepted
      decided.corrections += summary.rewind.corrections
      decided.activity += report.activity
      try afterEach?(folder)
      for (type, count) in summary.eventsByType { decided.types[type.string, default: 0] += count }
      from = to
    }
    decided.types = decided.types.filter { $0.value != 0 }
    let stored = try StoredResult(of: folder)
    (decided.events, decided.devices) = (stored.events, stored.devices)
    return decided
  }
}
