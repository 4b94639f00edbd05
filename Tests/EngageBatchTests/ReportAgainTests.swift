import BatchFoundation
import FoundationEssentials
import Testing

/// Reports from the store, and of runs that failed.
@Suite("Reports later") struct ReportAgainTests {
  @Test("The report of a run can be had again, the same but for what came after the run ended")
  func again() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    let first = try #require(try workspace.report())
    let store = "var/nightly.sandbox.sqlite"
    let json = try workspace.run("report", "--store", store, "--format", "json")
    #expect(json.code == 0, "\(json.messages)")
    let again = try JSONNode.parse(Array(json.output.utf8))
    for key in ["job", "quarantine", "warnings", "identity", "activity", "configuration", "toDo", "unsent"] {
      #expect(again[key].map(Self.text) == first[key].map(Self.text), "\(key)")
    }
    #expect(
      try workspace.run("report", "--job", "jobs/nightly.json", "--sandbox").output.hasPrefix(
        "nightly: done with findings in "))
    let written = try workspace.run("report", "--store", store, "--run", "1", "--report", "out")
    #expect(written.code == 0, "\(written.messages)")
    #expect(try workspace.read(String(written.output.dropLast())).hasPrefix("<!doctype html>"))
    #expect(try workspace.run("report", "--store", store, "--run", "9").code == 64)
  }

  private static func text(_ node: JSONNode) -> String {
    switch node.value {
    case .array(let elements): "[" + elements.map(text).joined(separator: ",") + "]"
    case .object(let members): "{" + members.map { "\($0.key):\(text($0.value))" }.joined(separator: ",") + "}"
    default: node.scalar ?? "null"
    }
  }

  @Test("The report says what happened over time: events, sessions, their lengths, campaigns by name")
  func activity() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("validate", "jobs/nightly.json", "--report", "out").code == 65)
    let report = try #require(try workspace.reports(in: "out").first)
    let activity = try #require(report["activity"])
    let summary = try #require(report["summary"])
    let named = try #require(activity["events"]?.array?.first { $0["type"]?.string == "17" })
    #expect(named["firstDay"]?.string == "2026-01-15")
    #expect(named["perDay"]?.array?.compactMap(\.integer) == [8])
    #expect(activity["sessions"]?["started"]?["perDay"]?.array?.compactMap(\.integer) == [7])
    #expect(summary["sessions"]?["started"]?.integer == 7)
    #expect(activity["sessionLengths"]?.array?.compactMap { $0["sessions"]?.integer }.reduce(0, +) == 7)
    let campaigns = activity["campaigns"]?.array ?? []
    #expect(campaigns.compactMap { $0["set"]?.integer }.reduce(0, +) == 7)
    #expect(campaigns.compactMap { $0["expired"]?.integer }.reduce(0, +) == 1)
    let atlanta = try #require(campaigns.first { $0["name"]?.string == "atlanta-live" })
    #expect(atlanta["firstSet"]?.string == "2026-01-15T08:02:00.000Z")
    #expect((atlanta["events"]?.integer ?? 0) > 0)
    let html = try workspace.read(
      "out/" + FileManager.default.contentsOfDirectory(atPath: workspace.path + "/out")[0] + "/report.html")
    for heading in ["Events over time", "Sessions", "Session lengths", "Campaigns", "Quarantine"] {
      #expect(html.contains(">\(heading)</h2>"), "\(heading)")
    }
  }

  @Test("A run that fails before it stores anything leaves a report that says why")
  func failure() throws {
    let workspace = try Workspace()
    try workspace.write(
      "job.json",
      #"{"name": "none", "inputs": {"events": ["nothing/*.ndjson"]}, "reports": "out", "store": "s.sqlite"}"#)
    let finished = try workspace.run("run", "job.json", "--no-upload")
    #expect(finished.code == 66, "\(finished.messages)")
    let report = try #require(try workspace.reports(in: "out").first)
    #expect(report["exitCode"]?.integer == 66)
    #expect(report["failure"]?.string?.isEmpty == false)
  }

  @Test("Bad lines are shown by their shape, without what they say")
  func excerpt() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson", #"{"deviceId":"phone-77","timestamp":"2026-01-15","type":"lunch","note":"call Zoe"}"# + "\n")
    try workspace.write("job.json", #"{"name": "j", "inputs": {"events": ["in.ndjson"]}, "reports": "out"}"#)
    _ = try workspace.run("validate", "job.json")
    let html = try workspace.read(
      "out/" + FileManager.default.contentsOfDirectory(atPath: workspace.path + "/out")[0] + "/report.html")
    #expect(
      html.contains("{&quot;deviceId&quot;:&quot;xxxxx-99&quot;,&quot;timestamp&quot;:&quot;9999-99-99&quot;"),
      "\(html)")
    #expect(!html.contains("phone-77") && !html.contains("Zoe"))
  }

  @Test("The commands at the end of a report's page run as they are printed")
  func furtherQuestions() throws {
    for job in ["nightly", "game"] {
      let workspace = try Workspace()
      #expect(try workspace.run("run", "jobs/\(job).json", "--sandbox").code == 0)
      let page = try workspace.run("report", "--store", "var/\(job).sandbox.sqlite", "--format", "html").output
      let section = try #require(page.components(separatedBy: "Next questions").last)
      let commands = section.components(separatedBy: "<dd><code>").dropFirst().map {
        $0.components(separatedBy: "</code>")[0].replacing(/<[^>]+>/, with: "").replacing("&#39;", with: "'")
          .replacing("&amp;", with: "&")
      }
      #expect(commands.count == 4)
      for command in commands {
        let finished = try workspace.shell(command)
        // An event of the game waits in quarantine, so not everything arrived.
        let code: Int32 = job == "game" && command.contains(" verify ") ? 65 : 0
        #expect(finished.code == code, "\(command): \(finished.messages)")
      }
      #expect(try workspace.read("compare.html").hasPrefix("<!doctype html>"))
    }
  }
}
