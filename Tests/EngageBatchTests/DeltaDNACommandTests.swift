import BatchFoundation
import TestSupport
import Testing

@Suite("Commands about event schemas and campaigns") struct DeltaDNACommandTests {
  private func line(_ output: String) throws -> String { try JSONNode.parse(Array(output.utf8)).canonicalText }

  @Test("schema check counts what the shipped schema holds")
  func shippedSchema() throws {
    let workspace = try Workspace(["configs"])
    let found = try workspace.run("deltadna", "schema", "check", "configs/deltadna-schema.json")
    #expect(found.code == 0)
    #expect(found.messages == "")
    let report = try JSONNode.parse(Array(found.output.utf8))
    #expect(report.members?.map(\.key) == ["events", "parameters", "problems"])
    #expect(report["events"]?.integer == 29)
    #expect(report["problems"]?.array?.isEmpty == true)
  }

  @Test("schema check prints problems by their paths, says them in words, and ends with 65")
  func problems() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "s.json",
      "{\"events\": [{\"name\": \"2x\"},\n {\"name\": \"a\", \"parameters\": [{\"name\": \"b\", \"type\": \"MIXED\"}]}]}"
    )
    let found = try workspace.run("deltadna", "schema", "check", "s.json")
    #expect(found.code == 65)
    #expect(
      try line(found.output)
        == #"{"events":2,"parameters":1,"problems":[{"path":"/events/0/name","problem":"badName"},{"path":"/events/1/parameters/0/type","problem":"badType"}]}"#
    )
    #expect(found.messages.contains("s.json:1:22: error: 2x: '2x' must start with a letter"))
    try workspace.write("t.json", "{\"events\": [")
    #expect(try workspace.run("deltadna", "schema", "check", "t.json").code == 65)
    #expect(try workspace.run("deltadna", "schema", "check", "none.json").code == 66)
    #expect(try workspace.run("deltadna", "schema", "check").code == 64)
  }

  @Test("A document without an end is refused from standard input, and not kept in memory")
  func endlessDocument() throws {
    let found = try Workspace([]).shell("yes | timeout 60 engage-batch deltadna schema check -")
    #expect(found.code == 66)
    #expect(found.messages == "-: error: it is larger than 16777216 bytes\n")
  }

  @Test("schema infer learns from what a run makes of exports, however old they are")
  func infer() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in/a.ndjson",
      """
      {"deviceId":"d-1","timestamp":"2020-01-05T10:00:00Z","type":"launch","device":{"osName":"iOS","appVersion":"3.1"}}
      {"deviceId":"d-1","timestamp":"2020-01-05T10:00:01Z","type":"gameEvent","name":"levelUp","params":{"level":4,"at":"2020-01-05 10:00:01.000","tags":["a"]}}
      {"deviceId":"d-1","timestamp":"2020-01-05T10:00:02Z","type":"gameEvent","name":"levelUp","params":{"level":4.5,"mode":null}}
      {"deviceId":"d-1","timestamp":"2020-01-05T10:00:03Z","type":"namedEvent","name":"PLAYER LOADED"}
      {"deviceId":"d-1","timestamp":"2020-01-05T10:00:04Z","type":"terminate"}
      no record
      """)
    let found = try workspace.run("deltadna", "schema", "infer", "in")
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.messages.contains("1 line is not a record and was skipped"))
    try workspace.write("schema.json", found.output)
    #expect(try workspace.run("deltadna", "schema", "check", "schema.json").code == 0)
    let schema = try JSONNode.parse(Array(found.output.utf8))
    #expect(
      schema["events"]?.array?.compactMap { $0["name"]?.string } == [
        "clientDevice", "gameEnded", "gameStarted", "levelUp", "newPlayer",
      ])
    #expect(
      schema["events"]?.array?[3].canonicalText
        == #"{"count":2,"name":"levelUp","parameters":[{"count":1,"name":"at","type":"TIMESTAMP"},"#
        + #"{"count":2,"name":"level","required":true,"type":"FLOAT"},{"count":2,"name":"platform","required":true,"type":"STRING"},"#
        + #"{"count":2,"name":"sdkVersion","required":true,"type":"STRING"},{"count":1,"items":{"type":"STRING"},"name":"tags","type":"ARRAY"}]}"#
    )
    #expect(try workspace.run("deltadna", "schema", "infer", "none").code == 66)
    #expect(try workspace.run("deltadna", "schema", "infer").code == 64)
  }

  @Test("triggers explain says what each trigger answers, also to an event on stdin")
  func triggers() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "c.json",
      """
      {"transactionID": 1, "parameters": {"eventsWhitelist": ["levelUp"], "triggers": [
        {"eventName": "levelUp", "campaignID": 1, "variantID": 10, "priority": 2, "limit": 0},
        {"eventName": "levelUp", "campaignID": 2, "variantID": 20, "condition": [{"p": "level"}, {"i": "4"}, {"o": "greater than"}]},
        {"eventName": "other", "campaignID": 3}]}}
      """)
    try workspace.write("e.json", #"{"eventName":"levelUp","userID":"u","eventParams":{"level":4.5}}"#)
    let found = try workspace.run("deltadna", "triggers", "explain", "--configuration", "c.json", "--event", "e.json")
    #expect(found.code == 0, "\(found.messages)")
    #expect(
      try line(found.output)
        == #"[{"campaignID":1,"result":"limit","variantID":10},{"campaignID":2,"result":"responds","variantID":20}]"#)
    let piped = try workspace.shell(
      #"echo '{"eventName":"levelUp","eventParams":{"level":4}}' | engage-batch deltadna triggers explain --configuration c.json --event -"#
    )
    #expect(piped.code == 0, "\(piped.messages)")
    #expect(
      try line(piped.output)
        == #"[{"campaignID":1,"result":"limit","variantID":10},{"campaignID":2,"result":"condition","variantID":20}]"#)
    try workspace.write("f.json", #"{"eventName":"other","eventParams":{}}"#)
    #expect(
      try line(
        workspace.run("deltadna", "triggers", "explain", "--configuration", "c.json", "--event", "f.json").output)
        == "[]")
  }

  @Test("triggers explain tells apart a bad configuration, a bad event and a missing file")
  func refusals() throws {
    let workspace = try Workspace([])
    try workspace.write("c.json", #"{"parameters": {"eventsWhitelist": []}}"#)
    try workspace.write("bad.json", #"{"parameters": {"triggers": [{"eventName": 5}]}}"#)
    try workspace.write("e.json", #"{"eventName":"e","eventParams":{}}"#)
    try workspace.write("no.json", #"{"eventName":"e"}"#)
    func explain(_ configuration: String, _ event: String) throws -> Finished {
      try workspace.run("deltadna", "triggers", "explain", "--configuration", configuration, "--event", event)
    }
    let warned = try explain("c.json", "e.json")
    #expect(warned.code == 0)
    #expect(
      warned.messages.contains("c.json:1:36: warning: 'parameters.eventsWhitelist' is empty; nothing is filtered"))
    let refused = try explain("bad.json", "e.json")
    #expect(refused.code == 78)
    #expect(
      refused.messages.contains(
        "bad.json:1:44: error: 'parameters.triggers[0].eventName' is an integer, but must be a string"))
    #expect(try explain("c.json", "no.json").code == 65)
    #expect(try explain("none.json", "e.json").code == 66)
    #expect(try explain("c.json", "none.json").code == 66)
  }
}
