import BatchFoundation
import BatchReport
import BatchStore
import FoundationEssentials
import StepPlatform
import Testing

@testable import BatchPipeline

@Suite("A platform that shares nothing with those of the product") struct PlatformSeamTests {
  private static let day: Int64 = 1_767_225_600_000

  private func folder(_ lines: [String]) throws -> (JobFolder, requests: String) {
    let requests = FileManager.default.temporaryDirectory.appending(path: "engage-steps-\(UUID().uuidString)").path
    let folder = try JobFolder(
      [
        "job.json": """
        {"name": "j", "inputs": {"events": ["in/*"]}, "asOf": "2026-02-01T00:00:00Z", "destination": "steps",
         "store": "j.sqlite"}
        """,
        "in/1": lines.joined(separator: "\n"),
      ], platforms: Platforms([StepPlatform(folder: requests)]))
    return (folder, requests)
  }

  private func line(_ who: String, _ minutes: Int64, _ steps: Int) -> String {
    #"{"who":"\#(who)","at":\#(Self.day + minutes * 60_000),"steps":\#(steps)}"#
  }

  private func sent(_ requests: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: requests).sorted().map {
      String(decoding: try Data(contentsOf: URL(filePath: "\(requests)/\($0)")), as: UTF8.self)
    }
  }

  @Test("A job of it is read, decided, kept and sent")
  func run() throws {
    let (folder, requests) = try folder([
      line("b", 2, 5), line("a", 1, 10), line("a", 3, 20), #"{"who":"a"}"#, line("a", 1, 10),
    ])
    defer { removeFolder(requests) }
    var request = try folder.request()
    request.mode = .run
    request.eventsOut = "\(folder.path)/events"
    let outcome = try folder.run(request)
    #expect(outcome.exit == .done)
    #expect(outcome.report.failure == nil)
    let records = outcome.report.summary.records
    #expect([records.read, records.accepted, records.duplicates, records.quarantined] == [5, 3, 1, 1])
    #expect(outcome.report.summary.eventsByType == ["steps": 3])
    let first = #"{"at":\#(Self.day + 60_000),"total":10,"who":"a"}"#
    let second = #"{"at":\#(Self.day + 120_000),"total":5,"who":"b"}"#
    let third = #"{"at":\#(Self.day + 180_000),"total":30,"who":"a"}"#
    #expect(try sent(requests) == ["\(first)\n\(second)", third])
    #expect(try folder.text("events") == "\(first)\n\(second)\n\(third)\n")
    #expect(outcome.report.summary.store == ["SUCCESSFULLY_POSTED": 3])
  }

  @Test("A later run goes on from the states of its devices, a dry run changes nothing, and a post sends what waits")
  func laterRuns() throws {
    let (folder, requests) = try folder([line("a", 1, 10)])
    defer { removeFolder(requests) }
    #expect(try folder.run(folder.request()).report.summary.store == ["NOT_POSTED": 1])
    try folder.write("in/1", [line("a", 1, 10), line("a", 5, 1)].joined(separator: "\n"))
    var request = try folder.request()
    request.mode = .dryRun(sends: true)
    request.eventsOut = "\(folder.path)/dry"
    let dry = try folder.run(request)
    #expect(dry.report.summary.records.duplicates == 1)
    let waiting = #"{"at":\#(Self.day + 60_000),"total":10,"who":"a"}"#
    let new = #"{"at":\#(Self.day + 300_000),"total":11,"who":"a"}"#
    #expect(try folder.text("dry") == "\(waiting)\n\(new)\n")
    request.mode = .post
    request.eventsOut = nil
    #expect(try folder.run(request).report.summary.upload.eventsPosted == 1)
    #expect(try sent(requests) == [waiting])
  }

  @Test("A plan of changes cannot be had from a service that knows none")
  func plan() throws {
    let (folder, _) = try folder([line("a", 1, 10)])
    var request = try folder.request()
    request.mode = .dryRun(sends: true)
    request.planOut = "\(folder.path)/plan"
    let error = CommandError(
      .configuration, "error: a run only sends events to 'steps', so there is nothing to plan")
    #expect(throws: error) { try folder.run(request) }
  }

  private func removeFolder(_ path: String) {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      // Left for the system's own cleaning.
    }
  }
}
