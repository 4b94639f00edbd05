import EngageIngest
import EngageModel
import EngageRules
import EngageStore
import Synchronization
import Testing

@testable import EngagePipeline

@Suite struct LocalStageTests {
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

  private func decide(_ folder: JobFolder, _ change: (inout LocalStage.Options) -> Void) throws -> (Outcome, Bool) {
    let pipeline = Pipeline(try folder.request(), monitor: SilentMonitor())
    var options = try pipeline.localOptions()
    change(&options)
    let spool = try EventSpool(folder: folder.path)
    let sink = DryRunSink(earlier: try EarlierRuns(nil), events: spool, quarantined: QuarantinedLines())
    let files = try InputFiles.find([.events: ["in/*"]], in: folder.path)
    let result = try LocalStage(files: files, options: options, sink: sink).run { _ in }
    var lines: [String] = []
    var merge = try EventMerge(spool.sequences())
    var buffer = ByteBuffer()
    while try merge.appendNext(to: &buffer) {
      lines.append(String(decoding: buffer.bytes, as: UTF8.self))
      buffer.removeAll()
    }
    let warnings = Dictionary(
      uniqueKeysWithValues: result.tally.warnings.map { ("\($0.key.rawValue)", $0.value.occurrences) })
    return (
      Outcome(events: lines, counts: result.ingest.counts, warnings: warnings), result.ingest.spilledBytes > 0
    )
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
        options.smallInput = 0
        options.stretch.events = events
        options.ingest.memoryLimit = memory
      }
      #expect(spilled == (memory < 1 << 20))
      #expect(cut == whole)
    }
  }

  @Test func aBatchLargerThanTheQueueDoesNotWaitForever() throws {
    let stored = Mutex<[Int]>([])
    let writer = BatchWriter { batches in stored.withLock { $0 += batches.map(\.quarantine.count) } }
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
}
