import BatchConfiguration
import BatchFoundation
import BatchPlatform
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
  }

  @Test(
    "Late records make no difference, whenever they are read",
    arguments: RandomExport.cases(short: Array(1...4) + [114]))
  func agree(destination: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let export = RandomExport(destination, &random)
    let ends = (0..<Int.random(in: 1...7, using: &random)).map { _ in
      Int64.random(in: RandomExport.start + 1..<export.end, using: &random)
    }
    let cuts = Set(ends).sorted() + [export.end]
    let nights = arrivals(of: export, cuts, &random)
    let whole = try decide(export, nights, [export.end])
    #expect(whole.events.count > 60)
    let cut = try decide(export, nights, cuts)
    #expect(difference(cut.events, whole.events).isEmpty, "cut at \(cuts)")
    #expect(difference(cut.devices, whole.devices).isEmpty)
    #expect(cut.figures == whole.figures)
    #expect(cut.types == whole.types)
    #expect(difference(shown(cut.activity), shown(whole.activity)).isEmpty)
  }

  @Test(
    "What was sent between nights, and its corrections, are what one run makes",
    arguments: RandomExport.cases(short: Array(1...3)))
  func corrections(destination: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let export = RandomExport(destination, &random)
    let ends = (0..<5).map { _ in Int64.random(in: RandomExport.start + 1..<export.end, using: &random) }
    let cuts = Set(ends).sorted() + [export.end]
    let nights = arrivals(of: export, cuts, &random)
    let whole = try decide(export, nights, [export.end])
    let cut = try decide(export, nights, cuts) { try StoredResult.post(some: &random, in: $0) }
    #expect(difference(cut.events, whole.events).isEmpty, "cut at \(cuts)")
  }

  /// The numbers behind the charts. Of campaigns the sums: the steps of their times get longer, and never shorter again.
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
      shown.append("\(name.string) \(totals) \(campaign.firstSet?.rfc3339 ?? "") \(campaign.until?.rfc3339 ?? "")")
    }
    return shown
  }

  /// The lines that arrive for each night, some of them late.
  private func arrivals(of export: RandomExport, _ cuts: [Int64], _ random: inout SplitMix64) -> [[RandomExport.Line]] {
    var nights = cuts.map { _ in [RandomExport.Line]() }
    for line in export.lines {
      var night = cuts.firstIndex { line.timestamp < $0 } ?? cuts.count - 1
      if !line.isFirstSample, Int.random(in: 0..<4, using: &random) == 0 {
        let later = night + Int.random(in: 1...2, using: &random)
        if later < cuts.count, cuts[later] - line.timestamp < 300_000_000 { night = later }
      }
      nights[night].append(line)
    }
    return nights
  }

  private func decide(
    _ export: RandomExport, _ nights: [[RandomExport.Line]], _ ends: [Int64],
    afterEach: ((JobFolder) throws -> Void)? = nil
  ) throws -> Decided {
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
      var changes = CommandLineChanges()
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
