import FoundationEssentials
import Testing

/// `outbox` of a job: requests go to a folder in place of the service (reference formats 1.1).
@Suite("Outbox") struct OutboxTests {
  private func job(_ more: String = "") -> String {
    """
    {"name": "j", "inputs": {"events": ["in.ndjson"]}, "outbox": "out", "asOf": "2026-01-02T00:00:00Z",
     "settings": {"Upload": {"maxEventsPerRequest": 2}}\(more)}
    """
  }

  private func workspace(_ job: String) throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("job.json", job)
    try workspace.write(
      "in.ndjson",
      (0..<5).map {
        #"{"deviceId":"d","timestamp":"2026-01-01T08:0\#($0):00Z","type":"goalCompleted","name":"goal \#($0)","mobileUserId":"u"}"#
      }.joined(separator: "\n"))
    return workspace
  }

  private func bodies(_ workspace: Workspace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: workspace.path + "/out").map { try workspace.read("out/\($0)") }
  }

  @Test("Every event stands in one body, as it would be sent; a second run adds nothing")
  func bodiesBecomeFiles() throws {
    let workspace = try workspace(job())
    let first = try workspace.run("run", "job.json", "--events-out", "-", "--summary", "summary.json")
    #expect(first.code == 0, "\(first.messages)")
    #expect(first.lines.count >= 5)
    let written = try bodies(workspace)
    #expect(written.count == (first.lines.count + 1) / 2)
    #expect(written.allSatisfy { $0.hasPrefix(#"{"events":[{"#) && $0.hasSuffix("}]}") })
    let events = written.flatMap { $0.components(separatedBy: #"{"eventTypeCode""#).dropFirst() }
    #expect(events.count == first.lines.count)
    #expect(try Summary(workspace.read("summary.json"))["upload.eventsPosted"] == first.lines.count)
    #expect(try workspace.run("run", "job.json").code == 0)
    #expect(try bodies(workspace).sorted() == written.sorted())
  }

  @Test("Sorted by name, files are in the order of the requests")
  func order() throws {
    let workspace = try workspace(job())
    #expect(try workspace.run("run", "job.json").code == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: workspace.path + "/out").sorted()
    #expect(names.map { $0.prefix(9) } == (1...names.count).map { "0000000\($0)-" })
    let goals = try names.map { try workspace.read("out/\($0)") }.joined().components(separatedBy: "goal ").dropFirst()
    #expect(goals.map { $0.prefix(1) } == ["0", "1", "2", "3", "4"])
  }

  @Test("78: what went to a folder is not sent to a service as well")
  func otherDestination() throws {
    let workspace = try workspace(job())
    #expect(try workspace.run("run", "job.json").code == 0)
    try workspace.write("job.json", job().replacing(#""outbox": "out", "#, with: ""))
    let refused = try workspace.run("run", "job.json", environment: try Service().environment)
    #expect(refused.code == 78)
    #expect(refused.messages.contains("engage at the folder \(workspace.path)/out"), "\(refused.messages)")
  }

  @Test("78: nobody can be asked who is who; 73: a folder that cannot be made")
  func refused() throws {
    let identity = try workspace(job(#", "identity": true"#))
    let asked = try identity.run("run", "job.json")
    #expect(asked.code == 78)
    #expect(
      asked.messages.contains(
        "job.json:1: error: 'outbox' replaces the service, which 'identity' needs; remove one of them"
      ), "\(asked.messages)")
    let blocked = try workspace(job())
    try blocked.write("out", "a file")
    let run = try blocked.run("run", "job.json")
    #expect(run.code == 73, "\(run.messages)")
    #expect(run.messages.contains("cannot write to the 'outbox' folder '\(blocked.path)/out'"))
    #expect(try blocked.read("out") == "a file")
  }
}
