import ArgumentParser
import BatchFoundation
import BatchPipeline
import FoundationEssentials
import StepPlatform
import TestSupport
import Testing

@testable import BatchCommands
@testable import BatchStore

/// A platform goes through every verb by being installed; no place of the core knows its name.
@Suite("Verbs of a platform that shares nothing with those of the product") struct PlatformVerbTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "engage-steps-\(UUID().uuidString)")

  private func verb(_ line: String) throws {
    let words = line.split(separator: " ").map { $0.hasPrefix("@") ? path($0.dropFirst()) : String($0) }
    var command = try EngageBatch.parseAsRoot(words)
    try command.run()
  }

  private func path(_ name: some StringProtocol) -> String { folder.appending(path: String(name)).path }

  private func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
  }

  @Test("It is begun, configured, run, reported, asked, compared and verified")
  func verbs() throws {
    defer {
      do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
    }
    let installed = InstalledPlatforms.all + [StepCommands(folder: path("requests"))]
    try InstalledPlatforms.$all.withValue(installed) {
      try verb("init @. --platform steps")
      #expect(try read("job.json").contains(#""destination": "steps""#))
      try verb("config check --job @job.json")
      try verb("config show --job @job.json")
      try verb("doctor --job @job.json")
      try verb("schema job")
      let job = "@job.json --from 2026-01-01 --to 2026-01-02 --as-of 2026-01-02T00:00:00Z"
      let kept = "var/\(folder.lastPathComponent).sqlite"
      try verb("run \(job) --summary @s.json")
      #expect(
        try read("requests/1") == #"{"at":1767225600000,"total":12,"who":"w"}"# + "\n"
          + #"{"at":1767225660000,"total":15,"who":"w"}"#)
      let summary = try JSONNode.parse(Array(read("s.json").utf8))
      #expect(summary["events"]?["byType"]?.compactText == #"{"steps":2}"#)
      try verb("report --store @\(kept) --report @report")
      let report = try #require(FileManager.default.contentsOfDirectory(atPath: path("report")).first)
      #expect(try read("report/\(report)/report.html").contains("steps"))
      try verb("history --store @\(kept)")
      try verb("compare \(job) --with Ingest.workers=1 --html @compare.html")
      let store = try EventStore.openReading(path(kept), format: StepPlatform(folder: "").storeFormat)
      var ids: [String] = []
      try store.ledger.forEachEvent(EventFilter()) { event in
        ids.append("\(event.id)")
        return true
      }
      try store.close()
      #expect(ids.count == 2)
      for verb in ["why \(ids[0])", "why --device w", "store status", "store events", "store sessions"] {
        try self.verb("\(verb) --store @\(kept)")
      }
      try verb("verify @job.json")
    }
    #expect(throws: (any Error).self) { _ = try EngageBatch.parseAsRoot(["init", "x", "--platform", "steps"]) }
  }

  /// The schema of jobs lists destinations for editors.
  @Test func theSchemaOfJobsListsTheInstalledPlatforms() throws {
    let schema = try JSONNode.parse(Array(Checkout.text("configs/schemas/job.json").utf8))
    let listed = schema["properties"]?["destination"]?["anyOf"]?.array?.first?["enum"]?.array?.compactMap(\.string)
    #expect(listed == InstalledPlatforms.all.map(\.platform.name))
  }
}
