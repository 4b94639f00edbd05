import BatchFoundation
import TestSupport
import Testing

/// What summary, report, metrics, alarm and `history` say of runs that did not go through, or that decided nothing.
@Suite("Figures of runs") struct RunFigureTests {
  /// Events of a phone, with lines that are none.
  private func workspace(bad: Int = 0) throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "own", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z", "store": "s.sqlite", "reports": "reports"}"#
    )
    try workspace.write("in.ndjson", Self.lines + String(repeating: "no record\n", count: bad))
    return workspace
  }

  private static let lines = """
    {"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"namedEvent","name":"n","mobileUserId":"u"}
    {"deviceId":"d","timestamp":"2026-01-15T08:00:01Z","type":"namedEvent","name":"n","mobileUserId":"u"}
    {"deviceId":"d","timestamp":"2026-01-15T08:00:02Z","type":"namedEvent","name":"n","mobileUserId":"u"}

    """

  private func history(_ workspace: Workspace, store: String = "s.sqlite") throws -> [JSONNode] {
    let listed = try workspace.run("history", "--store", store, "--format", "json")
    #expect(listed.code == 0, "\(listed.messages)")
    return try JSONNode.parse(Array(listed.output.utf8)).array ?? []
  }

  @Test(
    "A run whose output cannot be written ends with 73 in history, too",
    arguments: [["--summary", "/dev/null/x"], ["--report", "/dev/null/x"], ["--junit", "/dev/null/x"]])
  func unwritable(options: [String]) throws {
    let workspace = try workspace()
    let run = try workspace.run(["run", "job.json", "--no-upload"] + options)
    #expect(run.code == 73, "\(run.messages)")
    let rows = try history(workspace)
    #expect(rows.map { $0["ending"]?.integer } == [73])
    #expect(rows.map { $0["accepted"]?.integer } == [3])
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    #expect(try history(workspace).map { $0["ending"]?.integer } == [73, 0])
  }

  /// The report and the page over all runs were written before, and said that all was good.
  @Test(
    "The report and the page over all runs tell the end of a run whose output cannot be written",
    arguments: [["--no-upload"], ["--dry-run"]])
  func unwritableReported(mode: [String]) throws {
    let workspace = try workspace()
    #expect(try workspace.run("run", "job.json", "--no-upload", "--report", "other").code == 0)
    let run = try workspace.run(["run", "job.json", "--summary", "/dev/null/x"] + mode)
    let words = "/dev/null/x: error: cannot be written: Not a directory"
    #expect(run.code == 73 && run.messages.contains(words), "\(run.messages)")
    let reports = try workspace.reports(in: "reports")
    #expect(reports.map { $0["exitCode"]?.integer } == [73])
    #expect(reports.map { $0["failure"]?.string } == [words])
    #expect(reports.map { $0["summary"]?["stopped"]?.string } == [words])
    guard mode == ["--no-upload"] else { return }
    let page = try workspace.read("reports/index.html")
    #expect(page.contains("an output could not be written"), "\(page)")
  }

  @Test("A run over --max-quarantine says how many lines there are and what to do, everywhere")
  func overQuarantine() throws {
    let workspace = try workspace(bad: 2)
    let run = try workspace.run(
      "run", "job.json", "--sandbox", "--store", "s.sqlite", "--max-quarantine", "1", "--summary", "-", "--metrics",
      "m.prom",
      "--set", #"Report.alarmCommand=["sh", "-c", "cat >> told"]"#)
    #expect(run.code == 65)
    let reason =
      "error: 2 lines were quarantined, but --max-quarantine allows 1, so nothing was sent; usable records are kept. Fix the cause and run the job again, or run it with a higher limit"
    #expect(run.messages.contains(reason), "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary.document["stopped"]?.string == reason)
    #expect(try workspace.reports(in: "reports").map { $0["failure"]?.string } == [reason])
    let told = try JSONNode.parse(Array(workspace.read("told").utf8))
    #expect(told["reason"]?.string == reason)

    // What waits is counted though nothing was sent.
    #expect(summary["upload.eventsPending"] == 5)
    #expect(told["figures"]?["waiting"]?.integer == 5)
    #expect(try workspace.read("m.prom").contains(#"outcome="pending"} 5"#))
    #expect(try history(workspace).map { $0["pending"]?.integer } == [5])
    #expect(
      run.messages.contains(
        "5 events are pending in the store. The next run that is not refused sends them; "
          + "to send now: engage-batch post "),
      "\(run.messages)")

    let dry = try workspace.run("run", "job.json", "--dry-run", "--store", "new.sqlite", "--max-quarantine", "1")
    #expect(dry.code == 65)
    #expect(
      dry.messages.contains(
        "error: 2 lines were quarantined, but --max-quarantine allows 1, so a run would send nothing\n"),
      "\(dry.messages)")
    let validated = try workspace.run("validate", "job.json", "--store", "new.sqlite")
    #expect(validated.code == 65)
    #expect(!validated.messages.contains("--max-quarantine"), "\(validated.messages)")
  }

  @Test("What waits is not counted as pending where the run was not to send, and not where it was sent")
  func pending() throws {
    let workspace = try workspace()
    let kept = try workspace.run("run", "job.json", "--no-upload", "--summary", "-", "--store", "s.sandbox.sqlite")
    #expect(try Summary(kept.output)["upload.eventsPending"] == 0)
    #expect(try Summary(kept.output)["store.NOT_POSTED"] == 5)
    let sent = try workspace.run("run", "job.json", "--sandbox", "--store", "own.sqlite", "--summary", "-")
    #expect(sent.code == 0, "\(sent.messages)")
    #expect(try Summary(sent.output)["upload.eventsPending"] == 0)
  }

  @Test("A rerun counts the lines that it took in, and post decides no events")
  func counted() throws {
    let workspace = try workspace()
    let options = ["--sandbox", "--store", "s.sqlite"]
    #expect(try workspace.run(["run", "job.json", "--no-upload"] + options).code == 0)
    let rerun = try workspace.run(
      ["rerun", "job.json", "--window", "2026-01-15T00:00:00Z/2026-01-16T00:00:00Z"] + options)
    #expect(rerun.code == 0, "\(rerun.messages)")
    #expect(rerun.output.contains("3 read from 1 file: 3 accepted"), "\(rerun.output)")
    #expect(try workspace.run(["post", "job.json"] + options).code == 0)
    #expect(try workspace.run(["run", "job.json"] + options).code == 0)
    let rows = try history(workspace)
    #expect(rows.map { $0["mode"]?.string } == ["no-upload", "rerun", "post", "run"])
    #expect(rows.map { $0["accepted"]?.integer } == [3, 0, 0, 0])
    #expect(rows.map { $0["events"]?.integer } == [5, 0, 0, 0])
    #expect(rows.map { $0["pending"]?.integer } == [0, 0, 0, 0])
    #expect(rows.map { $0["posted"]?.integer } == [0, 0, 5, 0])
    let page = try workspace.read("reports/index-s.html")
    #expect(page.contains(#"<b class="plain">3</b><span>records accepted</span>"#), "\(page)")
  }

  @Test("post of a game decides no events, though its summary counts those that it sent")
  func gamePost() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/game.json", "--sandbox", "--no-upload").code == 0)
    let post = try workspace.run("post", "jobs/game.json", "--sandbox", "--summary", "-")
    #expect(try Summary(post.output)["events.total"] == 23)
    #expect(try history(workspace, store: "var/game.sandbox.sqlite").map { $0["events"]?.integer } == [23, 0])
  }

  @Test("history of a job with maps adds up")
  func leftOut() throws {
    let workspace = try Workspace([])
    try workspace.write("in.ndjson", try Checkout.text("samples/maps/segment.ndjson"))
    try workspace.write(
      "job.json",
      #"{"name": "own", "inputs": {"events": [{"path": "in.ndjson", "map": "segment"}]}, "asOf": "2026-02-01T00:00:00Z", "store": "s.sqlite"}"#
    )
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let row = try #require(history(workspace).first)
    let parts = ["accepted", "duplicates", "outOfWindow", "quarantined", "leftOut"].map { row[$0]?.integer ?? -1 }
    #expect(parts == [6, 0, 0, 0, 1])
    #expect(row["read"]?.integer == parts.reduce(0, +))
  }

  @Test("What was collected is as of the clock that its partition fixed")
  func collected() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json", #"{"name": "own", "inputs": {"events": ["in.ndjson"]}, "store": "s.sqlite"}"#)
    try workspace.write("in.ndjson", Self.lines)
    for words in [
      ["partition", "job.json", "--parts", "1", "--out", "parts", "--as-of", "2026-02-01T00:00:00Z"],
      ["decide", "job.json", "--partition", "parts", "--part", "0", "--out", "r"],
    ] {
      let finished = try workspace.run(words)
      #expect(finished.code == 0, "\(finished.messages)")
    }
    let collected = try workspace.run("collect", "job.json", "r", "--summary", "-")
    #expect(collected.code == 0, "\(collected.messages)")
    #expect(try Summary(collected.output)["upload.eventsPending"] == 0)
    let rows = try history(workspace)
    #expect(rows.map { $0["asOf"]?.string } == ["2026-02-01T00:00:00.000Z"])
    #expect(rows.map { $0["pending"]?.integer } == [0])
    #expect(try workspace.run("collect", "job.json", "r", "--summary", "/dev/null/x").code == 73)
    #expect(try history(workspace).map { $0["ending"]?.integer } == [0, 73])
  }

  /// Two sessions become one.
  @Test("The summary says why its events are fewer than those that a night with late records sends")
  func rewound() throws {
    let workspace = try workspace()
    func line(_ minute: Int) -> String {
      #"{"deviceId":"d","timestamp":"2026-01-15T08:\#(minute):00Z","type":"namedEvent","name":"n","mobileUserId":"u"}"#
    }
    try workspace.write("in.ndjson", Self.lines + line(50) + "\n")
    #expect(try workspace.run("run", "job.json", "--sandbox", "--as-of", "2026-01-16T00:00:00Z").code == 0)
    try workspace.write("in.ndjson", [25, 26, 27].map { line($0) + "\n" }.joined())
    let late = try workspace.run("run", "job.json", "--sandbox", "--as-of", "2026-01-16T00:00:00Z")
    #expect(late.code == 0, "\(late.messages)")
    let rows = [
      "events     1 from these records",
      "rewind     1 device processed again: 3 events added, 0 replaced, 0 withdrawn, 3 corrections",
      "       2  already sent but now wrong, deducted from the events above",
      "upload     3 events posted in 1 chunk",
    ]
    for row in rows { #expect(late.messages.contains(row), "\(late.messages)") }
  }

  @Test("A damaged store is to be looked at, not run again")
  func damage() throws {
    let workspace = try workspace()
    let words = ["run", "job.json", "--no-upload", "--set", #"Report.alarmCommand=["sh", "-c", "cat >> told"]"#]
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    #expect(try workspace.shell("head -c 40960 /dev/zero | dd of=s.sqlite bs=4096 seek=1 conv=notrunc").code == 0)
    let run = try workspace.run(words)
    #expect(run.code == 74, "\(run.messages)")
    #expect(!run.messages.contains("To continue"), "\(run.messages)")
    #expect(
      run.messages.contains(
        "The same command would fail again. To see the damage: engage-batch store check --store"), "\(run.messages)")
    let told = try JSONNode.parse(Array(workspace.read("told").utf8))
    #expect(told["command"]?.string?.hasPrefix("engage-batch store check --store ") == true)
    #expect(told["text"]?.string?.contains("To see the damage: engage-batch store check") == true)
  }
}
