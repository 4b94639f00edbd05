import BatchFoundation
import Testing

/// Events that were quarantined because of a schema that was too narrow.
@Suite("Invalid events of games") struct GameReplayTests {
  private static let job = """
    {"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z",
     "settings": {"DeltaDNA": {"eventSchema": "schema.json", "maxEventsPerRequest": 2}}}
    """

  private static let input = """
    {"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"consent","use":true,"export":true}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:01Z","type":"launch","mobileUserId":"p"}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:02Z","type":"gameEvent","name":"levelUp","params":{"level":4}}
    {"deviceId":"e","timestamp":"2026-01-15T09:00:02Z","type":"gameEvent","name":"levelUp","params":{"level":9007199254740993}}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:03Z","type":"gameEvent","name":"levelUp","params":{"level":"5"}}
    {"eventName":"levelUp","userID":"s","eventUUID":"aB-1","eventTimestamp":"2026-1-15 9:0:4","eventParams":{"platform":"WEB"}}
    """

  private static func schema(_ levels: String) -> String {
    """
    {"events": [{"name": "newPlayer"}, {"name": "gameStarted"}, {"name": "clientDevice"}\(levels)]}
    """
  }

  private static let fixed = schema(
    #", {"name": "levelUp", "parameters": [{"name": "level", "type": "INTEGER"}]}"#)

  @Test("A replay whose events cannot be written out tells its figures, and ends with 73 in history, too")
  func unwritable() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("in.ndjson", Self.input)
    try workspace.write("schema.json", Self.schema(""))
    #expect(try workspace.run("run", "job.json", "--no-upload", "--store", "s.sqlite").code == 0)
    try workspace.write("schema.json", Self.fixed)
    let replay = try workspace.run(
      "quarantine", "replay", "job.json", "--store", "s.sqlite", "--events-out", "/dev/null/x", "--format", "json")
    #expect(replay.code == 73)
    #expect(replay.messages.hasSuffix("/dev/null/x: error: cannot be written: Not a directory\n"), "\(replay.messages)")
    #expect(try Summary(replay.output)["accepted"] == 3)
    let history = try workspace.run("history", "--store", "s.sqlite", "--format", "json")
    let rows = try JSONNode.parse(Array(history.output.utf8)).array ?? []
    #expect(rows.map { $0["mode"]?.string } == ["no-upload", "replay"])
    #expect(rows.map { $0["ending"]?.integer } == [0, 73])
  }

  @Test("They are checked again by a replay, and go out once with the ids they had")
  func replay() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("in.ndjson", Self.input)
    try workspace.write("schema.json", Self.schema(""))
    func send(_ wanted: Int, out: String) throws {
      let run = try workspace.run(
        "run", "job.json", "--sandbox", "--store", "s.sqlite", "--events-out", out, "--summary", "s.json")
      #expect(run.code == 0, "\(run.messages)")
      #expect(try Summary(workspace.read("s.json"))["upload.eventsPosted"] == wanted)
    }
    try send(6, out: "first")
    #expect(try Summary(workspace.read("s.json"))["deltadna.invalid"] == 4)

    func replay() throws -> Summary {
      let replay = try workspace.run(
        "quarantine", "replay", "--job", "job.json", "--store", "s.sqlite", "--events-out", "replayed", "--format",
        "json")
      #expect(replay.code == 0, "\(replay.messages)")
      return try Summary(replay.output)
    }
    let ineffective = try replay()
    #expect(ineffective["read"] == 4)
    #expect(ineffective["stillQuarantined"] == 4)
    #expect(ineffective["quarantineReasons.schema-invalid"] == 4)

    try workspace.write("schema.json", Self.fixed)
    let replayed = try replay()
    #expect(replayed["accepted"] == 3)
    #expect(replayed["events"] == 3)
    #expect(replayed["stillQuarantined"] == 1)
    let list = try workspace.run("quarantine", "list", "--store", "s.sqlite", "--format", "json")
    #expect(list.output.contains("wrongType at /eventParams/level"))
    #expect(try replay()["accepted"] == 0)

    try send(3, out: "second")
    try send(0, out: "third")
    #expect(try workspace.read("third") == "")
    // The same events as of a job whose schema was right from the beginning.
    let right = try workspace.run("run", "job.json", "--dry-run", "--events-out", "-")
    let sent = try workspace.read("first") + workspace.read("second")
    #expect(sent.split(separator: "\n").sorted() == right.output.split(separator: "\n").sorted())
    #expect(try workspace.read("second").split(separator: "\n").count == 3)
  }

  @Test("They go out as they are once that is wanted, with the consent of their time")
  func send() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("in.ndjson", Self.input)
    try workspace.write("schema.json", Self.schema(""))
    #expect(try workspace.run("run", "job.json", "--no-upload", "--store", "s.sqlite").code == 0)
    let replay = try workspace.run(
      "quarantine", "replay", "--job", "job.json", "--store", "s.sqlite", "--set", "DeltaDNA.onInvalid=send")
    #expect(replay.messages.contains("4 quarantine entries tried: 4 accepted"))
    let events = try workspace.run("store", "events", "--store", "s.sqlite", "--format", "json")
    #expect(try JSONNode.parse(Array(events.output.utf8)).array?.count == 10)
    #expect(try workspace.run("quarantine", "list", "--store", "s.sqlite", "--format", "json").output == "[]\n")
  }
}
