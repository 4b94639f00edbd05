import BatchFoundation
import FoundationEssentials
import Testing

/// `report.json` and `report.html` of real runs: what the documents promise is there.
@Suite("Reports of runs") struct ReportTests {
  private func report(_ workspace: Workspace, _ folder: String) throws -> (json: JSONNode, html: String) {
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/\(folder)")
    let name = try #require(names.first)
    #expect(names.count == 1)
    let json = try JSONNode.parse(Array(workspace.read("\(folder)/\(name)/report.json").utf8))
    return (json, try workspace.read("\(folder)/\(name)/report.html"))
  }

  private func isNull(_ node: JSONNode?) -> Bool {
    if case .null? = node?.value { true } else { false }
  }

  private func texts(_ node: JSONNode?, _ key: String) -> [String] {
    (node?.array ?? []).compactMap { $0[key]?.string }
  }

  @Test("A run names its merges, its stages with their times, its attempts, and the lines it quarantined")
  func ofARun() throws {
    let workspace = try Workspace()
    let finished = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--report", "out", "--events-out", "e")
    #expect(finished.code == 0, "\(finished.messages)")
    let (json, html) = try report(workspace, "out")
    #expect(Set(texts(json["identity"], "scenario")) == ["location", "mark-merged", "move-mobile-user-id", "set-ids"])
    #expect(texts(json["identity"], "state") == ["done", "done", "done", "done"])
    #expect(texts(json["identity"], "device").allSatisfy { $0.utf8.count == 16 })
    #expect(texts(json["stages"], "name") == ["records and rules", "identity", "delivery", "event file"])
    #expect(json["upload"]?["attempts"]?["acknowledged"]?.integer == 1)
    #expect(json["upload"]?["attempts"]?.members?.count == 1)
    #expect(texts(json["quarantine"], "reason") == ["invalid-timestamp", "invalid-json"])
    #expect(json["warnings"]?.array?.isEmpty == false)
    #expect(isNull(json["failure"]))
    for heading in ["Time", "Upload", "Identity plans", "Quarantine", "Warnings"] {
      #expect(html.contains("\">\(heading)"), "\(heading)")
    }
    #expect(html.contains("move-mobile-user-id") || html.contains("mark-merged"))
  }

  @Test("A run whose service is not there says why it ended early, and what its attempts came to")
  func ofAFailure() throws {
    let workspace = try Workspace()
    var environment = try Service().environment
    environment["ENGAGE_BASE_URL"] = "http://127.0.0.1:1"
    let job = try workspace.read("jobs/nightly.json").replacing("\"identity\": true", with: "\"identity\": false")
    try workspace.write("jobs/events.json", job)
    let finished = try workspace.run(
      ["run", "jobs/events.json", "--report", "out", "--set", "Recipient.enableAutoAnonymousTracking=false"]
        + ServiceExitCodeTests.hasty, environment: environment)
    #expect(finished.code == 69)
    let (json, html) = try report(workspace, "out")
    let failure = try #require(json["failure"]?.string)
    #expect(failure.hasPrefix("sending stopped early: the service could not be reached or kept failing, "))
    #expect(finished.messages.contains(failure))
    #expect(html.contains("sending stopped early"))
    #expect((json["upload"]?["attempts"]?["not sent"]?.integer ?? 0) > 0)
    #expect(json["upload"]?["stop"]?.string != nil)
    #expect(json["exitCode"]?.integer == 69)
    #expect(json["toDo"]?.array?.isEmpty == false)
  }

  @Test("An output that cannot be written ends with 73, and summary and report are there all the same")
  func ofAnOutputThatCannotBeWritten() throws {
    let workspace = try Workspace()
    let finished = try workspace.run(
      "run", "jobs/nightly.json", "--sandbox", "--report", "out", "--events-out", "none/e.ndjson")
    #expect(finished.code == 73, "\(finished.messages)")
    #expect(finished.messages.contains("exit code 73"))
    let (json, _) = try report(workspace, "out")
    #expect(json["failure"]?.string?.contains("none/e.ndjson") == true)
    #expect(json["summary"]?["upload"]?["eventsPosted"]?.integer == 37)
  }

  @Test(
    "Runs that change nothing write the report and name bad lines with their places", arguments: ["validate", "run"])
  func withoutAStore(command: String) throws {
    let workspace = try Workspace()
    let before = try workspace.listing()
    let more = command == "run" ? ["--dry-run"] : []
    let finished = try workspace.run([command, "jobs/nightly.json", "--report", "out"] + more)
    #expect(finished.code == (command == "run" ? 0 : 65))
    let (json, _) = try report(workspace, "out")
    #expect(json["mode"]?.string == "dry-run")
    #expect(isNull(json["store"]))
    let places = (json["quarantine"]?.array ?? []).map { entry in
      "\(entry["file"]?.string ?? ""):\(entry["line"]?.integer ?? 0): \(entry["reason"]?.string ?? "")"
    }
    #expect(places.count == 2)
    for place in places { #expect((finished.output + finished.messages).contains(place), "\(finished)") }
    #expect(json["summary"]?["records"]?["quarantined"]?.integer == 2)
    let after = try workspace.listing().filter { !$0.hasPrefix("out") }
    #expect(after == before)
  }
}
