import BatchFoundation
import BatchSandbox
import Testing

/// `rerun`: a day of a store is decided once more.
@Suite("Reruns of a day") struct RerunTests {
  /// A phone over three days, with sessions of five minutes.
  private static let days = [
    ("2026-01-14", [#""type":"launch""#, #""type":"background""#]),
    ("2026-01-15", [#""type":"foreground""#, #""type":"background""#]),
    ("2026-01-16", [#""type":"foreground""#, #""type":"background""#]),
  ]

  private func line(_ device: String, _ time: String, _ rest: String) -> String {
    #"{"deviceId":"\#(device)","timestamp":"\#(time)Z","mobileUserId":"u",\#(rest)}"#
  }

  private func write(_ workspace: Workspace, _ day: String, _ lines: [String]) throws {
    try workspace.write("in/\(day).ndjson", lines.map { $0 + "\n" }.joined())
  }

  /// A job over all days, and one export for each.
  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    for (day, records) in Self.days {
      try write(
        workspace, day, records.enumerated().map { line("phone", "\(day)T08:0\($0):00", $1) })
    }
    try workspace.write(
      "job.json",
      #"""
      {"name": "own", "inputs": {"events": ["in/{yyyy}-{MM}-{dd}.ndjson"]}, "window": {"from": "yesterday", "to": "today"},
       "settings": {"Report": {"personalData": "clear"}, "Session": {"sessionLifecycleExpiration": "5 minutes"}}}
      """#)
    return workspace
  }

  private func night(_ workspace: Workspace, _ day: Int, _ options: [String]) throws {
    let night = try workspace.run(["run", "job.json", "--as-of", "2026-01-\(day)T00:00:00Z"] + options)
    #expect(night.code == 0, "\(night.messages)")
  }

  private func events(
    _ workspace: Workspace, _ options: [String] = [], store: String = "own.sqlite"
  ) throws -> [String] {
    let listing = try workspace.run(["store", "events", "--store", store, "--format", "json"] + options)
    let rows = try JSONNode.parse(Array(listing.output.utf8)).array ?? []
    return rows.map { row in
      "\(row["eventTimestamp"]?.string ?? "") \(row["eventTypeCode"]?.string ?? "") \(row["status"]?.string ?? "")"
    }
  }

  private static let day = ["rerun", "job.json", "--window", "2026-01-15"]

  @Test("A day whose export was completed gets the events that it would have had; days around it stay")
  func unsent() throws {
    let workspace = try workspace()
    for day in 15...17 { try night(workspace, day, ["--no-upload"]) }
    let before = try events(workspace)
    let rest = ["14", "16"].flatMap { day in before.filter { $0.hasPrefix("2026-01-\(day)") } }

    let same = try workspace.run(Self.day)
    #expect(same.code == 0, "\(same.messages)")
    #expect(
      same.output == """
        2026-01-15T00:00:00.000Z to 2026-01-16T00:00:00.000Z, 6 read from 3 files: 6 accepted, 0 duplicates, 0 out of window, 0 quarantined
        pending before: 2 events; after: 2, of which 2 unchanged
        sent before: 0 events; 0 unchanged, 0 with different attributes, 0 no longer produced

        """)
    #expect(try events(workspace) == before)

    let lines = try workspace.read("in/2026-01-15.ndjson")
    try workspace.write(
      "in/2026-01-15.ndjson",
      lines + line("phone", "2026-01-15T09:00:00", #""type":"foreground""#) + "\n"
        + line("phone", "2026-01-15T09:02:00", #""type":"background""#) + "\n")
    let dry = try workspace.run(Self.day + ["--dry-run"])
    #expect(dry.output.contains("pending before: 2 events; after: 4, of which 2 unchanged"), "\(dry.output)")
    #expect(dry.messages == "nothing was changed\n")
    #expect(try events(workspace) == before)

    let rerun = try workspace.run(Self.day)
    #expect(rerun.output.contains("pending before: 2 events; after: 4, of which 2 unchanged"))
    #expect(
      rerun.output.contains(
        "2 previously unread lines imported: 1 device rewound, 2 events added, 0 replaced, 0 withdrawn, 0 corrections\n"
      ))
    #expect(rerun.messages.hasPrefix("To send pending events: engage-batch post "), "\(rerun.messages)")
    let after = try events(workspace)
    #expect(["14", "16"].flatMap { day in after.filter { $0.hasPrefix("2026-01-\(day)") } } == rest)
    #expect(after.filter { $0.hasPrefix("2026-01-15") }.count == 4)

    // The night's run finds nothing new in the lines that were rerun.
    let again = try workspace.run("run", "job.json", "--as-of", "2026-01-16T00:00:00Z", "--no-upload", "--summary", "-")
    #expect(try Summary(again.output)["records.accepted"] == 0)
    #expect(try events(workspace) == after)
    let history = try workspace.run("history", "--job", "job.json", "--format", "json")
    let modes = try JSONNode.parse(Array(history.output.utf8)).array?.map { $0["mode"]?.string ?? "" }
    #expect(modes == ["no-upload", "no-upload", "no-upload", "rerun", "rerun", "no-upload"])
  }

  @Test("Sessions that reach across midnight are decided from the day before")
  func acrossDays() throws {
    let workspace = try workspace()
    try write(
      workspace, "2026-01-14",
      [line("phone", "2026-01-14T23:50:00", #""type":"launch""#)])
    try write(
      workspace, "2026-01-15",
      [line("phone", "2026-01-15T00:10:00", #""type":"background""#)])
    for day in 15...17 { try night(workspace, day, ["--no-upload"]) }
    let before = try events(workspace)
    let rerun = try workspace.run(Self.day)
    #expect(rerun.output.contains("pending before: 1 event; after: 1, of which 1 unchanged"), "\(rerun.output)")
    #expect(try events(workspace) == before)
  }

  @Test("What was sent stays, is compared, and goes out again only when told")
  func sent() throws {
    let workspace = try workspace()
    for day in 15...17 { try night(workspace, day, ["--sandbox"]) }
    let store = ["--sandbox"]
    func posted() throws -> Int {
      try events(workspace, ["--status", "SUCCESSFULLY_POSTED"], store: "own.sandbox.sqlite").count
    }
    func waiting() throws -> Int {
      try events(workspace, ["--status", "NOT_POSTED"], store: "own.sandbox.sqlite").count
    }
    let all = try posted()
    #expect(try waiting() == 0)

    let same = try workspace.run(Self.day + store)
    #expect(same.output.contains("sent before: 2 events; 2 unchanged, 0 with different"), "\(same.output)")
    #expect(try (posted(), waiting()) == (all, 0))

    // The phone went to the background later: its session lasts longer and ends at another time. The end was sent: that is a correction.
    try write(
      workspace, "2026-01-15",
      [
        line("phone", "2026-01-15T08:00:00", #""type":"foreground""#),
        line("phone", "2026-01-15T08:03:00", #""type":"background""#),
      ])
    let other = try workspace.run(Self.day + store)
    #expect(other.output.contains("pending before: 0 events; after: 0, of which 0 unchanged"), "\(other.output)")
    #expect(
      other.output.contains("sent before: 2 events; 1 unchanged, 1 with different attributes, 0 no longer produced"))
    #expect(try (posted(), waiting()) == (all, 0))
    let corrections = try workspace.run("store", "corrections", "--store", "own.sandbox.sqlite", "--format", "json")
    #expect(try JSONNode.parse(Array(corrections.output.utf8)).array?.count == 1)
    let twice = try workspace.run(Self.day + store + ["--send-again", "all"])
    #expect(twice.output.contains("pending before: 0 events; after: 2, of which 0 unchanged"), "\(twice.output)")
    let post = try workspace.run("post", "job.json", "--sandbox")
    #expect(post.code == 0, "\(post.messages)")
    #expect(try (posted(), waiting()) == (all + 2, 0))
  }

  @Test("An event with different attributes is told, and sent again when told")
  func different() throws {
    let workspace = try workspace()
    for day in 15...17 { try night(workspace, day, ["--sandbox"]) }
    try write(
      workspace, "2026-01-15",
      [
        line("phone", "2026-01-15T08:00:00", #""type":"foreground""#),
        line("phone", "2026-01-15T08:01:00", #""type":"background""#),
      ].map { $0.replacing(#""mobileUserId":"u""#, with: #""mobileUserId":"v""#) })
    let told = try workspace.run(Self.day + ["--sandbox"])
    #expect(
      told.output.contains("sent before: 2 events; 0 unchanged, 2 with different attributes, 0"), "\(told.output)")
    #expect(
      told.messages
        == "sent events whose attributes now differ are not sent again; to send them, use --send-again different\n")
    let again = try workspace.run(Self.day + ["--sandbox", "--send-again", "different", "--format", "json"])
    let document = try JSONNode.parse(Array(again.output.utf8))
    #expect(document["sent"]?["different"]?.integer == 2)
    #expect(document["waiting"]?["now"]?.integer == 2)
  }

  @Test("What may have been sent counts as sent, also when it is decided otherwise now")
  func inDoubt() throws {
    let workspace = try workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [FaultRule(endpoint: .events, occurrence: .nth([1]), point: .applied, action: .close)]
    let service = try Service(options)
    let hold = ["--set", "Upload.onUnknown=hold"]
    let night = try workspace.run(
      ["run", "job.json", "--as-of", "2026-01-16T00:00:00Z"] + hold, environment: service.environment)
    #expect(night.code == 76, "\(night.messages)")
    let unknown = try events(workspace)
    let same = try workspace.run(Self.day + hold)
    #expect(
      same.output.hasSuffix(
        """
        pending before: 0 events; after: 0, of which 0 unchanged
        sent before: 2 events; 2 unchanged, 0 with different attributes, 0 no longer produced
        it is unknown whether the service has received 2 of these (see 'store events')

        """), "\(same.output)\(same.messages)")
    let lines = try workspace.read("in/2026-01-15.ndjson")
    try workspace.write(
      "in/2026-01-15.ndjson", lines.replacing(#""mobileUserId":"u""#, with: #""mobileUserId":"v""#))
    let other = try workspace.run(Self.day + hold)
    #expect(other.output.contains("after: 0, of which 0 unchanged"))
    let sent =
      "2 with different attributes, 0 no longer produced\n"
      + "it is unknown whether the service has received 2 of these"
    #expect(other.output.contains(sent))
    #expect(try events(workspace) == unknown)
    // Sent without hold it waits to be sent again as it is, and that is no reason to send another event.
    #expect(try workspace.run("store", "requeue", "--store", "own.sqlite", "--status", "UNKNOWN").code == 0)
    let waiting = try workspace.run(Self.day)
    #expect(waiting.output.contains("after: 0, of which 0 unchanged"), "\(waiting.output)")
    #expect(try events(workspace, ["--status", "NOT_POSTED"]).count == 2)
  }

  @Test("A device that holds events back lets them go by a line that is new")
  func held() throws {
    let workspace = try workspace()
    let nameless = #"{"deviceId":"nameless","timestamp":"2026-01-15T10:00:00Z","type":"namedEvent","name":"n"}"#
    let lines = try workspace.read("in/2026-01-15.ndjson")
    try workspace.write("in/2026-01-15.ndjson", lines + nameless + "\n")
    for day in 15...16 { try night(workspace, day, ["--no-upload"]) }
    let before = try events(workspace)
    #expect(before.count == 6)
    let named = nameless.replacing(#""type""#, with: #""mobileUserId":"w","type""#)
    try workspace.write("in/2026-01-15.ndjson", lines + named + "\n")
    let rerun = try workspace.run(Self.day)
    #expect(rerun.code == 0, "\(rerun.messages)")
    // With the line the device has its name: begin and end of its session go, and the new event beside the one that went before.
    let after = try events(workspace)
    #expect(after.count == 9)
    // As by a run that reads the fixed file.
    let night = try workspace.run("run", "job.json", "--as-of", "2026-01-16T00:00:00Z", "--no-upload", "--summary", "-")
    #expect(try Summary(night.output)["records.accepted"] == 0)
    #expect(try events(workspace) == after)
  }

  @Test("An identify record that no run had read is checked by the next run, once")
  func checks() throws {
    let workspace = try workspace()
    let job = try workspace.read("job.json")
    try workspace.write(
      "job.json",
      job.replacing(#""name": "own","#, with: #""name": "own", "identity": true,"#).replacing(
        #""settings": {"#,
        with: #""settings": {"General": {"databaseListId": "100001"}, "AuditRecord": {"auditRecordListId": "50002"}, "#)
    )
    let service = try Service()
    func send(_ words: String...) throws -> Summary {
      let run = try workspace.run(words + ["--summary", "-"], environment: service.environment)
      #expect(run.code == 0, "\(run.messages)")
      return try Summary(run.output)
    }
    #expect(try send("run", "job.json", "--as-of", "2026-01-16T00:00:00Z")["identity.checks"] == 0)
    let lines = try workspace.read("in/2026-01-15.ndjson")
    let identify = line("phone", "2026-01-15T08:00:30", #""type":"identify","ids":{"customer_id":"c-9"}"#)
    try workspace.write("in/2026-01-15.ndjson", lines + identify + "\n")
    for checks in [1, 0] {
      let rerun = try workspace.run(Self.day, environment: service.environment)
      #expect(rerun.code == 0, "\(rerun.messages)")
      #expect(try send("post", "job.json")["identity.checks"] == checks)
    }
  }

  @Test("Inputs that are gone, windows that nothing was decided of and stores without a run are refused")
  func refusals() throws {
    let workspace = try workspace()
    let none = try workspace.run(Self.day)
    #expect(none.code == 66, "\(none.messages)")
    for day in 15...17 { try night(workspace, day, ["--no-upload"]) }
    let later = try workspace.run("rerun", "job.json", "--from", "2026-02-01T00:00:00Z", "--to", "2026-02-02T00:00:00Z")
    #expect(later.code == 78)
    #expect(later.messages.contains("the store covers 2026-01-14T08:00:00.000Z to 2026-01-17T00:00:00.000Z"))
    try workspace.remove("in/2026-01-14.ndjson")
    let before = try events(workspace)
    let gone = try workspace.run(Self.day)
    #expect(gone.code == 66)
    #expect(gone.messages.contains("1 file that earlier runs read (first: '"))
    #expect(try events(workspace) == before)
    let allowed = try workspace.run(Self.day + ["--allow-missing-inputs"])
    #expect(allowed.code == 0, "\(allowed.messages)")
    #expect(allowed.messages.contains("1 file from earlier runs is missing"))
    for (options, words) in [
      (
        ["--from", "2026-01-15T00:00:00Z"],
        "Give the window with --from and --to, or with --window FROM/TO or --window DAY."
      ),
      (["--window", "2026-01-16T00:00:00Z/2026-01-15T00:00:00Z"], "The window must end after it begins."),
    ] {
      let refused = try workspace.run(["rerun", "job.json"] + options)
      #expect(refused.code == 64 && refused.messages.contains(words), "\(refused.messages)")
    }
  }

  @Test("A day of a game: what its schema refused is decided again, and nothing is sent twice")
  func game() throws {
    let workspace = try Workspace()
    let window = ["--window", "2026-01-15T00:00:00Z/2026-01-16T00:00:00Z"]
    #expect(try workspace.run("run", "jobs/game.json", "--sandbox").code == 0)
    let same = try workspace.run(["rerun", "jobs/game.json", "--sandbox"] + window)
    #expect(same.code == 0, "\(same.messages)")
    #expect(
      same.output.contains("sent before: 23 events; 23 unchanged, 0 with different attributes, 0 no longer"),
      "\(same.output)")
    #expect(same.output.contains("pending before: 0 events; after: 0, of which 0 unchanged"))

    let store = ["--store", "var/game.sandbox.sqlite"]
    #expect(try workspace.run(["quarantine", "list", "--reason", "schema-invalid"] + store).lines.count == 2)
    let lax = try workspace.run(
      ["rerun", "jobs/game.json", "--sandbox", "--set", "DeltaDNA.onInvalid=send"] + window)
    #expect(lax.output.contains("pending before: 0 events; after: 1, of which 0 unchanged"), "\(lax.output)")
    #expect(try workspace.run(["quarantine", "list", "--reason", "schema-invalid"] + store).lines.count == 1)
    let strict = try workspace.run(["rerun", "jobs/game.json", "--sandbox"] + window)
    #expect(strict.output.contains("pending before: 1 event; after: 0, of which 0 unchanged"), "\(strict.output)")
    #expect(try workspace.run(["quarantine", "list", "--reason", "schema-invalid"] + store).lines.count == 2)
  }
}
