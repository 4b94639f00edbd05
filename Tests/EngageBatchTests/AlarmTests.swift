import BatchFoundation
import LoopbackServer
import Testing

/// Who is told when nights begin to fail (`Report.alarm`).
@Suite("Alarms") struct AlarmTests {
  @Test("A failure and its end are told once each, to a webhook and to a program")
  func aFailureAndItsEndAreTold() throws {
    let webhook = try LoopbackServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.answer(200)
    }
    let workspace = try Workspace()
    let run = [
      "run", "jobs/nightly.json", "--sandbox", "--set",
      #"Report.alarmCommand=["sh", "-c", "cat >> told"]"#,
    ]
    let environment = ["ENGAGE_ALARM_URL": "http://127.0.0.1:\(webhook.port)/hook?key=canary"]
    for (arguments, code) in [(["--max-quarantine", "0"], 65), (["--max-quarantine", "0"], 65), ([], 0), ([], 0)] {
      let finished = try workspace.run(run + arguments, environment: environment)
      #expect(finished.code == Int32(code), "\(finished.messages)")
      #expect(!finished.messages.contains("canary"))
    }
    let told = try webhook.arrivals.map { try JSONNode.parse($0.body) }
    #expect(told.map { $0["state"]?.string } == ["failed", "good"])
    #expect(told.map { $0["exit"]?.integer } == [65, 0])
    #expect(told.allSatisfy { $0["machine"]?.string?.isEmpty == false && $0["address"]?.string == "the sandbox" })
    #expect(told.first?["report"]?.string?.hasSuffix("/report.html") == true)
    #expect(told.first?["figures"]?["read"]?.integer == 36)
    #expect(told.first?["command"]?.string?.hasPrefix("engage-batch run ") == true)
    #expect(webhook.arrivals.first?.requestLine == "POST /hook?key=canary HTTP/1.1")
    let lines = try workspace.read("jobs/told").split(separator: "\n")
    #expect(try lines.map { try JSONNode.parse(Array($0.utf8))["state"]?.string } == ["failed", "good"])
  }

  /// It was told each time, and its end was not: the store had nothing of it.
  @Test("A failure before the store is opened is told once, and so is its end")
  func beforeTheStore() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "a b", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z", "store": "s.sqlite"}"#)
    let line = #"{"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"namedEvent","name":"n"}"# + "\n"
    for (input, code) in [(line, 0), (nil, 66), (nil, 66), (line, 0), (line, 0), (nil, 66)] as [(String?, Int32)] {
      if let input { try workspace.write("in.ndjson", input) } else { _ = try workspace.shell("rm -f in.ndjson") }
      let run = try workspace.run(
        "run", "job.json", "--no-upload", "--set", #"Report.alarmCommand=["sh", "-c", "cat >> told"]"#)
      #expect(run.code == code, "\(run.messages)")
      #expect(workspace.exists("s.sqlite.failed-a-b") == (code == 66))
    }
    let told = try workspace.read("told").split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
    #expect(told.map { $0["state"]?.string } == ["failed", "good", "failed"])
    #expect(told.map { $0["exit"]?.integer } == [66, 0, 66])
  }

  /// An alarm that reached nobody was no word of the run's.
  @Test(
    "A command that cannot start or that fails is a warning",
    arguments: [
      ("/absent/program", "could not be started"), ("false", "failed: exit code 1"),
      ("true", nil),
    ])
  func failedCommand(program: String, words: String?) throws {
    let workspace = try Workspace()
    let run = try workspace.run(
      "run", "jobs/nightly.json", "--sandbox", "--max-quarantine", "0", "--set", "Report.alarmCommand=[\"\(program)\"]")
    #expect(run.code == 65)
    let warnings = run.messages.split(separator: "\n").filter { $0.hasPrefix("warning: Report.alarmCommand") }
    #expect(warnings == (words.map { ["warning: Report.alarmCommand \($0)"] } ?? []))
  }
}
