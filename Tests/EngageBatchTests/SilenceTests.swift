import BatchFoundation
import TestSupport
import Testing

/// What says "fine" is fine: exit codes and words of runs that could use nothing, and of what is no fault.
@Suite("Silence is no success") struct SilenceTests {
  static func line(_ device: String, _ time: String) -> String {
    #"{"deviceId":"\#(device)","timestamp":"2026-01-\#(time):00Z","type":"namedEvent","name":"n","mobileUserId":"m"}"#
      + "\n"
  }

  private func workspace(_ more: String = "") throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": ["in/*"]}, "store": "j.sqlite", "asOf": "2026-01-20T00:00:00Z"\#(more)}"#)
    return workspace
  }

  private func events(_ workspace: Workspace) throws -> String {
    try workspace.run("store", "events", "--store", "j.sqlite", "--format", "json").output
  }

  @Test(
    "A window of the wrong year ends with 65 and the span of the records, in run and validate; --allow-empty goes on")
  func wrongYear() throws {
    let workspace = try workspace(#", "window": {"from": "2025-01-01", "to": "2025-01-02"}"#)
    try workspace.write("in/a", Self.line("d", "15T08:00") + Self.line("d", "15T09:00"))
    let words =
      "all 2 records are outside the window 2025-01-01T00:00:00.000Z to 2025-01-02T00:00:00.000Z: from 2026-01-15T08:00:00.000Z to 2026-01-15T09:00:00.000Z\n"
    for command in [["run", "job.json", "--sandbox"], ["run", "job.json", "--dry-run"], ["validate", "job.json"]] {
      let finished = try workspace.run(command)
      #expect(finished.code == 65, "\(finished.messages)")
      #expect(finished.messages.contains("error: \(words)"), "\(finished.messages)")
      #expect(
        finished.messages.contains("- No line was usable. Correct the job or the export, then: engage-batch run "))
      #expect(!finished.messages.contains("no findings"))
      #expect(try workspace.run(command + ["--allow-empty"]).code == 0)
    }
  }

  @Test("Lines of another shape end with 65; what the store held before is sent by post")
  func wrongShape() throws {
    let workspace = try workspace()
    try workspace.write("in/a", Self.line("d", "15T08:00"))
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let before = try events(workspace)
    try workspace.write("in/a", String(repeating: #"{"anonymousId":"a","event":"e"}"# + "\n", count: 3))
    let service = try Service()
    let finished = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(finished.code == 65, "\(finished.messages)")
    #expect(finished.messages.contains("error: 3 x missing-field: field 'deviceId' is missing"), "\(finished.messages)")
    #expect(
      finished.messages.contains(
        "events are pending in the store. The next run that is not refused sends them; "
          + "to send now: engage-batch post "),
      "\(finished.messages)")
    let summary = try Summary(finished.output)
    #expect(
      summary.text("records")
        == #"{"read":3,"accepted":0,"duplicates":0,"outOfWindow":0,"forgotten":0,"leftOut":0,"quarantined":3}"#)
    #expect(summary["upload.eventsPending"] > 0 && summary["upload.requests"] == 0)
    #expect(try events(workspace) == before)
    let history = try workspace.run("history", "--store", "j.sqlite", "--format", "json")
    #expect(try JSONNode.parse(Array(history.output.utf8)).array?.map { $0["ending"]?.integer } == [0, 65])
    #expect(try workspace.run("quarantine", "list", "--all", "--store", "j.sqlite").lines.count == 4)
    #expect(try workspace.run("post", "job.json", environment: service.environment).code == 0)
  }

  @Test("Links among events are called what they are")
  func linksAmongEvents() throws {
    let workspace = try workspace()
    try workspace.write("in/a", "2026-01-15T08:00:00Z\td\tapp://shop/1\nhttps://shop.example/2\n")
    let run = try workspace.run("run", "job.json", "--no-upload")
    #expect(
      run.code == 65
        && run.messages.contains("invalid-json: a link, not an object; list its file under 'deepLinks' in 'inputs'"),
      "\(run.messages)")
  }

  @Test("A gz that is cut before its first line ends with 65, an empty file with 0")
  func damaged() throws {
    let workspace = try workspace()
    try workspace.write("in/a", Self.line("d", "15T08:00"))
    #expect(try workspace.shell("cd in && gzip -n a && head -c 12 a.gz > b.gz && rm a.gz").code == 0)
    let finished = try workspace.run("run", "job.json", "--no-upload")
    #expect(finished.code == 65 && finished.messages.contains("error: 1 x damaged-file: "), "\(finished.messages)")
    #expect(try workspace.shell("rm in/b.gz && touch in/c").code == 0)
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
  }

  @Test("Windows of a backfill are judged together: one with records is enough, none is 65 before any is read")
  func backfill() throws {
    let workspace = try workspace()
    try workspace.write("in/a", Self.line("d", "17T08:00"))
    let backfill = ["backfill", "job.json", "--to", "2026-01-18", "--no-upload", "--from"]
    let none = try workspace.run(backfill + ["2026-01-14", "--to", "2026-01-16"])
    #expect(none.code == 65, "\(none.messages)")
    #expect(
      none.messages.contains(
        "error: the only record is outside the window 2026-01-14T00:00:00.000Z to 2026-01-15T00:00:00.000Z: "))
    #expect(none.messages.contains("backfill: 0 windows done"))
    let some = try workspace.run(backfill + ["2026-01-15"])
    #expect(some.code == 0, "\(some.messages)")
    #expect(
      some.messages.contains("backfill: 3 windows done, 0 done before, 0 without input: 3 read, 1 accepted"),
      "\(some.messages)")
    let history = try workspace.run("history", "--store", "j.sqlite", "--format", "json")
    #expect(try JSONNode.parse(Array(history.output.utf8)).array?.map { $0["ending"]?.integer } == [65, 0, 0, 0])
    // A day of another shape among others that were read.
    try workspace.write("in/a", "{}\n")
    let shape = try workspace.run("backfill", "job.json", "--from", "2026-01-17", "--to", "2026-01-19", "--no-upload")
    #expect(shape.code == 0, "\(shape.messages)")
    #expect(
      shape.messages.contains(
        "0 accepted, 1 quarantined, 0 events, 0 posted; no usable record, so the window does not count as done\n"),
      "\(shape.messages)")
    // Put right, the same command reads it.
    try workspace.write("in/a", Self.line("d", "18T08:00"))
    let again = try workspace.run("backfill", "job.json", "--from", "2026-01-17", "--to", "2026-01-19", "--no-upload")
    #expect(again.messages.contains("backfill: 1 window done, 1 done before, 0 without input: 1 read, 1 accepted"))
  }

  @Test("Parts are judged by collect: partition and decide go on, and collect keeps the quarantine alone")
  func parts() throws {
    let workspace = try workspace()
    try workspace.write("in/a", "{}\n[]\n")
    func run(_ code: Int32, _ words: String) throws -> String {
      let finished = try workspace.run(words.split(separator: " ").map(String.init))
      #expect(finished.code == code, "\(words): \(finished.messages)")
      return finished.messages
    }
    _ = try run(0, "partition job.json --parts 2 --out parts")
    for part in 0..<2 { _ = try run(0, "decide job.json --partition parts --part \(part) --out r/\(part)") }
    _ = try run(66, "collect job.json r/0")
    let refused = try run(65, "collect job.json r/0 r/1")
    #expect(refused.contains("none of the 2 lines can be used"), "\(refused)")
    #expect(try workspace.run("quarantine", "list", "--store", "j.sqlite").lines.count == 3)
    // Nothing of the partition is left that other parts could be missing from.
    _ = try run(0, "post job.json --sandbox --store j.sqlite")
    _ = try run(0, "collect job.json r/0 r/1 --allow-empty")
    #expect(try workspace.run("quarantine", "list", "--store", "j.sqlite").lines.count == 3)
  }

  @Test(
    "Who was forgotten makes no night ill: not for --fail-on unusual, --max-quarantine, nor the share of what is wrong")
  func forgotten() throws {
    let workspace = try workspace(#", "window": {"from": "yesterday", "to": "today"}, "reports": "reports""#)
    func night(_ day: Int, _ more: [String] = [], file: StaticString = #file) throws -> Finished {
      try workspace.write("in/a", (10..<60).map { Self.line("d\($0 % 10)", "\(day)T08:\($0)") }.joined())
      return try workspace.run(
        [
          "run", "job.json", "--no-upload", "--as-of", "2026-01-\(day + 1)T02:15:00Z", "--summary", "-", "--metrics",
          "m",
        ] + more)
    }
    for day in 11...14 { #expect(try night(day).code == 0) }
    #expect(try workspace.run("forget", "job.json", "--device", "d3").code == 0)
    let finished = try night(15, ["--fail-on", "unusual", "--max-quarantine", "0"])
    #expect(finished.code == 0, "\(finished.messages)")
    let summary = try Summary(finished.output)
    #expect(
      summary.text("records")
        == #"{"read":50,"accepted":45,"duplicates":0,"outOfWindow":0,"forgotten":5,"leftOut":0,"quarantined":0}"#)
    #expect(finished.messages.contains("0 out of window, 5 forgotten, 0 quarantined"), "\(finished.messages)")
    let metrics = try workspace.read("m")
    #expect(metrics.contains(#"engage_batch_run_records{job="j",result="forgotten"} 5"#), "\(metrics)")
    #expect(!metrics.contains("engage_batch_run_quarantined"))
    let history = try workspace.run("history", "--store", "j.sqlite", "--format", "json")
    let rows = try JSONNode.parse(Array(history.output.utf8))
    #expect(rows.array?.last?["forgotten"]?.integer == 5)
    // Out of the window comes first.
    let old = try workspace.run(
      "run", "job.json", "--dry-run", "--as-of", "2026-01-17T02:15:00Z", "--summary", "-", "--set", "Ingest.rewind=0s")
    #expect(
      try Summary(old.output)["records.outOfWindow"] == 50 && Summary(old.output)["records.forgotten"] == 0,
      "\(old.messages)")
  }
}
