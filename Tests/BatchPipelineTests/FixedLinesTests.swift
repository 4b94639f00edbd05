import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import FoundationEssentials
import Testing

@testable import BatchPipeline
@testable import BatchStore

/// Lines that were bad and are fixed, in each way that docs/failures.md advises, make what one run over the right lines makes, as far as the
/// reach of a rewind goes (reference decisions 34).
@Suite("Fixed lines") struct FixedLinesTests {
  enum Way: CaseIterable, Sendable { case replay, runAgain, rerun }

  /// Within four days before the end.
  private static let reach: Int64 = 340_000_000
  private static let count = 40

  @Test(
    "Forty of an export count as if they had been right at once, and what was sent otherwise is a correction",
    arguments: ["engage", "deltadna"], Way.allCases)
  func fixed(destination: String, way: Way) throws {
    let seeds = RandomExport.seeds(short: [1, 2])
    var corrections = 0
    for seed in seeds {
      var random = SplitMix64(seed: seed)
      let export = RandomExport(destination, &random)
      let eligible = export.lines.indices.filter {
        !export.lines[$0].isFirstSample && export.lines[$0].timestamp >= export.end - Self.reach
      }
      let bad = Set(eligible.shuffled(using: &random).prefix(Self.count))
      #expect(bad.count == Self.count)

      // A line that is replayed stays what it is.
      let one = try JobFolder(way == .replay ? export.files(bad) : export.files)
      _ = try one.run(request(one, export))
      let right = try StoredResult(of: one)

      let folder = try JobFolder(export.files(bad))
      let middle = Int64.random(in: RandomExport.start + 1..<export.end, using: &random)
      for (from, to) in [(RandomExport.start, middle), (middle, export.end)] {
        _ = try folder.run(request(folder, export, from, to, longestLine: 500))
        try StoredResult.post(some: &random, in: folder)
      }
      #expect(try StoredResult(of: folder).events != right.events)
      let wrong = try StoredResult.posted(in: folder).without(right.events)
      #expect(try waiting(folder) == Self.count)
      if way != .replay { for (name, text) in export.files { try folder.write(name, text) } }
      try fix(folder, export, way)
      let fixed = try StoredResult(of: folder)
      #expect(difference(fixed.events, right.events).isEmpty, "\(destination) \(way) \(seed)")
      #expect(difference(fixed.devices, right.devices).isEmpty, "\(destination) \(way) \(seed)")
      let corrected = try StoredResult.corrected(in: folder)
      #expect(wrong.without(corrected).isEmpty, "\(destination) \(way) \(seed)")
      // An installation, a start or an end of a session that another line causes is another event, even with the same bytes (reference
      // decisions 34): the one that was sent is withdrawn.
      let others = corrected.without(wrong)
      #expect(others.allSatisfy { $0.contains(/"eventTypeCode":"1[234]"/) }, "\(destination) \(way) \(seed)")
      let withdrawn = try StoredResult.corrected(in: folder, .withdrawn)
      #expect(others.without(withdrawn).isEmpty, "\(destination) \(way) \(seed)")
      #expect(fixed.corrections == wrong.count + others.count, "\(destination) \(way) \(seed)")
      #expect(try waiting(folder) == 0)
      corrections += fixed.corrections
    }
    // Of one seed alone nothing may have been sent otherwise.
    #expect(corrections > 0 || seeds.count == 1)
  }

  private func fix(_ folder: JobFolder, _ export: RandomExport, _ way: Way) throws {
    let whole = try request(folder, export)
    switch way {
    case .replay:
      let replay = try folder.replay(whole)
      #expect(replay.counts.accepted == Self.count)
    case .runAgain:
      let summary = try folder.run(whole).report.summary
      #expect(summary.records.accepted == Self.count)
    case .rerun:
      let store = try EventStore.open(whole.storePath, format: whole.platform.storeFormat)
      let rerun = Rerun(
        from: Instant(milliseconds: RandomExport.start), to: Instant(milliseconds: export.end), sendsAgain: nil,
        allowsMissingInputs: false, isRehearsal: false)
      let outcome = try Pipeline(whole, monitor: SilentMonitor()).rerun(rerun, in: store)
      try store.close()
      #expect(outcome.taken?.records.accepted == Self.count)
    }
  }

  private func request(
    _ folder: JobFolder, _ export: RandomExport, _ from: Int64 = RandomExport.start, _ to: Int64? = nil,
    longestLine: Int = 10_000
  ) throws -> RunRequest {
    let limit = try #require(SettingOverride("Ingest.maxLineBytes=\(longestLine)"))
    var changes = CommandLineChanges(settings: [limit])
    (changes.from, changes.to) = (Instant(milliseconds: from), Instant(milliseconds: to ?? export.end))
    changes.asOf = changes.to
    return try folder.request(changes)
  }

  private func waiting(_ folder: JobFolder) throws -> Int {
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
    defer { try? store.close() }
    return try store.quarantine.pendingLines().count
  }
}

extension RandomExport {
  /// The job and its inputs, with some lines too long for it.
  fileprivate func files(_ bad: Set<Int>) -> [String: String] {
    let padding = String(repeating: "x", count: 1000)
    var files = files
    for kind in Self.kinds {
      let texts = lines.indices.filter { lines[$0].kind == kind }.map { index -> String in
        let text = lines[index].text
        return bad.contains(index) ? #"\#(text.dropLast()),"pad":"\#(padding)"}"# : text
      }
      files[kind] = texts.joined(separator: "\n")
    }
    return files
  }
}
