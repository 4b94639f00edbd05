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
    #expect(told.first?["figures"]?["read"]?.integer == 36)
    #expect(told.first?["command"]?.string?.hasPrefix("engage-batch run ") == true)
    #expect(webhook.arrivals.first?.requestLine == "POST /hook?key=canary HTTP/1.1")
    let lines = try workspace.read("jobs/told").split(separator: "\n")
    #expect(try lines.map { try JSONNode.parse(Array($0.utf8))["state"]?.string } == ["failed", "good"])
  }
}
