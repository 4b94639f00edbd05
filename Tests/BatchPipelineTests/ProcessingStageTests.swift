import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import Engage
import EngageRules
import StepPlatform
import TestSupport
import Testing

@testable import BatchPipeline

@Suite final class ProcessingStageTests {
  /// How often the last decision encoded what it had.
  private var seriesOfLastRun = 0

  private static let job = """
    {"name": "j", "inputs": {"events": ["in/*"]}, "asOf": "2026-03-01T00:00:00Z", "store": "j.sqlite"}
    """

  /// A line of a device in use: long enough that few of them share a piece of memory.
  private static func line(_ random: inout SplitMix64) -> String {
    let device = "D\(Int.random(in: 0..<6, using: &random))"
    let time = 1_767_225_600_000 + Int64.random(in: 0..<40_000, using: &random) * 250
    let head = #"{"deviceId":"\#(device)","timestamp":\#(time)"#
    let text = String(repeating: "x", count: Int.random(in: 0..<1500, using: &random))
    return switch Int.random(in: 0..<9, using: &random) {
    case 0: head + #","type":"foreground"}"#
    case 1: head + #","type":"background","mobileUserId":"U-\#(device)"}"#
    case 2: head + #","type":"deepLink","url":"app://x?CurrentCampaign=spring&CampaignValidFor=1%20minute&t=\#(text)"}"#
    case 3: head + #","type":"location","latitude":1.5,"longitude":\#(time % 90)}"#
    case 4: head + #","type":"placemark","name":"N\#(time % 7)","city":"C","country":"X"}"#
    case 5:
      head + #","type":"namedEvent","name":"E","params":{"Device Id":"other","n":\#(time % 3),"text":"\#(text)"}}"#
    default: head + #","type":"namedEvent","name":"E","params":{"text":"\#(text)"}}"#
    }
  }

  private struct Outcome: Equatable {
    var events: [String]
    var counts: IngestCounts
    var warnings: [String: Int]
  }

  private func decide(_ folder: JobFolder, _ change: (inout ProcessingStage.Options) -> Void) throws -> (Outcome, Bool)
  {
    let pipeline = Pipeline(try folder.request(), monitor: SilentMonitor())
    var options = try pipeline.processingOptions()
    options.decider.knownUntil = options.asOf
    change(&options)
    let (store, run) = try pipeline.temporaryResults()
    let sink = try StoreSink(
      store: store, run: run, earlier: nil,
      quarantined: QuarantinedLines(atMost: 20, RecordVocabulary.engage.dictionary))
    let files = try InputFiles.find([.events: ["in/*"]], in: folder.path)
    let result = try ProcessingStage(files: files, options: options, sink: sink).run { _ in }
    let sequences = try store.ledger.sequences([.stored(by: run)])
    seriesOfLastRun = sequences.count
    let lines = try lines(of: sequences)
    let warnings = Dictionary(
      uniqueKeysWithValues: result.tally.warnings.map { ($0.key, $0.value.occurrences) })
    return (
      Outcome(events: lines, counts: result.ingest.counts, warnings: warnings), result.ingest.spilledBytes > 0
    )
  }

  private func lines(of sequences: [BlockSequence]) throws -> [String] {
    var lines: [String] = []
    var merge = try EventMerge(sequences, wireForm: WireForm.engage)
    var buffer = ByteBuffer()
    while try merge.appendNext(to: &buffer) {
      lines.append(String(decoding: buffer.bytes, as: UTF8.self))
      buffer.removeAll()
    }
    return lines
  }

  /// A device whose records come in slices, and whose events are encoded while it is under way, is decided as in one piece.
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func neitherMemoryNorStretchesChangeTheEvents(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var files = ["job.json": Self.job]
    for file in 0..<3 {
      files["in/\(file)"] = (0..<250).map { _ in Self.line(&random) }.joined(separator: "\n")
    }
    let folder = try JobFolder(files)
    let (whole, wholeSpilled) = try decide(folder) { _ in }
    #expect(!wholeSpilled)
    #expect(whole.events.count > 300)
    for (events, memory) in [(1, 128 << 20), (2048, 0), (1, 0), (7, 1 << 14)] {
      let (cut, spilled) = try decide(folder) { options in
        options.ingest.smallInput = 0
        options.decider.events = events
        options.ingest.memoryLimit = memory
      }
      #expect(spilled == (memory < 1 << 20))
      #expect(cut == whole)
    }
  }

  @Test func aBatchLargerThanTheQueueDoesNotWaitForever() throws {
    let stored = Guarded<[Int]>([])
    let writer = try StoreWriter { batches in stored.withLock { $0 += batches.map(\.quarantine.count) } }
    for size in [1, 40_000_000, 3_000_000, 1, 9_000_000, 9_000_000] {
      var batch = LocalBatch()
      batch.quarantine = [
        QuarantinedLine(
          file: "f", line: 1, offset: 0, reason: .invalidJSON, detail: "", raw: Array(repeating: 0, count: size))
      ]
      try writer.add(batch)
    }
    try writer.finish()
    #expect(stored.withLock { $0 } == [1, 1, 1, 1, 1, 1])
  }

  /// A link of the same instant takes the place of the session start before it, so that one may not be encoded yet.
  @Test func aStretchDoesNotEndBetweenAStartAndItsLink() throws {
    let at = #"{"deviceId":"D","timestamp":1767225600000"#
    let folder = try JobFolder([
      "job.json": Self.job,
      "in/a": [
        at + #","type":"foreground","mobileUserId":"U"}"#, at + #","type":"deepLink","url":"app://x?a=1"}"#,
        #"{"deviceId":"D","timestamp":1767225601000,"type":"namedEvent","name":"E"}"#,
      ].joined(separator: "\n"),
    ])
    let (whole, _) = try decide(folder) { _ in }
    #expect(whole.events.count == 2)
    let (cut, _) = try decide(folder) { options in
      options.ingest.smallInput = 0
      options.decider.events = 0
    }
    #expect(cut == whole)
  }

  /// Half a million sessions of a device that was named late took 1.3 GB: its record let go of all that had waited at once.
  @Test func whatWaitedForARecordIsEncodedWhileItLeaves() throws {
    let sessions = 3000
    var lines: [String] = []
    for session in 0..<sessions {
      let start = 1_767_225_600_000 + session * 10_000_000
      lines.append(#"{"deviceId":"D","timestamp":\#(start),"type":"foreground"}"#)
      lines.append(#"{"deviceId":"D","timestamp":\#(start + 1000),"type":"background"}"#)
    }
    let end = 1_767_225_600_000 + sessions * 10_000_000
    lines.append(#"{"deviceId":"D","timestamp":\#(end),"type":"namedEvent","name":"E","mobileUserId":"U"}"#)
    let job = Self.job.replacing("2026-03-01", with: "2027-03-01")
    let folder = try JobFolder(["job.json": job, "in/a": lines.joined(separator: "\n")])
    let (whole, _) = try decide(folder) { _ in }
    #expect(whole.events.count == 2 * sessions + 1)
    #expect(seriesOfLastRun == 1)
    let (cut, _) = try decide(folder) { options in
      options.ingest.smallInput = 0
      options.decider.events = 100
    }
    #expect(cut == whole)
    #expect(seriesOfLastRun == 6)
  }

  /// A million of them, in a run of the one record that named their device, took 1.3 GB.
  @Test func whatWaitedSinceEarlierRunsIsEncodedWhileItLeavesInASmallInputToo() throws {
    let sessions = 3000
    let start = 1_767_225_600_000
    let waiting = (0..<2 * sessions).map { number in
      #"{"deviceId":"D","timestamp":\#(start + number * 5_000_000),"type":"\#(number % 2 == 0 ? "foreground" : "background")"}"#
    }
    let naming =
      #"{"deviceId":"D","timestamp":\#(start + 2 * sessions * 5_000_000),"type":"namedEvent","name":"E","mobileUserId":"U"}"#
    let job = Self.job.replacing("2026-03-01", with: "2027-03-01")
    let folder = try JobFolder(["job.json": job, "in/a": waiting.joined(separator: "\n"), "new/b": naming])
    let store = try EventStore.open("\(folder.path)/s.sqlite", format: .engage)
    var options = try Pipeline(try folder.request(), monitor: SilentMonitor()).processingOptions()
    options.decider.knownUntil = options.asOf
    options.decider.events = 10
    for (pattern, series) in [("in/*", 0), ("new/*", 6)] {
      let run = try store.runs.begin(job: "j", configurationDigest: "", started: JobFolder.now, asOf: options.asOf)
      let files = try InputFiles.find([.events: [pattern]], in: folder.path)
      let (sink, last) = try breakingSink(store, run, after: .max)
      _ = try ProcessingStage(files: files, options: options, sink: sink).run { _ in }
      #expect(last.withLock { $0 } == series)
    }
    #expect(try store.ledger.statusCounts() == [.notPosted: 2 * sessions + 1])
    let (whole, _) = try decide(try JobFolder(["job.json": job, "in/a": (waiting + [naming]).joined(separator: "\n")]))
    {
      $0.decider.events = 10
    }
    #expect(seriesOfLastRun == 1)
    #expect(try lines(of: store.ledger.sequences([.pending])) == whole.events)
    try store.close()
  }

  private struct Stop: Error {}

  /// Returns a sink that breaks off before one of its batches, as a kill would, and the number of series in the last.
  private func breakingSink(
    _ store: EventStore, _ run: RunID, after batches: Int
  ) throws -> (sink: StoreSink, series: Guarded<Int>) {
    let (left, series) = (Guarded(batches), Guarded(0))
    let sink = try StoreSink(
      store: store, run: run, earlier: store,
      quarantined: QuarantinedLines(atMost: 0, RecordVocabulary.engage.dictionary)
    ) { batch in
      let isLeft = left.withLock {
        $0 -= 1
        return $0 >= 0
      }
      guard isLeft else { throw Stop() }
      series.change { $0 = batch.events.count }
    }
    return (sink, series)
  }

  /// Whatever a kill leaves between slices and stretches, the next run continues from there to the same events.
  @Test(arguments: [0, 1, 2, 5, 20, 30])
  func aRunThatBrokeOffIsTakenUp(after batches: Int) throws {
    var random = SplitMix64(seed: 3)
    let input = (0..<400).map { _ in Self.line(&random) }
    let folder = try JobFolder(["job.json": Self.job, "in/a": input.joined(separator: "\n")])
    let (whole, _) = try decide(folder) { _ in }
    var options = try Pipeline(try folder.request(), monitor: SilentMonitor()).processingOptions()
    options.decider.knownUntil = options.asOf
    options.ingest.smallInput = 0
    options.decider.events = 3
    options.ingest.memoryLimit = 0
    let files = try InputFiles.find([.events: ["in/*"]], in: folder.path)
    let store = try EventStore.open("\(folder.path)/s.sqlite", format: .engage)
    func attempt(_ batches: Int) throws {
      let run = try store.runs.begin(job: "j", configurationDigest: "", started: JobFolder.now, asOf: options.asOf)
      let (sink, _) = try breakingSink(store, run, after: batches)
      defer { #expect(throws: Never.self) { try sink.finish() } }
      _ = try ProcessingStage(files: files, options: options, sink: sink).run { _ in }
    }
    #expect(throws: Stop.self) { try attempt(batches) }
    try attempt(.max)
    #expect(try lines(of: store.ledger.sequences([.pending])).sorted() == whole.events.sorted())
    try store.close()
  }

  /// A plain dry run writes nothing; one whose events are looked at has them in its temporary store, and nothing else.
  @Test(arguments: [nil, "events.ndjson"])
  func aDryRunKeepsOnlyWhatSomebodyLooksAt(eventsOut: String?) throws {
    let folder = try JobFolder([
      "job.json": Self.job, "in/a": #"{"deviceId":"D","timestamp":1767225600000,"type":"namedEvent","name":"E"}"#,
    ])
    var request = try folder.request()
    request.mode = .dryRun(sends: false)
    request.eventsOut = eventsOut.map { "\(folder.path)/\($0)" }
    let pipeline = Pipeline(request, monitor: SilentMonitor())
    let preparation = try pipeline.prepare()
    let storage = try pipeline.openStorage(preparation)
    var outcome = RunOutcome(report: RunReport(request))
    #expect(try pipeline.decide(preparation, storage, &outcome))
    #expect(outcome.report.summary.eventCount == 1)
    let results = storage.sink.store
    #expect(try results.ledger.sequences([.stored(by: storage.sink.run)]).count == (eventsOut == nil ? 0 : 1))
    // No state of a device and no digest of a line.
    #expect(try results.isEmpty)
  }

  /// Batches that wait when the writer goes away, as they do when a run fails.
  @Test func aWriterMayEndWithBatchesWaiting() throws {
    var batch = LocalBatch()
    batch.digests = [
      DigestSegment(bucket: 0, first: Instant(milliseconds: 0), last: Instant(milliseconds: 0), digests: [1])
    ]
    let writer = try StoreWriter { _ in }
    try writer.add(batch)
  }

  /// The first run of a store indexes its chunks at the end of its local part.
  @Test func aRunLeavesItsChunksIndexed() throws {
    let folder = try JobFolder([
      "job.json": Self.job, "in/a": #"{"deviceId":"D","timestamp":1767225600000,"type":"namedEvent","name":"E"}"#,
    ])
    _ = try folder.run(folder.request())
    // SQLite keeps the words that made a table in the file.
    #expect(try folder.text("j.sqlite").contains("CREATE INDEX chunk_by_time"))
  }
}
