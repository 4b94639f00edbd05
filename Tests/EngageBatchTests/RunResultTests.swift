import Testing

/// What a run leaves for build servers, and what a dry run says of the run it stands for.
@Suite("Results of runs") struct RunResultTests {
  @Test("A run with quarantined lines is JUnit XML with a failure for each; the report says the same again")
  func junit() throws {
    let workspace = try Workspace()
    try workspace.write("samples/events/bad.ndjson", "{\n[1]\n")
    let finished = try workspace.run("run", "jobs/nightly.json", "--no-upload", "--junit", "run.xml")
    #expect(finished.code == 0, "\(finished.messages)")
    let written = try workspace.read("run.xml")
    #expect(written.contains(#"<testcase classname="nightly" name="the run is done"/>"#), "\(written)")
    #expect(written.contains(#"samples/events/bad.ndjson" name="line 1">"#), "\(written)")
    #expect(written.contains(#"type="invalid-json">Write one JSON object per line"#), "\(written)")
    #expect(written.contains(#"type="not-an-object">Write one JSON object per line.</failure>"#), "\(written)")
    let again = try workspace.run("report", "--store", "var/nightly.sqlite", "--format", "junit")
    // The report was kept before the time of the run was known to the end.
    #expect(again.lines.dropFirst(3) == written.split(separator: "\n").map(String.init).dropFirst(3))
  }

  @Test("A run that fails before it begins says so in its JUnit XML")
  func failure() throws {
    let workspace = try Workspace()
    let finished = try workspace.run(
      "run", "jobs/nightly.json", "--junit", "run.xml", "--set", "General.databaseListId=1")
    #expect(finished.code == 78, "\(finished.messages)")
    let written = try workspace.read("run.xml")
    #expect(written.contains(#"tests="1" failures="1""#), "\(written)")
    #expect(written.contains(#"type="exit code 78""#), "\(written)")
  }

  @Test("A dry run and the doctor estimate what is to be sent")
  func estimate() throws {
    let workspace = try Workspace()
    let dry = try workspace.run("run", "jobs/nightly.json", "--dry-run")
    #expect(dry.code == 0)
    let line = dry.messages.split(separator: "\n").first { $0.hasPrefix("Estimate: ") }
    let words = try #require(line.map(String.init))
    #expect(words.hasPrefix("Estimate: a run would send "), "\(words)")
    #expect(words.contains("identity checks with 1 to 10 calls each; one access token for all"), "\(words)")
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload", "--sandbox").code == 0)
    let doctor = try workspace.run(
      "doctor", "--job", "jobs/nightly.json", "--sandbox", "--set", "General.databaseListId=1")
    #expect(doctor.messages.contains("good; a run would send "), "\(doctor.messages)")
  }

  @Test("The doctor counts the files that a run would read, and warns where there are none")
  func inputs() throws {
    let workspace = try Workspace()
    let there = try workspace.run("doctor", "--job", "jobs/nightly.json", "--sandbox")
    #expect(there.messages.contains("\nok: inputs: "), "\(there.messages)")
    try workspace.write(
      "empty.json",
      #"{"name": "e", "destination": "engage", "configuration": ["configs/EngageConfig.json"], "inputs": {"events": ["no/*"]}}"#
    )
    let none = try workspace.run("doctor", "--job", "empty.json", "--sandbox")
    #expect(none.messages.contains("\nwarning: inputs: no input: nothing matches '"), "\(none.messages)")
    #expect(
      none.messages.contains("/no/*' ('inputs' of the job); a run now would end with exit code 66\n"),
      "\(none.messages)")
  }

  @Test("A replay takes in again what a run with a sandbox quarantined, and a requeue of nothing says so")
  func sandboxStore() throws {
    let workspace = try Workspace()
    try workspace.write("samples/events/bad.ndjson", "{\n")
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    let replay = try workspace.run("quarantine", "replay", "--job", "jobs/nightly.json", "--sandbox")
    #expect(replay.code == 0, "\(replay.messages)")
    #expect(replay.messages.contains(" still quarantined"), "\(replay.messages)")
    let requeue = try workspace.run(
      "store", "requeue", "--store", "var/nightly.sandbox.sqlite", "--status", "FAILED_POST")
    #expect(requeue.messages == "no event has the status FAILED_POST; nothing was changed\n")
  }
}
