import BatchFoundation
import BatchReport
import BatchStore
import Engage
import Testing

@testable import BatchPipeline

/// How much a store keeps of what cannot be read (reference decisions 47).
@Suite struct QuarantineLimitTests {
  static let job = #"{"name": "j", "inputs": {"events": ["in/*.ndjson"]}, "asOf": "2026-01-01T00:00:00Z"}"#
  /// Ten bytes each.
  static func bad(_ numbers: Range<Int>) -> String { numbers.map { "bad line \($0)\n" }.joined() }

  @Test func linesBeyondTheLimitAreCountedAndNotKept() throws {
    let folder = try JobFolder([
      "job.json": Self.job, "in/a.ndjson": Self.bad(0..<3), "in/b.ndjson": Self.bad(0..<5) + "[]\n",
    ])
    let outcome = try folder.run(folder.request("Ingest.quarantineLimit=40", "Ingest.workers=1"))
    #expect(outcome.report.summary.records.quarantined == 9)
    let note =
      "5 quarantined lines were counted but not kept, because the store had reached Ingest.quarantineLimit: 4 x invalid-json in \(folder.path)/in/b.ndjson, 1 x not-an-object in \(folder.path)/in/b.ndjson"
    let kept = try folder.quarantine()
    #expect(kept.count == 4)
    #expect(outcome.report.notes == [note])
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    #expect(try store.quarantine.unkeptNote() == note)
    try store.close()
    // The same lines are seen again and found where they are; those without room are counted for this run.
    let again = try folder.run(folder.request("Ingest.quarantineLimit=40", "Ingest.workers=1"))
    #expect(again.report.notes == [note])
    #expect(try folder.quarantine() == kept)
    // With room they are kept.
    let last = try folder.run(folder.request("Ingest.quarantineLimit=82"))
    #expect(last.report.notes == [])
    #expect(try folder.quarantine().count == 9)
  }

  @Test func aLimitOnLinesCountsThoseThatWereNotKept() throws {
    let folder = try JobFolder(["job.json": Self.job, "in/a.ndjson": Self.bad(0..<9)])
    var request = try folder.request("Ingest.quarantineLimit=0")
    request.maxQuarantine = 9
    // Nothing else is in it.
    request.allowsEmpty = true
    #expect(try folder.run(request).exit == .done)
    request.maxQuarantine = 8
    #expect(try folder.run(request).exit == .inputRefused)
    #expect(try folder.quarantine() == [])
  }

  @Test func readingEndsEarlyOnRequestWithNothingDecided() throws {
    let good = #"{"type": "namedEvent", "name": "n", "deviceId": "d", "timestamp": 1767225600}"# + "\n"
    let folder = try JobFolder(["job.json": Self.job, "in/a.ndjson": Self.bad(0..<9) + good])
    var request = try folder.request()
    request.maxQuarantine = 8
    request.stopsEarly = true
    let outcome = try folder.run(request)
    #expect(outcome.exit == .inputRefused)
    #expect(
      outcome.report.failure
        == "error: more than 8 lines quarantined (--max-quarantine), so reading stopped early (--stop-early); nothing was processed or sent"
        + ". To list those found: engage-batch quarantine list --store \(request.storePath)"
    )
    #expect(try folder.quarantine().count == 9)
    request.maxQuarantine = 9
    // Nothing else is in it.
    request.allowsEmpty = true
    #expect(try folder.run(request).exit == .done)
  }
}
