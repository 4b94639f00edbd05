import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import Testing

@testable import BatchPipeline

@Suite struct ReplayTests {
  private static let job = """
    {"name": "j", "inputs": {"events": ["in/*"]}, "asOf": "2026-02-01T00:00:00Z", "store": "j.sqlite"}
    """

  private static func event(_ day: Int, _ name: String) -> String {
    #"{"deviceId":"d","timestamp":"2026-01-0\#(day)T00:00:00Z","type":"namedEvent","name":"\#(name)"}"#
  }

  /// A replay of millions of lines used to end only when all were copied.
  @Test func aSignalEndsTheCopyingOfLinesAndLeavesNothing() throws {
    let folder = try JobFolder([
      "job.json": #"{"name": "j", "inputs": {"events": ["a.ndjson"]}}"#, "a.ndjson": "bad\n", "tmp/f": "",
    ])
    _ = try folder.run(folder.request())
    var request = try folder.request()
    request.mode = .replay
    let interruption = Interruption()
    interruption.raise(15)
    #expect(throws: InterruptedError(signal: 15)) {
      try Pipeline(request, monitor: SilentMonitor(), interruption: interruption).run()
    }
    #expect(try folder.quarantine() == ["a.ndjson:1 +0 invalid-json 'bad'"])
  }

  /// It stayed unfinished in the list of runs.
  @Test func hasItsEndNotedWhereItIsEndedMidway() throws {
    final class Stopping: RunMonitor {
      let interruption = Interruption()

      func note(_ text: String) {}
      func progress(_ progress: IngestProgress, of total: UInt64) { interruption.raise(15) }
      func delivered(_ events: Int, of total: Int) {}
    }
    let folder = try JobFolder(["job.json": Self.job, "in/a": "bad\n"])
    _ = try folder.run(folder.request())
    var request = try folder.request()
    request.mode = .replay
    let monitor = Stopping()
    let outcome = try Pipeline(request, monitor: monitor, interruption: monitor.interruption).run()
    #expect(outcome.exit == .terminated)
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: request.platform.storeFormat)
    let runs = try store.runs.all()
    #expect(runs.map(\.mode) == ["no-upload", "replay"])
    #expect(runs.map(\.exit) == [RunExit.inputRefused.rawValue, RunExit.terminated.rawValue])
    #expect(runs.allSatisfy { $0.finished != nil })
    try store.close()
  }

  @Test func takesLongLinesInOnceTheyAreAllowed() throws {
    let long = String(repeating: "x", count: 300)
    let huge = String(repeating: "y", count: 70_000)
    let folder = try JobFolder([
      "job.json": Self.job,
      "in/a": [Self.event(1, "A"), Self.event(2, long), "broken", Self.event(3, huge)].joined(separator: "\n"),
    ])
    #expect(try folder.run(folder.request("Ingest.maxLineBytes=200")).report.summary.records.quarantined == 3)

    let ineffective = try folder.replay(folder.request("Ingest.maxLineBytes=200"))
    #expect(ineffective.counts.quarantined == 3)
    #expect(ineffective.events == 0)

    let request = try folder.request("Ingest.maxLineBytes=100000")
    let outcome = try folder.replay(request)
    #expect(outcome.counts.accepted == 2)
    #expect(outcome.counts.reasons == [.invalidJSON: 1])
    #expect(outcome.events == 2)
    #expect(
      try folder.quarantine() == [
        "a:2 +83 line-too-long '{\"deviceId\":\"d\",\"tim' replayed", "a:3 +465 invalid-json 'broken'",
        "a:4 +472 line-too-long '{\"deviceId\":\"d\",\"tim' replayed",
      ])

    let again = try folder.replay(request)
    #expect(again.counts.read == 1)
    #expect(again.events == 0)
    #expect(try folder.run(request).report.summary.records.duplicates == 3)
  }

  /// What is kept of each line is its number; the lines themselves are looked at some at a time.
  @Test func takesMoreLinesInThanAreLookedAtTogether() throws {
    let count = ReplayInput.linesAtOnce + 5
    let long = String(repeating: "x", count: 150)
    var lines = (1...count).map { Self.event(1, "\(long)\($0)") }
    lines[count - 3] = "broken"
    let folder = try JobFolder(["job.json": Self.job, "in/a": lines.joined(separator: "\n")])
    #expect(try folder.run(folder.request("Ingest.maxLineBytes=200")).report.summary.records.quarantined == count)
    let outcome = try folder.replay(folder.request())
    #expect(outcome.counts.accepted == count - 1 && outcome.counts.reasons == [.invalidJSON: 1])
    let left = try folder.quarantine().filter { !$0.hasSuffix("replayed") }
    #expect(left.count == 1 && left[0].hasPrefix("a:\(count - 2) ") && left[0].contains("invalid-json"))
  }

  @Test func settlesMoreLinesThanAreLookedAtTogether() throws {
    let count = ReplayInput.linesAtOnce + 5
    let folder = try JobFolder([
      "job.json": Self.job, "in/a": [String](repeating: "x", count: count).joined(separator: "\n"),
    ])
    #expect(try folder.run(folder.request()).report.summary.records.quarantined == count)
    try folder.write("in/a", (1...count).map { Self.event(1, "\($0)") }.joined(separator: "\n"))
    let run = try folder.run(folder.request())
    #expect(run.report.summary.records.accepted == count)
    #expect(run.report.notes.contains { $0.hasPrefix("10,005 quarantined lines were replaced") })
    #expect(!run.report.hasPendingQuarantine)
  }

  @Test func leavesLongLinesWhoseFileChanged() throws {
    let folder = try JobFolder([
      "job.json": Self.job, "in/a": Self.event(3, String(repeating: "y", count: 70_000)) + "\n",
    ])
    _ = try folder.run(folder.request("Ingest.maxLineBytes=200"))
    try folder.write("in/a", Self.event(4, "short") + "\n")
    let outcome = try folder.replay(folder.request())
    #expect(outcome.unavailable == 1)
    #expect(outcome.counts.read == 0)
    #expect(try folder.quarantine() == ["a:1 +0 line-too-long '{\"deviceId\":\"d\",\"tim'"])
  }

  @Test func keepsLateLinesWithTheirBytesAndTakesThemInOnceTheyAreAllowed() throws {
    let folder = try JobFolder(["job.json": Self.job, "in/a": Self.event(5, "A") + "\n"])
    let strict = try folder.request("Ingest.lateRecords=quarantine")
    _ = try folder.run(strict)
    try folder.write("in/b", "\u{FEFF}\n" + Self.event(1, "late") + "\r\n" + Self.event(2, "later"))
    let summary = try folder.run(strict).report.summary
    #expect(summary.records.quarantined == 2)
    #expect(summary.quarantineReasons == [.lateRecord: 2])
    let kept = "'{\"deviceId\":\"d\",\"tim'"
    #expect(try folder.quarantine() == ["b:2 +4 late-record \(kept)", "b:3 +91 late-record \(kept)"])

    #expect(try folder.replay(strict).counts.reasons == [.lateRecord: 2])
    let outcome = try folder.replay(folder.request())
    #expect(outcome.counts.accepted == 2)
    #expect(outcome.events == 2)
    #expect(try folder.run(folder.request()).report.summary.records.duplicates == 3)
  }

  @Test func needsAStore() throws {
    let folder = try JobFolder(["job.json": Self.job])
    #expect(throws: StoreError.missing(path: "\(folder.path)/j.sqlite")) { try folder.replay(folder.request()) }
  }
}
