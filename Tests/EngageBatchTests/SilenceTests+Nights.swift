import BatchFoundation
import TestSupport
import Testing

/// Nights that were missed, refused or could not begin.
extension SilenceTests {
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
    #expect(rows[0]["reason"]?.isNull == true)
    #expect(rows[1]["reason"]?.string?.contains("matches nothing for 2026-01-12") == true, "\(rows[1])")
    #expect(try workspace.run("history", "--store", "j.sqlite").output.contains("matches nothing for 2026-01-12"))
    #expect(rows.last?["windowFrom"]?.string == "2026-01-12T00:00:00.000Z")
    let report = try workspace.run("report", "--store", "j.sqlite")
    #expect(report.output.hasPrefix("j: no input (exit code 66), after "), "\(report.output)")
    #expect(report.output.contains("matches nothing for 2026-01-12"))
    #expect(report.output.contains("  - Nothing was processed. Once the export is complete: engage-batch run "))
    let next = try night(workspace, 13, "--summary", "s", "--set", #"Report.alarmCommand=["sh", "-c", "cat >> told"]"#)
    #expect(next.code == 0 && next.messages.contains("j: done with findings in "), "\(next.messages)")
    let command = "run \(workspace.path)/job.json --no-upload --as-of 2026-01-13T02:15:00.000Z"
    #expect(
      next.messages.contains(
        "  - 2026-01-12 was never read. Once its export is there: engage-batch \(command)"),
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
    #expect(try history(workspace).last?["reason"]?.string?.contains("Upload.concurrency") == true)
    let report = try workspace.run("report", "--store", "j.sqlite")
    #expect(report.output.contains("Upload.concurrency"), "\(report.output)")
    let page = try workspace.read("reports/index.html")
    #expect(page.contains(#"<td class="bad" title="failed: configuration error">"#), "\(page)")
  }

  @Test("A job that cannot be run ends with its figures, and its history can be read")
  func refusedJob() throws {
    let workspace = try nights()
    try workspace.write("e-11", Self.line("d", "11T08:00"))
    #expect(try night(workspace, 11, "--metrics", "m").code == 0)
    let figures = ["--metrics", "m", "--junit", "u", "--summary", "s"]
    let job = try workspace.read("job.json")
    try workspace.write("job.json", job.replacing("e-{dd}", with: "${EXPORTS_OF_NOBODY}/e-{dd}"))
    let arguments = ["run", "job.json", "--no-upload", "--as-of", "2026-01-13T02:15:00Z"]
    let unset = try workspace.run(arguments + figures)
    let words =
      "job.json:1: error: 'inputs.events[0].path' names the variable EXPORTS_OF_NOBODY, which is not set; set the variable, or write ${EXPORTS_OF_NOBODY:-default}\n"
    #expect(unset.code == 78 && unset.messages.hasSuffix(words), "\(unset.messages)")
    let metrics = try workspace.read("m")
    #expect(metrics.contains("engage_batch_run_exit_code{job=\"j\"} 78\n"), "\(metrics)")
    #expect(metrics.contains("engage_batch_last_success_time_seconds{job=\"j\"} "))
    #expect(try workspace.read("u").contains(#"type="exit code 78""#))
    #expect(try Summary(workspace.read("s")).text("night") == #""failed""#)
    // The store is what it was, whatever the job says.
    for command in [["history"], ["report"], ["store", "status"]] {
      let look = try workspace.run(command + ["job.json"])
      #expect(look.code == 0 && look.messages.hasPrefix(words), "\(look)")
    }
    let rows = try JSONNode.parse(Array(workspace.run("history", "job.json", "--format", "json").output.utf8)).array
    #expect(rows?.map { $0["ending"]?.integer } == [0, 78])
    #expect(rows?.last?["windowFrom"]?.string == "2026-01-12T00:00:00.000Z")
    #expect(try workspace.run("store", "requeue", "job.json", "--status", "FAILED_POST").code == 78)
    // What an output would overwrite stays, though the run would not come so far.
    #expect(try workspace.run(arguments + ["--metrics", "job.json"]).code == 64)
    #expect(try workspace.run("validate", "job.json", "--junit", "u2").code == 78)
    #expect(try workspace.read("u2").contains(#"type="exit code 78""#))
    // A job that cannot be read has no name: the figures stay those of the job that the file is about.
    try workspace.write("job.json", String(job.prefix(40)))
    try workspace.write("m", metrics.replacing("exit_code{job=\"j\"} 78", with: "exit_code{job=\"j\"} 0"))
    #expect(try workspace.run(arguments + figures).code == 78)
    #expect(try workspace.read("m").contains("engage_batch_run_exit_code{job=\"j\"} 78\n"))
    #expect(try workspace.run("history", "job.json").code == 78)
    #expect(try history(workspace).count == 2)
  }

  @Test("A missed window of a store of parts is read by what its to-do says")
  func missedPartition() throws {
    let workspace = try nights()
    for day in [11, 13] { try workspace.write("e-\(day)", Self.line("d", "\(day)T08:00")) }
    func parts(_ partition: String, as name: String, after last: String?) throws -> Finished {
      let made = try workspace.shell(partition)
      #expect(made.code == 0, "\(partition): \(made.messages)")
      for part in 0..<2 {
        let decided = try workspace.run(
          ["decide", "job.json", "--partition", "p\(name)", "--part", "\(part)", "--out", "r\(name)/\(part)"]
            + (last.map { ["--state-in", "r\($0)/\(part)"] } ?? []))
        #expect(decided.code == 0, "\(decided.messages)")
      }
      return try workspace.run("collect", "job.json", "r\(name)/0", "r\(name)/1", "--summary", "s")
    }
    let partition = "engage-batch partition job.json --parts 2 --as-of 2026-01-"
    #expect(try parts(partition + "12T02:15:00Z --out p11", as: "11", after: nil).code == 0)
    let next = try parts(partition + "14T02:15:00Z --after p11 --out p13", as: "13", after: "11")
    let command =
      "engage-batch partition \(workspace.path)/job.json --parts 2 --after LAST --out NEW --as-of 2026-01-13T02:15:00.000Z"
    #expect(
      next.messages.contains(
        "- 2026-01-12 was never read. Once its export is there: \(command) (replace LAST with the folder of the last partition and NEW with a new folder), then 'decide' and 'collect'\n"
      ), "\(next.messages)")
    let pending = "6 events are pending in the store. Send them: engage-batch post \(workspace.path)/job.json"
    #expect(next.messages.contains(pending))
    try workspace.write("e-12", Self.line("d", "12T08:00"))
    let typed = command.replacing("LAST", with: "p13").replacing("NEW", with: "p12")
    let read = try parts(typed, as: "12", after: "13")
    #expect(read.code == 0, "\(read.messages)")
    #expect(try Summary(workspace.read("s")).text("missed") == "[]")
    // A run into this store says the same, and is kept.
    let run = try night(workspace, 14)
    #expect(run.code == 66)
    let step = "engage-batch partition \(workspace.path)/job.json --parts 2 --after LAST --out NEW "
    #expect(try workspace.run("report", "job.json").output.contains("Once the export is complete: \(step)"))
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
    let order = ["Missed: 2026-01-12T", "Caught up: 2026-01-13T", "Missed: 2026-01-14T"].map {
      caught.messages.firstRange(of: $0)?.lowerBound
    }
    #expect(
      order.compactMap { $0 } == order.compactMap { $0 }.sorted() && order.allSatisfy { $0 != nil },
      "\(caught.messages)")
    #expect(
      try Summary(workspace.read("s")).text("missed")
        == #"[{"from":"2026-01-11T00:00:00.000Z","to":"2026-01-12T00:00:00.000Z"},{"from":"2026-01-12T00:00:00.000Z","to":"2026-01-13T00:00:00.000Z"},{"from":"2026-01-14T00:00:00.000Z","to":"2026-01-15T00:00:00.000Z"}]"#
    )
    let rows = try history(workspace).suffix(4)
    #expect(rows.map { $0["ending"]?.integer } == [0, 0, 66, 0])
    #expect(rows.map { $0["windowFrom"]?.string?.dropFirst(8).prefix(2) } == ["12", "13", "14", "15"])
    // Put right, it is read.
    try workspace.write("e-12", Self.line("d", "12T08:00"))
    #expect(try night(workspace, 12, "--summary", "s").code == 0)
    #expect(try Summary(workspace.read("s")).text("missed").contains("-12T00:00:00.000Z\",\"to\"") == false)
    try workspace.write("e-14", Self.line("d", "14T08:00"))
    try workspace.write("e-16", "{}\n")
    let refused = try night(workspace, 16, "--summary", "s")
    #expect(refused.code == 0, "judged with the 14th: \(refused.messages)")
    #expect(try Summary(workspace.read("s")).text("night") == #""done with findings""#)
    // Nothing of the 16th was used: it is read once it is put right.
    try workspace.write("e-17", Self.line("d", "17T08:00"))
    #expect(try night(workspace, 17, "--summary", "s").code == 0)
    #expect(try Summary(workspace.read("s")).text("missed").contains("2026-01-16T00:00:00.000Z\",\"to\""))
    try workspace.write("e-16", Self.line("d", "16T08:00"))
    #expect(try night(workspace, 16, "--summary", "s").code == 0)
    #expect(try Summary(workspace.read("s")).text("missed") == "[]")
    try workspace.write(
      "bad.json", #"{"name": "b", "inputs": {"events": ["a"]}, "window": {"from": "today", "catchUp": "3 days"}}"#)
    let bad = try workspace.run("run", "bad.json", "--no-upload")
    #expect(
      bad.code == 78
        && bad.messages.contains(
          "'window.catchUp' is '3 days', which is not an ISO 8601 duration; write a duration such as 'P3D'"),
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
        "1 quarantine entry tried: 1 accepted, 0 duplicates, 0 out of window, 0 still quarantined"),
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
      run.messages.contains("Delivery: nothing is sent, because the run for a missed window ended with exit code 65"),
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
    #expect(rerun.code == 0 && rerun.output.contains("1 previously unread line"), "\(rerun)")
    #expect(try missed(13) == 0)
    #expect(
      try workspace.run("post", "job.json", "--sandbox", "--store", "j.sqlite", "--as-of", "2026-01-15T08:00:00Z").code
        == 0)
    let page = try workspace.read("reports/index-j.html")
    #expect(!page.contains("no run has read its window"))
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
