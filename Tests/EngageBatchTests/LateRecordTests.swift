import BatchFoundation
import Foundation
import Testing

@Suite("Late records, night by night") struct LateRecordTests {
  private static let store = "var/job.sandbox.sqlite"

  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "job", "inputs": {"events": ["in/*.ndjson"]}, "window": {"from": "yesterday", "to": "today"}, "#
        + #""store": "var/job.sqlite", "settings": {"Session": {"sessionLifecycleExpiration": "5 minutes"}}}"#)
    return workspace
  }

  private static func line(_ day: Int, _ time: String, _ record: String) -> String {
    #"{"deviceId":"phone-1","mobileUserId":"user-1","timestamp":"2026-01-0\#(day)T\#(time)Z",\#(record)}"# + "\n"
  }

  private static let opened =
    #""type":"notificationOpened","payload":{"CurrentCampaign":"Spring","CampaignValidFor":"2 hours"}"#

  /// Runs the night behind a day, with these lines in a file of their own.
  @discardableResult
  private func night(_ day: Int, _ lines: String, in workspace: Workspace, _ more: String...) throws -> Finished {
    try night(day, lines, in: workspace, more)
  }

  @discardableResult
  private func night(_ day: Int, _ lines: String, in workspace: Workspace, _ more: [String]) throws -> Finished {
    try workspace.write("in/\(day).ndjson", lines)
    let result = try workspace.run(
      ["run", "job.json", "--sandbox", "--as-of", "2026-01-0\(day + 1)T02:00:00Z", "--summary", "summary.json"] + more)
    #expect(result.code == 0, "\(result.messages)")
    return result
  }

  @Test("An event of 08:01 that is read a night late has no campaign of 08:30, and a session of its own day")
  func lateEventBeforeACampaign() throws {
    let workspace = try workspace()
    try night(1, Self.line(1, "08:30:00", Self.opened), in: workspace, "--no-upload")
    try night(2, Self.line(1, "08:01:00", #""type":"namedEvent","name":"early""#), in: workspace, "--no-upload")
    let events = try workspace.run("store", "events", "--store", Self.store, "--show-personal-data").lines
    // Behind the names of the columns.
    #expect(events.count == 7)
    let early = try #require(events.first { $0.contains("early") })
    #expect(!early.contains("Spring"))
    let summary = try Summary(workspace.read("summary.json"))
    #expect(summary.text("rewind") == #"{"devices":1,"replaced":0,"withdrawn":0,"added":3,"corrections":0}"#)
    #expect(
      summary.text("records")
        == #"{"read":2,"accepted":1,"duplicates":1,"outOfWindow":0,"forgotten":0,"leftOut":0,"quarantined":0}"#)
  }

  /// The sample came behind the device's last record, so nothing was taken back and the event kept no place.
  @Test("A sample that comes a night late goes to the event that silence had let go without one")
  func sampleWithinASilence() throws {
    let workspace = try workspace()
    try night(1, Self.line(1, "12:00:00", #""type":"namedEvent","name":"noon""#), in: workspace, "--no-upload")
    func noon() throws -> String {
      let events = try workspace.run("store", "events", "--store", Self.store, "--show-personal-data").lines
      return try #require(events.first { $0.contains("noon") })
    }
    #expect(try !noon().contains("50.5"))
    try night(
      2, Self.line(1, "12:00:01", #""type":"location","latitude":50.5,"longitude":6.25"#), in: workspace, "--no-upload")
    let placed = try noon()
    #expect(placed.contains("50.5"), "\(placed)")
    #expect(
      try Summary(workspace.read("summary.json")).text("rewind")
        == #"{"devices":1,"replaced":3,"withdrawn":0,"added":0,"corrections":0}"#)
  }

  @Test("What was sent and would be different is a correction, and is not sent again")
  func correctionOfASentEvent() throws {
    let workspace = try workspace()
    try night(
      1,
      Self.line(1, "08:00:00", #""type":"launch""#) + Self.line(1, "08:10:00", #""type":"background""#)
        + Self.line(1, "12:00:00", #""type":"namedEvent","name":"noon""#), in: workspace)
    let before = try workspace.run("store", "status", "--store", Self.store).lines
    let late = try night(
      2, Self.line(1, "08:12:00", #""type":"foreground""#) + Self.line(1, "08:20:00", #""type":"background""#),
      in: workspace)
    #expect(late.messages.contains("1 event already sent would now be different or missing"))
    // Nothing under "To do" named it.
    #expect(
      late.messages.contains(
        "  - 1 event was sent before late records changed it, and sent events cannot be recalled. To compare the sent "
          + "events with the correct ones: engage-batch store corrections --store \(workspace.path)/\(Self.store)"),
      "\(late.messages)")
    #expect(try workspace.run("store", "status", "--store", Self.store).lines == before)
    let listed = try workspace.run("store", "corrections", "--store", Self.store, "--show-personal-data")
    #expect(listed.code == 0 && listed.lines.count == 2)
    // It had no line of names, and no --limit, unlike the listings beside it.
    #expect(listed.lines.first == "kind\tevent\tdevice\tfile\tline\trun\tsent\tright")
    let cells = try #require(listed.lines.last).split(separator: "\t").map(String.init)
    #expect(cells[0] == "changed" && cells[2] == "phone-1" && cells[3].hasSuffix("in/2.ndjson") && cells[4] == "2")
    #expect(cells[6].contains(#""value":"600""#) && cells[7].contains(#""value":"1080""#))
    #expect(try workspace.run("store", "corrections", "--store", Self.store, "--limit", "0").code == 64)
    let hidden = try workspace.run("store", "corrections", "--store", Self.store)
    #expect(!hidden.output.contains("phone-1") && !hidden.output.contains("user-1"))
    let why = try workspace.run("why", cells[1], "--store", Self.store)
    #expect(why.output.contains("it would be different now, after the late record at"))
    // What the other events say now is no reason of this one.
    #expect(why.output.contains("so its session and campaign are not explained"), "\(why.output)")
    #expect(!why.output.contains("began at"), "\(why.output)")
    // A third night changes nothing more.
    try night(3, "", in: workspace)
    #expect(
      try workspace.run("store", "corrections", "--store", Self.store, "--show-personal-data").lines == listed.lines)
  }

  /// It told the session as it was sent, and nothing of what is right.
  @Test("A device names its events that were sent otherwise than late records make them")
  func correctionsOfADevice() throws {
    let workspace = try workspace()
    let device = ["why", "--device", "phone-1", "--store", Self.store]
    try night(1, Self.session(1, "08:00:00", "08:10:00", "launch"), in: workspace)
    #expect(try !workspace.run(device).output.contains("corrections"))
    try night(2, Self.session(1, "08:12:00", "08:20:00"), in: workspace, "--no-upload")
    let why = try workspace.run(device + ["--at", "2026-01-01T09:00:00Z", "--show-personal-data"])
    let listed = try workspace.run("store", "corrections", "--store", Self.store, "--format", "json")
    let correction = try #require(try JSONNode.parse(Array(listed.output.utf8)).array?.first)
    let event = try #require(correction["event"]?.string)
    let story = why.lines.drop { !$0.hasPrefix("  corrections") }.prefix(3).map { $0.dropFirst(15) }
    #expect(
      story == [
        "1 event was sent before late records changed it, and sent events cannot be recalled; 'store corrections --show-personal-data' shows both versions",
        "session and campaign are shown here as they were sent",
        "event \(event) at 2026-01-01T08:10:00.000Z: it would be different now, after the late record at "
          + "\(workspace.path)/in/2.ndjson:2",
      ], "\(why.output)")
  }

  /// It was counted as out of the window, and nothing said what takes it in.
  /// Times and durations of the 14s, in their order.
  private func sessions(_ workspace: Workspace) throws -> [String] {
    let answer = try workspace.run(
      "store", "events", "--store", Self.store, "--type", "14", "--format", "json", "--show-personal-data")
    let events = try #require(JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [[String: Any]])
    return events.map { event in
      let attributes = event["attributes"] as? [[String: String]] ?? []
      let duration = attributes.first { $0["name"] == "Session Duration" }?["value"] ?? "none"
      return "\(event["eventTimestamp"] as? String ?? "") \(duration)"
    }.sorted()
  }

  private static func session(_ day: Int, _ from: String, _ to: String, _ begin: String = "foreground") -> String {
    line(day, from, #""type":"\#(begin)""#) + line(day, to, #""type":"background""#)
  }

  @Test("The rerun that a late line asks for begins where the session ended that the line goes on with")
  func rerunFromTheEndOfASession() throws {
    let workspace = try workspace()
    let wide = ["--no-upload", "--from", "2026-01-01", "--set", "Ingest.lateRecords=accept"]
    try night(1, Self.session(1, "10:00:00", "10:10:00", "launch"), in: workspace, wide)
    try night(7, Self.line(7, "10:00:00", #""type":"namedEvent","name":"n""#), in: workspace, wide)
    let late = try night(8, Self.session(1, "10:15:00", "10:20:00"), in: workspace, wide)
    let line = try #require(late.messages.split(separator: "\n").first { $0.hasPrefix("Late: ") })
    #expect(line.contains("--from 2026-01-01T10:10:00.000Z"), "\(line)")
    let command = try #require(line.firstMatch(of: /engage-batch rerun .*/))
    let rerun = try workspace.shell(String(command.output))
    #expect(rerun.code == 0, "\(rerun.messages)")
    #expect(try sessions(workspace) == ["2026-01-01T10:20:00.000Z 900"])
  }

  @Test("A line from beyond the reach does not keep its device from being taken back for later ones")
  func lateLinesBehindOneBeyondTheReach() throws {
    let workspace = try workspace()
    let wide = ["--no-upload", "--from", "2026-01-01", "--set", "Ingest.lateRecords=accept"]
    for day in 1...5 { try night(day, Self.session(day, "10:00:00", "10:10:00"), in: workspace, wide) }
    let old = Self.line(1, "12:00:00", #""type":"namedEvent","name":"old""#)
    let beyond = try night(6, Self.session(6, "10:00:00", "10:10:00") + old, in: workspace, wide)
    #expect(beyond.messages.contains("Late: 1 record falls in a period already processed"), "\(beyond.messages)")
    try night(
      7, Self.session(7, "10:00:00", "10:10:00") + Self.session(5, "10:15:00", "10:20:00"), in: workspace, wide)
    #expect(
      try Summary(workspace.read("summary.json")).text("rewind")
        == #"{"devices":1,"replaced":1,"withdrawn":0,"added":0,"corrections":0}"#)
    #expect(
      try sessions(workspace)
        == [1, 2, 3, 4, 5, 6, 7].map { day in
          "2026-01-0\(day)T" + (day == 5 ? "10:20:00.000Z 900" : "10:10:00.000Z 600")
        })
    let events = try workspace.run("store", "events", "--store", Self.store, "--type", "17", "--show-personal-data")
    #expect(events.output.components(separatedBy: "old").count == 2, "\(events.output)")
  }

  @Test("A line of a night that was left out is told, and comes in once that night and this one were run")
  func lineOfANightThatWasLeftOut() throws {
    let workspace = try workspace()
    func event(_ day: Int, _ time: String, _ name: String) -> String {
      Self.line(day, time, #""type":"namedEvent","name":"\#(name)""#)
    }
    try night(1, event(1, "08:00:00", "first"), in: workspace, "--no-upload")
    let third = event(2, "23:00:00", "held") + event(3, "08:00:00", "third")
    let ahead = try night(3, third, in: workspace, "--no-upload")
    let line = try #require(ahead.messages.split(separator: "\n").first { $0.hasPrefix("Late: ") }, "\(ahead.messages)")
    #expect(
      line.contains(
        "in/3.ndjson:1): records were processed only up to 2026-01-02T00:00:00.000Z, but this window begins at "
          + "2026-01-03T00:00:00.000Z. Run the period in between, then this window again to import it: "), "\(line)")
    let command = try #require(line.firstMatch(of: /engage-batch run .*/))
    let between = try workspace.shell(String(command.output))
    #expect(between.code == 0, "\(between.messages)")
    try night(3, third, in: workspace, "--no-upload")
    let events = try workspace.run("store", "events", "--store", Self.store, "--type", "17", "--show-personal-data")
    #expect(["first", "held", "third"].allSatisfy(events.output.contains), "\(events.output)")
  }

  @Test(
    "A line from beyond the reach and before the window is told with the rerun that takes it in, one that was read is not"
  )
  func missedLine() throws {
    let workspace = try workspace()
    func event(_ day: Int, _ name: String) -> String {
      Self.line(day, "08:00:00", #""type":"namedEvent","name":"\#(name)""#)
    }
    try night(1, event(1, "first"), in: workspace, "--no-upload")
    let silent = try night(6, event(6, "sixth"), in: workspace, "--no-upload")
    #expect(!silent.messages.contains("Late: "), "\(silent.messages)")
    let late = try night(7, event(1, "missed") + event(7, "seventh"), in: workspace, "--no-upload")
    #expect(try Summary(workspace.read("summary.json"))["records.outOfWindow"] == 2)
    let note = "Late: 1 line that no run has read counts as out of window (\(workspace.path)/in/7.ndjson:1): "
    #expect(late.messages.contains(note), "\(late.messages)")
    let line = try #require(late.messages.split(separator: "\n").first { $0.hasPrefix("Late: ") })
    let command = try #require(line.firstMatch(of: /engage-batch rerun .*/))
    let rerun = try workspace.shell(String(command.output))
    #expect(rerun.code == 0, "\(rerun.messages)")
    let events = try workspace.run("store", "events", "--store", Self.store, "--type", "17", "--show-personal-data")
    #expect(events.output.contains("missed"), "\(rerun.output)")
    // It was read by the rerun.
    let again = try night(8, event(8, "eighth"), in: workspace, "--no-upload")
    #expect(!again.messages.contains("Late: "), "\(again.messages)")
  }

  private static func session(_ day: Int) -> String {
    line(day, "08:00:00", #""type":"launch""#) + line(day, "08:10:00", #""type":"background""#)
  }

  /// Seven minutes after it.
  private static func more(_ day: Int) -> String {
    line(day, "08:17:00", #""type":"foreground""#) + line(day, "08:20:00", #""type":"background""#)
  }

  private func durations(in workspace: Workspace) throws -> [String] {
    try workspace.run(
      "store", "events", "--store", Self.store, "--type", "14", "--show-personal-data"
    )
    .lines.compactMap { $0.firstMatch(of: /"Session Duration","value":"(\d+)"/).map { String($0.1) } }
  }

  /// Sessions go on after five minutes at most by the settings of the first night, and after ten by those of the others.
  @Test("Late records are decided by the settings that decided those around them")
  func settingsOfTheirTime() throws {
    let workspace = try workspace()
    let other = ["--no-upload", "--set", "Session.sessionLifecycleExpiration=10 minutes"]
    try night(1, Self.session(1), in: workspace, "--no-upload")
    try night(2, Self.session(2), in: workspace, other)
    try night(3, Self.more(1) + Self.more(2) + Self.session(3), in: workspace, other)
    #expect(try durations(in: workspace) == ["600", "180", "780", "600"])
  }

  @Test("A night whose settings cannot be had any more is closed with those before it, and no later one is")
  func settingsThatAreGone() throws {
    let workspace = try workspace()
    try workspace.write("places.csv", "code,place\n")
    let table = #"[{"file":"places.csv","keyAttribute":"code","keyColumn":"code","columns":{"place":"place"}}]"#
    try night(1, Self.session(1), in: workspace, "--no-upload", "--set", "Augmentation.lookupTables=\(table)")
    try FileManager.default.removeItem(atPath: "\(workspace.path)/places.csv")
    try night(2, Self.session(2), in: workspace, "--no-upload")
    let late = try night(
      3,
      Self.line(1, "08:12:00", #""type":"foreground""#) + Self.line(2, "08:12:00", #""type":"foreground""#)
        + Self.line(2, "08:20:00", #""type":"background""#), in: workspace, "--no-upload")
    #expect(late.messages.contains("Late: 1 record falls in a period already processed"))
    #expect(late.messages.contains("because those settings are not available"))
    #expect(try durations(in: workspace) == ["600", "1080"])
  }

  @Test("Slices that begin with late records find the samples of later ones")
  func samplesAfterSlicesOfLateRecords() throws {
    let workspace = try workspace()
    let late = (0..<3000).map { number in
      let time = Instant(milliseconds: 1_767_254_400_000 + 1000 * Int64(number)).rfc3339.dropFirst(11).dropLast()
      return Self.line(1, String(time), #""type":"namedEvent","name":"n\#(number)""#)
    }
    let inOrder =
      Self.line(1, "13:00:00", #""type":"namedEvent","name":"last""#)
      + Self.line(1, "13:00:01", #""type":"location","latitude":1.5,"longitude":2.5"#)
    var results: [String] = []
    for limit in ["1048576", "128000000"] {
      let store = "\(limit).sqlite"
      let more = [
        "--no-upload", "--set", "Ingest.memoryLimit=\(limit)", "--set", "Ingest.rewind=0 seconds", "--store", store,
      ]
      let first = Self.line(1, "12:00:00", #""type":"namedEvent","name":"noon""#)
      try workspace.write("in/2.ndjson", "")
      try night(1, first, in: workspace, more)
      try workspace.write("in/2.ndjson", late.joined() + inOrder)
      try night(1, first, in: workspace, more)
      results.append(
        try workspace.run("store", "events", "--store", store, "--show-personal-data", "--format", "json").output)
    }
    #expect(results[0].contains("\"1.5\""))
    #expect(results[0] == results[1])
  }

  @Test("Records that come in slices are not taken back, and a higher limit takes them back")
  func slices() throws {
    let workspace = try workspace()
    let many = (0..<3000).map { number in
      // From ten on, a record each second.
      let time = Instant(milliseconds: 1_767_261_600_000 + 1000 * Int64(number)).rfc3339.dropFirst(11).dropLast()
      return Self.line(1, String(time), #""type":"namedEvent","name":"n\#(number)""#)
    }
    let late = Self.line(1, "08:00:00", #""type":"launch""#)
    for (limit, told) in [("1048576", true), ("128000000", false)] {
      let limits = ["--no-upload", "--set", "Ingest.memoryLimit=\(limit)", "--store", "\(limit).sqlite"]
      try workspace.write("in/2.ndjson", "")
      try night(1, many.joined(), in: workspace, limits)
      let second = try night(2, late, in: workspace, limits)
      #expect(
        second.messages.contains("Late: 1 record falls in a period already processed") == told, "\(second.messages)")
    }
  }

  @Test("Beyond the reach a late record stands alone")
  func beyondTheReachALateRecordStandsAlone() throws {
    let workspace = try workspace()
    let session =
      Self.line(1, "08:00:00", #""type":"launch""#) + Self.line(1, "08:10:00", Self.opened)
      + Self.line(1, "09:00:00", #""type":"background""#)
    try night(1, session, in: workspace, "--no-upload", "--set", "Ingest.rewind=1 hour")
    let late = try night(
      1, session + Self.line(1, "08:30:00", #""type":"namedEvent","name":"late""#), in: workspace, "--no-upload",
      "--set",
      "Ingest.rewind=1 hour")
    #expect(late.messages.contains("Late: 1 record falls in a period already processed"))
    let events = try workspace.run("store", "events", "--store", Self.store, "--show-personal-data", "--type", "17")
      .lines
    #expect(events.count == 2 && events[1].contains("late") && !events[1].contains("Spring"))
    #expect(try Summary(workspace.read("summary.json")).text("rewind") == "null")
  }

  /// What a device is taken back for is kept with its state, and carried out by the next run where this one is killed in between.
  @Test(
    "A kill loses nothing of what is decided anew", arguments: ["before-local-commit:1", "after-local-commit:1"])
  func killedInBetween(point: String) throws {
    let days = [
      Self.line(1, "08:00:00", #""type":"launch""#) + Self.line(1, "08:10:00", #""type":"background""#)
        + Self.line(1, "12:00:00", #""type":"namedEvent","name":"noon""#),
      Self.line(1, "08:12:00", #""type":"foreground""#) + Self.line(1, "08:20:00", #""type":"background""#),
    ]
    let (whole, killed) = (try workspace(), try workspace())
    for (day, lines) in days.enumerated() { try night(day + 1, lines, in: whole, "--no-upload") }
    try night(1, days[0], in: killed, "--no-upload")
    try killed.write("in/2.ndjson", days[1])
    let arguments = ["run", "job.json", "--sandbox", "--as-of", "2026-01-03T02:00:00Z", "--no-upload"]
    #expect(try killed.run(arguments, environment: ["ENGAGE_CRASH_AT": point]).code == 137)
    try night(3, "", in: killed, "--no-upload")
    try night(3, "", in: whole, "--no-upload")
    func events(_ workspace: Workspace) throws -> [String] {
      try workspace.run("store", "events", "--store", Self.store, "--show-personal-data", "--format", "json").lines
        .map { $0.replacingOccurrences(of: workspace.path, with: "") }
    }
    #expect(try events(killed) == events(whole))
  }

  @Test("A dry run rewinds in memory, and writes events in their new form only")
  func dryRun() throws {
    let workspace = try workspace()
    let day = Self.line(1, "08:00:00", #""type":"launch""#) + Self.line(1, "08:10:00", #""type":"background""#)
    try night(1, day, in: workspace, "--no-upload")
    try workspace.write(
      "in/2.ndjson",
      Self.line(1, "08:12:00", #""type":"foreground""#) + Self.line(1, "08:20:00", #""type":"background""#))
    let arguments = ["--sandbox", "--as-of", "2026-01-03T02:00:00Z", "--events-out", "-"]
    let dry = try workspace.run(["run", "job.json", "--dry-run"] + arguments)
    #expect(dry.code == 0, "\(dry.messages)")
    let ends = dry.lines.filter { $0.contains(#""eventTypeCode":"14""#) }
    #expect(ends.count == 1 && ends[0].contains(#""value":"1080""#))
    #expect(try workspace.run("store", "corrections", "--store", Self.store).lines.count == 1)
    let run = try workspace.run(["run", "job.json", "--no-upload"] + arguments)
    #expect(run.lines.filter { $0.contains(#""eventTypeCode":"14""#) } == ends)
  }
}
