import BatchReport
import Testing

@testable import BatchPipeline

@Suite("How to start a run again") struct RunRequestTests {
  @Test("A window that moves with the run stays where it was on the days after; a fixed one is the job's")
  func window() throws {
    func job(_ from: String, _ to: String) -> String {
      #"{"name": "j", "inputs": {"events": ["e"]}, "window": {"from": "\#(from)", "to": "\#(to)"}}"#
    }
    let folder = try JobFolder(["job.json": job("yesterday", "today")])
    let moving: [String] = try folder.request().invocation.run.words
    #expect(
      Array(moving.dropFirst(2))
        == ["--no-upload", "--from", "2026-03-31T00:00:00.000Z", "--to", "2026-04-01T00:00:00.000Z"])
    try folder.write("job.json", job("2025-12-01T00:00:00Z", "2025-12-02T00:00:00Z"))
    let fixed: [String] = try folder.request().invocation.run.words
    #expect(Array(fixed.dropFirst(2)) == ["--no-upload"])
  }

  @Test(
    "It is the same trial again, or none",
    arguments: [
      (RunMode.run, []), (.noUpload, ["--no-upload"]), (.dryRun(sends: true), ["--dry-run"]),
      (.dryRun(sends: false), ["--dry-run", "--no-upload"]),
    ])
  func mode(mode: RunMode, words: [String]) throws {
    let folder = try JobFolder(["job.json": #"{"name": "j", "inputs": {"events": ["e"]}}"#])
    var request = try folder.request()
    request.mode = mode
    #expect(Array(request.invocation.run.words.dropFirst(2)) == words)
  }
}
