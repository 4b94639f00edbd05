import BatchFoundation
import Testing

/// Events of an app that are checked before they are sent (`General.eventSchema`).
@Suite("Event schemas of apps") struct EventSchemaTests {
  private static let job = """
    {"name": "shop", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z", "store": "s.sqlite",
     "settings": {"General": {"eventSchema": "schema.json"}}}
    """

  private static let input = """
    {"deviceId":"d","timestamp":"2026-01-15T09:00:01Z","type":"namedEvent","name":"checkout","params":{"total":"9.50"}}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:02Z","type":"namedEvent","name":"checkout","params":{"totl":"4.20"}}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:03Z","type":"namedEvent","name":"chekout"}
    """

  private static func schema(_ more: String = "") -> String {
    """
    {"events": [{"name": "17 checkout", "parameters": [{"name": "Event Name", "type": "STRING"},
      {"name": "Campaign Name", "type": "STRING"}, {"name": "total", "type": "FLOAT"}\(more)]}]}
    """
  }

  private static func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("job.json", job)
    try workspace.write("in.ndjson", input)
    try workspace.write("schema.json", schema())
    return workspace
  }

  @Test("What does not fit is kept back with its findings, and goes out when the schema is wider")
  func checksAndReplays() throws {
    let workspace = try Self.workspace()
    let run = try workspace.run(
      "run", "job.json", "--sandbox", "--findings-out", "findings", "--summary", "s.json", "--report", "reports")
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(workspace.read("s.json"))["upload.eventsPosted"] == 1)
    #expect(run.messages.contains("checks"), "\(run.messages)")
    #expect(
      try workspace.read("findings")
        == #"{"eventTypeCode":"17","device":"d","eventTimestamp":"2026-01-15T09:00:02.000Z","findings":[{"id":"unknownParameter","path":"/attributes/totl"}]}"#
        + "\n"
        + #"{"eventTypeCode":"17","device":"d","eventTimestamp":"2026-01-15T09:00:03.000Z","findings":[{"id":"unknownEvent","path":"/eventTypeCode"}]}"#
        + "\n")
    let own = try #require(JSONNode.parse(Array(workspace.read("s.json").utf8))["engage"])
    #expect(own.canonicalText == #"{"findings":{"unknownEvent":1,"unknownParameter":1},"invalid":2}"#)
    let list = try workspace.run("quarantine", "list", "job.json", "--sandbox")
    #expect(
      list.output.contains(
        "event '17 checkout': unknownParameter at /attributes/totl (did you mean 'total'?)"), "\(list.output)")
    #expect(
      list.output.contains("event '17 chekout': unknownEvent at /eventTypeCode (did you mean '17 checkout'?)"),
      "\(list.output)")

    try workspace.write("schema.json", Self.schema(#", {"name": "totl", "type": "FLOAT"}"#))
    let replay = try workspace.run("quarantine", "replay", "job.json", "--sandbox", "--format", "json")
    #expect(replay.code == 0, "\(replay.messages)")
    let replayed = try Summary(replay.output)
    #expect(replayed["accepted"] == 1)
    #expect(replayed["stillQuarantined"] == 1)
    let post = try workspace.run("post", "job.json", "--sandbox", "--summary", "s.json")
    #expect(post.code == 0, "\(post.messages)")
    #expect(try Summary(workspace.read("s.json"))["upload.eventsPosted"] == 1)
  }

  @Test("Events that are kept back stand in the listing and on the page of all runs, of every platform")
  func countsInTheHistory() throws {
    let workspace = try Self.workspace()
    try workspace.write("job.json", Self.job.replacing("\"store\"", with: "\"reports\": \"reports\", \"store\""))
    // The page is there from the second run on.
    for _ in 0..<2 { #expect(try workspace.run("run", "job.json", "--no-upload").code == 0) }
    let rows = try JSONNode.parse(Array(workspace.run("history", "s.sqlite", "--format", "json").output.utf8))
    #expect(rows.array?.first?["quarantinedEvents"]?.integer == 2, "\(rows.text())")
    #expect(try workspace.read("reports/index.html").contains(#"data-label="quarantined">2</td>"#))
  }

  @Test func validateNamesTheLine() throws {
    let validate = try Self.workspace().run("validate", "job.json")
    #expect(validate.code == 65)
    let lines = validate.output.replacing(#/event:[0-9a-f-]{36}: /#, with: "")
    #expect(
      lines.contains(
        "in.ndjson:2: schema-invalid: event '17 checkout': unknownParameter at /attributes/totl (did you mean 'total'?)"
      ), "\(lines)\(validate.messages)")
  }

  @Test func anInferredSchemaTakesWhatItCameFrom() throws {
    let workspace = try Self.workspace()
    let inferred = try workspace.run("engage", "schema", "infer", "in.ndjson")
    #expect(inferred.code == 0, "\(inferred.messages)")
    #expect(
      try JSONNode.parse(Array(inferred.output.utf8))["events"]?.array?.compactMap { $0["name"]?.string }
        == ["17 checkout", "17 chekout"])
    try workspace.write("schema.json", inferred.output)
    #expect(try workspace.run("engage", "schema", "check", "schema.json").code == 0)
    #expect(try workspace.run("config", "check", "job.json").code == 0)
    #expect(try workspace.run("validate", "job.json").code == 0)
  }

  @Test func aSchemaThatCannotBeUsedEndsTheRun() throws {
    let workspace = try Self.workspace()
    try workspace.write("schema.json", #"{"events": [{"name": "17", "parameters": [{"name": "a", "type": "ARRAY"}]}]}"#)
    let run = try workspace.run("run", "job.json", "--sandbox")
    #expect(run.code == 78)
    #expect(run.messages.contains("schema.json:1:"), "\(run.messages)")
    let check = try workspace.run("config", "check", "job.json")
    #expect(check.code == 78)
    #expect(check.messages.contains("17.a: the type is 'ARRAY'; known types are "), "\(check.messages)")
  }
}
