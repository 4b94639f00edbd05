import BatchFoundation
import TestSupport
import Testing

/// What says "fine" is fine: exit codes and words of runs that could use nothing, and of what is no fault.
@Suite("Silence is no success") struct SilenceTests {
  private static func line(_ device: String, _ time: String) -> String {
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
        finished.messages.contains("  - Nothing could be used. Correct the job or the export, then: engage-batch run "))
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
        "events wait in the store. The next run that is not refused sends them, or now: engage-batch post "),
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
        && run.messages.contains("invalid-json: a link, not an object; name its file under 'deepLinks' of 'inputs'"),
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
    #expect(refused.contains("none of 2 lines can be used"), "\(refused)")
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

  // MARK: - Nights

  /// A job of nights whose files are one a day.
  private func nights(_ window: String = "", _ more: String = "") throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": [{"path": "e-{dd}", "required": true}]}, "store": "j.sqlite", "reports": "reports", "#
        + #""window": {"from": "yesterday", "to": "today"\#(window)}\#(more)}"#)
    return workspace
  }

  private func night(_ workspace: Workspace, _ day: Int, _ more: String...) throws -> Finished {
    try workspace.run(["run", "job.json", "--no-upload", "--as-of", "2026-01-\(day + 1)T02:15:00Z"] + more)
  }

  private func history(_ workspace: Workspace) throws -> [JSONNode] {
    let listing = try workspace.run("history", "--store", "j.sqlite", "--format", "json")
    return try JSONNode.parse(Array(listing.output.utf8)).array ?? []
  }

  @Test(
    "A night without its export ends with 66, and history, report and page know of it; the next one tells it, with the command that reads it"
  )
  func missedNight() throws {
    let workspace = try nights()
    for day in [11, 13] { try workspace.write("e-\(day)", Self.line("d", "\(day)T08:00")) }
    #expect(try night(workspace, 11).code == 0)
    let absent = try night(workspace, 12, "--metrics", "m")
    #expect(absent.code == 66, "\(absent.messages)")
    #expect(try workspace.read("m").contains(#"engage_batch_night{job="j",state="no input"} 1"#))
    let rows = try history(workspace)
    #expect(rows.map { $0["ending"]?.integer } == [0, 66])
    #expect(rows.last?["night"]?.string == "no input")
    #expect(rows.last?["windowFrom"]?.string == "2026-01-12T00:00:00.000Z")
    let report = try workspace.run("report", "--store", "j.sqlite")
    #expect(report.output.hasPrefix("j: no input (exit code 66), after "), "\(report.output)")
    #expect(report.output.contains("matches nothing for 2026-01-12"))
    #expect(report.output.contains("  - Nothing was read. When the export is there: engage-batch run "))
    let next = try night(workspace, 13, "--summary", "s", "--set", #"Report.alarmCommand=["sh", "-c", "cat >> told"]"#)
    #expect(next.code == 0 && next.messages.contains("j: done with findings in "), "\(next.messages)")
    let command = "run \(workspace.path)/job.json --no-upload --as-of 2026-01-13T02:15:00.000Z"
    #expect(
      next.messages.contains(
        "  - 2026-01-12T00:00:00.000Z to 2026-01-13T00:00:00.000Z was never read: engage-batch \(command)"),
      "\(next.messages)")
    let missed = #"[{"from":"2026-01-12T00:00:00.000Z","to":"2026-01-13T00:00:00.000Z"}]"#
    #expect(try Summary(workspace.read("s")).text("missed") == missed)
    let told = try JSONNode.parse(Array(workspace.read("told").utf8))
    #expect(told["state"]?.string == "missed" && told["missed"]?.compactText == missed, "\(told.compactText)")
    try workspace.write("e-12", Self.line("d", "12T08:00"))
    #expect(try workspace.run(command.split(separator: " ").map(String.init) + ["--summary", "s"]).code == 0)
    #expect(try Summary(workspace.read("s")).text("missed") == "[]")
    #expect(try Summary(workspace.read("s"))["records.accepted"] == 1)
  }

  @Test("A configuration that is wrong is kept as well, wrong usage and trials are not")
  func wrongConfiguration() throws {
    let workspace = try nights()
    try workspace.write("e-11", Self.line("d", "11T08:00"))
    #expect(try night(workspace, 11).code == 0)
    #expect(try night(workspace, 12, "--set", "Upload.concurrency=x").code == 78)
    #expect(try night(workspace, 12, "--dry-run", "--set", "Upload.concurrency=x").code == 78)
    #expect(try workspace.run("validate", "job.json", "--as-of", "2026-01-13T02:15:00Z").code == 66)
    #expect(try history(workspace).map { $0["ending"]?.integer } == [0, 78])
    #expect(try history(workspace).last?["night"]?.string == "failed")
    let report = try workspace.run("report", "--store", "j.sqlite")
    #expect(report.output.contains("Upload.concurrency"), "\(report.output)")
  }

  @Test("catchUp reads missed nights first, oldest first, each as its own window; what is still missing stays missed")
  func catchUp() throws {
    let workspace = try nights(#", "catchUp": "P3D""#)
    for day in [10, 15] { try workspace.write("e-\(day)", Self.line("d", "\(day)T08:00")) }
    #expect(try night(workspace, 10).code == 0)
    for day in [12, 13, 14] { #expect(try night(workspace, day).code == 66) }
    // Of the three days before the 15th, the 13th has come and the 12th is in another shape; the 11th is too long ago.
    for day in [11, 13] { try workspace.write("e-\(day)", Self.line("d", "\(day)T08:00")) }
    try workspace.write("e-12", "{}\n")
    let caught = try night(workspace, 15, "--summary", "s")
    #expect(caught.code == 0, "\(caught.messages)")
    let order = ["Caught up: 2026-01-12T", "Caught up: 2026-01-13T", "Missed: 2026-01-14T"].map {
      caught.messages.firstRange(of: $0)?.lowerBound
    }
    #expect(
      order.compactMap { $0 } == order.compactMap { $0 }.sorted() && order.allSatisfy { $0 != nil },
      "\(caught.messages)")
    #expect(
      try Summary(workspace.read("s")).text("missed")
        == #"[{"from":"2026-01-11T00:00:00.000Z","to":"2026-01-12T00:00:00.000Z"},{"from":"2026-01-14T00:00:00.000Z","to":"2026-01-15T00:00:00.000Z"}]"#
    )
    let rows = try history(workspace).suffix(4)
    #expect(rows.map { $0["ending"]?.integer } == [0, 0, 66, 0])
    #expect(rows.map { $0["windowFrom"]?.string?.dropFirst(8).prefix(2) } == ["12", "13", "14", "15"])
    try workspace.write("e-14", Self.line("d", "14T08:00"))
    try workspace.write("e-16", "{}\n")
    let refused = try night(workspace, 16, "--summary", "s")
    #expect(refused.code == 0, "judged with the 14th: \(refused.messages)")
    #expect(try Summary(workspace.read("s")).text("night") == #""done with findings""#)
    try workspace.write(
      "bad.json", #"{"name": "b", "inputs": {"events": ["a"]}, "window": {"from": "today", "catchUp": "3 days"}}"#)
    let bad = try workspace.run("run", "bad.json", "--no-upload")
    #expect(
      bad.code == 78
        && bad.messages.contains(
          "'window.catchUp' is '3 days', which is not an ISO 8601 duration; write it as in 'P3D'"),
      "\(bad.messages)")
  }

  /// A job of nights, whose days are in files of their own.
  private func dated(_ window: String = "", _ more: String = "") throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": ["{yyyy}-{MM}-{dd}.ndjson"]}, "store": "j.sqlite", "#
        + #""window": {"from": "yesterday", "to": "today"\#(window)}\#(more)}"#)
    return workspace
  }

  private func run(_ workspace: Workspace, asOf day: Int, _ more: String...) throws -> Finished {
    try workspace.run(
      ["run", "job.json", "--sandbox", "--as-of", "2026-01-\(day)T02:00:00Z", "--store", "j.sqlite"] + more)
  }

  @Test("A replay reads lines in the windows of the nights that quarantined them")
  func replayOfEarlierNights() throws {
    let workspace = try dated()
    let long = Self.line("d", "10T08:00").replacing("\"n\"", with: "\"\(String(repeating: "n", count: 200))\"")
    try workspace.write("2026-01-10.ndjson", Self.line("d", "10T07:00") + long)
    #expect(try run(workspace, asOf: 11, "--no-upload", "--set", "Ingest.maxLineBytes=200").code == 0)
    let replayed = try workspace.run(
      "quarantine", "replay", "job.json", "--store", "j.sqlite", "--as-of", "2026-01-14T02:00:00Z")
    #expect(
      replayed.messages.contains(
        "1 entry of the quarantine was tried: 1 accepted, 0 duplicates, 0 out of window, 0 still quarantined"),
      "\(replayed.messages)")
    let history = try workspace.run("history", "--store", "j.sqlite", "--format", "json")
    let windows = try JSONNode.parse(Array(history.output.utf8)).array?.map { $0["windowFrom"]?.string }
    #expect(windows == ["2026-01-10T00:00:00.000Z", nil])
  }

  @Test("A missed window that is refused keeps everything back, and the alarm and the figures say 65")
  func refusedCatchUp() throws {
    let workspace = try dated(#", "catchUp": "P3D""#)
    for day in 10...13 {
      let broken = day == 12 ? String(repeating: "broken\n", count: 3) : ""
      try workspace.write("2026-01-\(day).ndjson", Self.line("d\(day)", "\(day)T08:00") + broken)
    }
    #expect(try run(workspace, asOf: 11, "--no-upload").code == 0)
    let run = try run(workspace, asOf: 14, "--max-quarantine", "2", "--metrics", "m.prom")
    #expect(run.code == 65)
    #expect(
      run.messages.contains("Delivery: nothing is sent, because a window that was missed before was refused"),
      "\(run.messages)")
    #expect(try workspace.read("m.prom").contains("engage_batch_run_exit_code{job=\"j\"} 65\n"))
    let posted = try workspace.run("store", "events", "--store", "j.sqlite", "--status", "SUCCESSFULLY_POSTED")
    #expect(posted.output.contains("2026-01-11T08:00"))
    #expect(!posted.output.contains("2026-01-12") && !posted.output.contains("2026-01-13"), "\(posted.output)")
  }

  @Test("A rerun of a missed window has read it, and a post reads no night")
  func rerunOfAMissedWindow() throws {
    let workspace = try dated("", #", "reports": "reports""#)
    for day in 10...12 { try workspace.write("2026-01-\(day).ndjson", Self.line("d", "\(day)T08:00")) }
    func missed(_ day: Int) throws -> Int? {
      let run = try run(workspace, asOf: day, "--no-upload", "--summary", "-")
      return try JSONNode.parse(Array(run.output.utf8))["missed"]?.array?.count
    }
    #expect(try missed(11) == 0)
    #expect(try missed(13) == 1)
    let rerun = try workspace.run("rerun", "job.json", "--store", "j.sqlite", "--window", "2026-01-11")
    #expect(rerun.code == 0 && rerun.output.contains("1 line that no run had read"), "\(rerun)")
    #expect(try missed(13) == 0)
    #expect(
      try workspace.run("post", "job.json", "--sandbox", "--store", "j.sqlite", "--as-of", "2026-01-15T08:00:00Z").code
        == 0)
    let page = try workspace.read("reports/index-j.html")
    #expect(!page.contains("no run has read it"))
    #expect(page.contains(#"<td class="soft">14</td>"#), "\(page)")
  }

  @Test("A window that reaches beyond what was known is read up to there")
  func windowBeyondKnown() throws {
    let workspace = try dated()
    try workspace.write("2026-01-10.ndjson", Self.line("d", "10T08:00"))
    #expect(
      try run(workspace, asOf: 11, "--no-upload", "--from", "2026-01-10", "--to", "2026-02-10", "--allow-missing")
        .code
        == 0)
    try workspace.write("2026-01-13.ndjson", Self.line("d", "13T08:00"))
    let run = try run(workspace, asOf: 14, "--no-upload", "--summary", "-")
    let missed = try JSONNode.parse(Array(run.output.utf8))["missed"]?.array
    #expect(missed?.first?["from"]?.string == "2026-01-11T02:00:00.000Z", "\(run.output)")
    #expect(missed?.last?["to"]?.string == "2026-01-13T00:00:00.000Z", "\(run.output)")
  }

  @Test("A late sample that only completes an event changes its status")
  func lateSample() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": ["*.ndjson"]}, "settings": {"Augmentation": {"augmentationPluginClasses": ["UBFLocationNameAugmentationPlugin"]}}}"#
    )
    try workspace.write(
      "a.ndjson",
      """
      {"deviceId":"p","timestamp":"2026-01-08T00:00:00Z","type":"placemark","name":"Park","city":"Kyiv"}
      {"deviceId":"p","timestamp":"2026-01-10T09:00:00Z","type":"namedEvent","name":"n","mobileUserId":"m"}

      """)
    func statuses(_ store: String) throws -> [String] {
      let listing = try workspace.run("store", "events", "--store", store, "--format", "json", "--type", "17")
      return try JSONNode.parse(Array(listing.output.utf8)).array?.compactMap { $0["status"]?.string } ?? []
    }
    func run(_ store: String, _ hour: Int) throws {
      let finished = try workspace.run(
        "run", "job.json", "--no-upload", "--as-of", "2026-01-10T\(hour):00:00Z", "--store", store)
      #expect(finished.code == 0, "\(finished.messages)")
    }
    try run("nights.sqlite", 12)
    #expect(try statuses("nights.sqlite") == ["EXPIRED"])
    try workspace.write("b.ndjson", #"{"deviceId":"p","timestamp":"2026-01-10T09:00:10Z","type":"placemark"}"# + "\n")
    for store in ["nights.sqlite", "one.sqlite"] {
      try run(store, 13)
      #expect(try statuses(store) == ["NOT_POSTED"], "\(store)")
    }
  }
}
