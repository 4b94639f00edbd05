import BatchFoundation
import LoopbackServer
import Testing

/// Jobs with Unity Analytics as their destination, as people run them.
@Suite("Jobs for Unity Analytics") struct UnityJobTests {
  @Test("A game's job moves by its destination: the same events, and the sandbox takes them once")
  func moves() throws {
    let workspace = try Workspace()
    let game = try workspace.run("run", "jobs/game.json", "--dry-run", "--events-out", "-")
    let dry = try workspace.run("run", "jobs/unity.json", "--dry-run", "--events-out", "-")
    #expect(dry.code == 0, "\(dry.messages)")
    #expect(dry.output == game.output)
    let run = try workspace.run(
      "run", "jobs/unity.json", "--sandbox", "--events-out", "events.ndjson", "--summary", "s.json")
    #expect(run.code == 0, "\(run.messages)")
    #expect(try workspace.read("events.ndjson") == dry.output)
    let summary = try Summary(workspace.read("s.json"))
    #expect(summary["upload.eventsPosted"] == 23)
    #expect(summary["unity.invalid"] == 1)
    #expect(summary["unity.decisions.asked"] == 0)
    let again = try workspace.run("run", "jobs/unity.json", "--sandbox", "--summary", "s.json")
    #expect(again.code == 0, "\(again.messages)")
    #expect(try Summary(workspace.read("s.json"))["upload.eventsPosted"] == 0)
  }

  @Test("What is missing is named with its variable, before anything is decided")
  func needsAProject() throws {
    let workspace = try Workspace()
    let run = try workspace.run("run", "jobs/unity.json", "--store", "real.sqlite")
    #expect(run.code == 78)
    #expect(run.messages.contains("Unity.projectId is not set; set it, or UNITY_PROJECT_ID, or run with --sandbox"))
    #expect(run.messages.contains("Unity.environment is not set; set it, or UNITY_ENVIRONMENT, or run with --sandbox"))
  }

  @Test("Members without a value are left out; events of more than 31 days ago or 24 hours ahead expire, others go")
  func limits() throws {
    let workspace = try Workspace([])
    func event(_ time: String, _ params: String) -> String {
      #"{"deviceId":"d","timestamp":"\#(time)","type":"gameEvent","name":"levelUp","params":\#(params)}"#
    }
    try workspace.write(
      "in.ndjson",
      [
        event("2026-01-14T23:59:59.999Z", #"{"a":1}"#),
        event(
          "2026-01-15T00:00:00Z",
          #"{"a":"","b":null,"c":2,"d":{"e":null,"f":[""]},"g":[null,{"h":""},{"i":1}],"j":{},"k":[]}"#),
        event("2026-02-16T00:00:00Z", #"{"a":3}"#), event("2026-02-16T00:00:00.001Z", #"{"a":4}"#),
      ].joined(separator: "\n"))
    try workspace.write(
      "job.json",
      #"{"name": "u", "destination": "unity", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-15T00:00:00Z","#
        + #""settings": {"DeltaDNA": {"onFirstRunSendNewPlayerEvent": false, "onStartSendGameStartedEvent": false, "#
        + #""onStartSendClientDeviceEvent": false}}}"#)
    let run = try workspace.run("run", "job.json", "--dry-run", "--events-out", "-", "--summary", "s.json")
    #expect(run.code == 0, "\(run.messages)")
    let parameters = try run.lines.map { try JSONNode.parse(Array($0.utf8))["eventParams"]?.canonicalText ?? "" }
    #expect(
      parameters == [
        #"{"c":2,"g":[{"i":1}],"platform":"UNKNOWN","sdkVersion":"engage-batch"}"#,
        #"{"a":3,"platform":"UNKNOWN","sdkVersion":"engage-batch"}"#,
      ])
    #expect(try Summary(workspace.read("s.json"))["unity.expired"] == 2)
    #expect(run.messages.contains("outside the time range that Unity Analytics accepts"), "\(run.messages)")
  }

  @Test("The settings say where requests go, and a wrong address is an error of the configuration")
  func settings() throws {
    let workspace = try Workspace()
    let server = try LoopbackServer { connection in
      while connection.readRequest() != nil { connection.answer(404) }
    }
    let run = try workspace.run(
      ["run", "jobs/unity.json", "--store", "real.sqlite"],
      environment: [
        "UNITY_COLLECT_URL": "http://127.0.0.1:\(server.port)/v1", "UNITY_PROJECT_ID": "p-1",
        "UNITY_ENVIRONMENT": "production",
      ])
    #expect(run.code == 78, "\(run.messages)")
    #expect(server.arrivals.first?.requestLine == "POST /v1/projects/p-1/environments/production HTTP/1.1")
    let status = try workspace.run("store", "status", "--store", "real.sqlite")
    #expect(status.messages.contains(", environment p-1/production"), "\(status.messages)")
  }

  @Test("What would be different at Unity Analytics is told by compare")
  func compare() throws {
    let run = try Workspace().run("compare", "jobs/game.json", "--with", "destination=unity")
    #expect(run.code == 0, "\(run.messages)")
    #expect(run.output.contains("destination: deltadna -> unity"), "\(run.output)")
  }
}
