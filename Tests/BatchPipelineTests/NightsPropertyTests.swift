import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import Engage
import Foundation
import Games
import Testing

@testable import BatchPipeline

/// Nights, a backfill and one run over all records agree, event for event and state for state, where records arrive in time
/// (reference decisions 33).
@Suite("Nights and one run") struct NightsPropertyTests {
  private struct Nights: Equatable {
    /// In the order of delivery.
    var events: [String] = []
    /// By device: events that it holds, when it is due, its state.
    var devices: [String] = []
    /// Sessions started, ended; campaigns set, expired; lengths of sessions.
    var figures: [Int] = []
  }

  @Test(
    "They make the same of any records, wherever the windows end",
    arguments: RandomExport.cases(short: Array(1...3) + [10]))
  func agree(destination: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let export = RandomExport(destination, &random, ties: seed % 2 == 1 ? SplitMix64(seed: ~seed) : nil)
    let ends = (0..<Int.random(in: 1...7, using: &random)).map { _ in
      Int64.random(in: RandomExport.start + 1..<export.end, using: &random)
    }
    let cuts = Set(ends).sorted()
    let whole = try decide(export, [], &random)
    #expect(whole.events.count > 60)
    #expect(try decide(export, cuts, &random) == whole, "cut at \(cuts)")
  }

  private func decide(_ export: RandomExport, _ cuts: [Int64], _ random: inout SplitMix64) throws -> Nights {
    let folder = try JobFolder(export.files)
    var nights = Nights()
    for (from, to) in zip([RandomExport.start] + cuts, cuts + [export.end]) {
      var changes = CommandLineChanges()
      (changes.from, changes.to) = (Instant(milliseconds: from), Instant(milliseconds: to))
      // The clock is behind the window: nobody knows what it covers.
      let clock = cuts.isEmpty ? to : to + Int64.random(in: 0...20_000_000, using: &random)
      changes.asOf = Instant(milliseconds: clock)
      var request = try folder.request(changes)
      request.eventsOut = "\(folder.path)/out"
      let report = try folder.run(request).report
      #expect(report.failure == nil)
      nights.events += try folder.text("out").split(separator: "\n").map(String.init)
      let summary = report.summary
      let figures =
        [summary.sessionsStarted, summary.sessionsEnded, summary.campaignsSet, summary.campaignsExpired]
        + report.activity.sessionLengths
      nights.figures = nights.figures.isEmpty ? figures : zip(nights.figures, figures).map { $0 + $1 }
    }
    let format = try folder.request().platform.storeFormat
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: format)
    try store.timelines.forEachDevice { device in
      nights.devices.append(
        "\(String(decoding: device.device, as: UTF8.self)) \(device.held) \(Hexadecimal.text(of: device.state))")
    }
    try store.close()
    nights.events.sort()
    return nights
  }
}
