import BatchFoundation
import TestSupport
import Testing

/// Answers that did not say what was wrong, or what to do about it.
@Suite("Answers in words") struct AnswerWordsTests {
  private static let game = """
    {"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-03-16T00:00:00Z",
     "store": "g.sqlite"}
    """

  /// Of `levelUp`, three on one day.
  private func store(day: String) throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      (0..<3).map {
        #"{"deviceId":"d","timestamp":"\#(day)T09:0\#($0):00Z","type":"gameEvent","name":"levelUp"}"# + "\n"
      }.joined())
    try workspace.write("job.json", Self.game)
    let run = try workspace.run("run", "job.json", "--no-upload")
    #expect(run.code == 0, "\(run.messages)")
    return workspace
  }

  /// They spoke of the inputs of a job, which nobody wrote.
  @Test("Files of the command line that are not there are no inputs of a job")
  func noJob() throws {
    let workspace = try Workspace([])
    let tried = try workspace.run("map", "try", "segment", "nope")
    #expect(tried.code == 66 && tried.messages == "no input: nothing matches 'nope'\n")
    let inferred = try workspace.run("deltadna", "schema", "infer", "nope")
    #expect(inferred.code == 66 && inferred.messages == "no input: nothing matches 'nope'\n", "\(inferred.messages)")
  }

  /// Neither the value nor the near one was named.
  @Test("A type that a map gives wrongly is told with the one that was perhaps meant")
  func typeOfAMap() throws {
    let workspace = try Workspace([])
    try workspace.write("in.ndjson", #"{"d":"1","t":1768464000,"n":"a"}"# + "\n")
    try workspace.write(
      "own.json",
      #"{"fields": {"deviceId": "d", "timestamp": "t", "name": "n", "type": {"constant": "namedEvnt"}}}"#)
    try workspace.write(
      "job.json", #"{"name": "j", "inputs": {"events": [{"path": "in.ndjson", "map": "own.json"}]}}"#)
    let found = try workspace.run("validate", "job.json")
    #expect(
      (found.output + found.messages).contains(
        "field 'type' has an unknown value: rule '1' of the map 'own.json' sets it to 'namedEvnt', did you mean 'namedEvent'?"
      ),
      "\(found.output)\(found.messages)")
  }

  /// Nothing was said at all.
  @Test("A map that is tried on a file without records says so")
  func noRecords() throws {
    let workspace = try Workspace([])
    try workspace.write("seg/empty.ndjson", "")
    let tried = try workspace.run("map", "try", "segment", "seg/empty.ndjson")
    #expect(tried.code == 0 && tried.messages == "seg/empty.ndjson: no records were found\n")
  }

  /// Only the first of the two was named.
  @Test("A record of consent without a choice is told both fields", arguments: ["engage", "deltadna"])
  func consent(destination: String) throws {
    let workspace = try Workspace([])
    try workspace.write("in.ndjson", #"{"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"consent"}"# + "\n")
    try workspace.write(
      "job.json", #"{"name": "c", "destination": "\#(destination)", "inputs": {"events": ["in.ndjson"]}}"#)
    let found = try workspace.run("validate", "job.json")
    #expect(
      (found.output + found.messages).contains("missing-field: field 'use' or 'export' is missing"),
      "\(found.output)\(found.messages)")
  }

  /// Neither the file nor the key was named, and nobody learned how a file is told from a preset.
  @Test("A map that is no preset is told with its job and its key, and how a file is written")
  func noPreset() throws {
    let workspace = try Workspace([])
    try workspace.write("in.ndjson", "")
    try workspace.write("job.json", #"{"name": "m", "inputs": {"events": [{"path": "in.ndjson", "map": "m"}]}}"#)
    let run = try workspace.run("run", "job.json", "--dry-run")
    #expect(run.code == 78)
    #expect(
      run.messages.contains(
        "job.json: error: 'map' in an entry of 'inputs.events' is 'm', but there is no such preset; "
          + "did you mean 'fcm'? the name of a file must contain a dot or a slash, such as './m'\n"), "\(run.messages)")
  }

  @Test("A type that no event has is asked about; one that events of another status have is not")
  func type() throws {
    let workspace = try store(day: "2026-03-15")
    let near = try workspace.run("store", "events", "--store", "g.sqlite", "--type", "levlUp")
    #expect(near.code == 0 && near.messages.contains("no such event; did you mean 'levelUp'?\n"), "\(near.messages)")
    let other = try workspace.run(
      "store", "events", "--store", "g.sqlite", "--type", "levelUp", "--status", "FAILED_POST")
    #expect(other.code == 0 && other.messages == "no such event\n", "\(other.messages)")
    let code = try workspace.run("store", "events", "--store", "g.sqlite", "--type", "17")
    #expect(code.messages.hasSuffix("no such event\n"), "\(code.messages)")
  }

  /// They were missing, each night again, and nothing repaired them.
  @Test("Events that are too old for a service are told apart from those that are missing")
  func expired() throws {
    let workspace = try store(day: "2025-11-15")
    let server = try CollectServer()
    let verified = try workspace.run(
      "verify", "job.json", "--format", "json", "--set", "DeltaDNA.collectURL=\(server.address)",
      environment: ["DELTADNA_ENVIRONMENT_KEY": "k"])
    #expect(verified.code == 0, "\(verified.messages)")
    let answer = try JSONNode.parse(Array(verified.output.utf8))
    #expect(answer["findings"]?.array?.isEmpty == true)
    let basis = answer["basis"]?["events"]?.string ?? ""
    #expect(
      basis.hasSuffix(
        "events were not sent, because they are older than Collect accepts (EXPIRED, DeltaDNA.oldestEvent, "
          + "DeltaDNA.furthestAhead); not counted as missing; will be sent by no run: relative to asOf, they are older than Collect "
          + "accepts. deltaDNA loads older data on request: ask its support (docs/reference/deltadna.md)"),
      "\(basis)")
    let listed = try workspace.run("store", "events", "--store", "g.sqlite", "--format", "json")
    let id = try #require(try JSONNode.parse(Array(listed.output.utf8)).array?.first?["id"]?.string)
    let why = try workspace.run("why", id, "--store", "g.sqlite")
    #expect(
      why.output.contains(
        "not in any request; each run and each 'post' checks again whether the service accepts events from that time"),
      "\(why.output)")
    #expect(!why.output.contains("no attempt yet"))
  }

  /// Only a missing file was named, beside which the store lay that was meant.
  @Test("A post in a sandbox whose store is not there names the one that the job has")
  func postInSandbox() throws {
    let workspace = try store(day: "2026-03-15")
    let post = try workspace.run("post", "job.json", "--sandbox")
    #expect(post.code == 66)
    let path = workspace.path
    #expect(
      post.messages.contains(
        "\(path)/g.sandbox.sqlite: error: no such store; to use the store at \(path)/g.sqlite, name it with --store\n"
      ),
      "\(post.messages)")
  }

  /// It knew only the store of the job itself.
  @Test("`store purge --sandbox` is about the store of the runs in a sandbox")
  func purgeInSandbox() throws {
    let workspace = try store(day: "2026-03-15")
    #expect(try workspace.run("run", "job.json", "--sandbox").code == 0)
    let purge = try workspace.run(
      "store", "purge", "job.json", "--sandbox", "--days", "0", "--as-of", "2026-03-17T00:00:00Z", "--format", "json")
    let summary = try Summary(purge.output)
    #expect(purge.code == 0 && summary["purged"] == 6, "\(purge.messages)\(purge.output)")
    let own = try workspace.run(
      "store", "purge", "job.json", "--days", "0", "--as-of", "2026-03-17T00:00:00Z", "--format", "json")
    #expect(try Summary(own.output)["purged"] == 0)
    #expect(try workspace.run("store", "purge", "--store", "g.sqlite", "--sandbox").code == 64)
  }
}
