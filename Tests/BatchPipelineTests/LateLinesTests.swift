import BatchFoundation
import BatchReport
import Testing

@testable import BatchPipeline

@Suite("Late lines of many devices") struct LateLinesTests {
  private static func lines(_ devices: Int, _ day: Int) -> String {
    (0..<devices).map {
      #"{"deviceId":"d\#($0)","timestamp":"2026-01-0\#(day)T00:00:00Z","type":"namedEvent","name":"n"}"# + "\n"
    }.joined()
  }

  /// Each device of a stretch counted the late lines of those before it, too.
  @Test("Each is counted once, however many devices are decided together", arguments: ["engage", "deltadna", "unity"])
  func countedOnce(destination: String) throws {
    let job = """
      {"name": "j", "destination": "\(destination)", "inputs": {"events": ["in/*"]}, "asOf": "2026-02-01T00:00:00Z",
       "store": "j.sqlite"}
      """
    // Several in each bucket.
    let devices = 700
    let folder = try JobFolder(["job.json": job, "in/a": Self.lines(devices, 5)])
    let strict = try folder.request("Ingest.lateRecords=quarantine")
    #expect(try folder.run(strict).report.summary.records.accepted == devices)
    try folder.write("in/a", Self.lines(devices, 6) + Self.lines(devices, 1))
    let records = try folder.run(strict).report.summary.records
    #expect([records.read, records.accepted, records.quarantined] == [1400, 700, 700])
  }
}
