import BatchSandbox
import TestSupport
import Testing

@Suite("A backfill") struct BackfillTests {
  static let command = [
    "backfill", "jobs/every-night.json", "--from", "2026-01-14T00:00:00Z", "--to", "2026-01-17T00:00:00Z", "--sandbox",
  ]

  @Test("It runs each window once, skips days without files, and goes on by the same command")
  func windows() throws {
    let workspace = try Workspace()
    let none = "0 read, 0 accepted, 0 quarantined, 0 events, 0 posted"
    let all = "36 read, 33 accepted, 1 duplicate, 2 quarantined, 37 events, 37 posted"
    let run = try workspace.run(Self.command)
    #expect(run.code == 0)
    #expect(
      run.messages == """
        2026-01-14T00:00:00.000Z to 2026-01-15T00:00:00.000Z  no input
        2026-01-15T00:00:00.000Z to 2026-01-16T00:00:00.000Z  \(all)
        2026-01-16T00:00:00.000Z to 2026-01-17T00:00:00.000Z  no input
        backfill: 1 window done, 0 done before, 2 without input: \(all)

        """)
    let again = try workspace.run(Self.command)
    #expect(
      again.messages == """
        2026-01-14T00:00:00.000Z to 2026-01-15T00:00:00.000Z  no input
        2026-01-15T00:00:00.000Z to 2026-01-16T00:00:00.000Z  done before
        2026-01-16T00:00:00.000Z to 2026-01-17T00:00:00.000Z  no input
        backfill: 0 windows done, 1 done before, 2 without input: \(none)

        """)
  }

  @Test("Where a required input is missing, the way on that is told goes on")
  func requiredInput() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": [{"path": "in/{yyyy}-{MM}-{dd}.ndjson", "required": true}]},"#
        + #" "window": {"from": "yesterday", "to": "today"}, "store": "s.sqlite"}"#)
    for day in ["14", "16"] {
      try workspace.write(
        "in/2026-01-\(day).ndjson",
        #"{"deviceId":"d","timestamp":"2026-01-\#(day)T08:00:00Z","type":"namedEvent","name":"n"}"# + "\n")
    }
    let command = ["backfill", "job.json", "--from", "2026-01-14", "--to", "2026-01-17", "--no-upload"]
    let stopped = try workspace.run(command)
    #expect(stopped.code == 66)
    #expect(
      stopped.messages.hasSuffix(
        "Once the input is available, repeat the command to continue from here; to continue without the input, "
          + "add --allow-missing.\n"
      ),
      "\(stopped.messages)")
    let gone = try workspace.run(command + ["--allow-missing"])
    #expect(gone.code == 0 && gone.messages.contains("1 done before, 1 without input"), "\(gone.messages)")
  }

  @Test("Events that the checks set aside count with the lines that were quarantined")
  func quarantinedEvents() throws {
    let workspace = try Workspace()
    let run = try workspace.run(
      "backfill", "jobs/game.json", "--from", "2026-01-15T00:00:00Z", "--to", "2026-01-16T00:00:00Z", "--sandbox")
    #expect(run.code == 0)
    #expect(
      run.messages.hasSuffix(
        "backfill: 1 window done, 0 done before, 0 without input: "
          + "21 read, 20 accepted, 1 duplicate, 1 quarantined, 23 events, 23 posted\n"), "\(run.messages)")
  }

  /// The moment for which a night was run counted as the end of its window, so no backfill went on behind nights run at 02:15.
  @Test("It goes on behind nights that were run hours after the end of their windows")
  func behindNights() throws {
    let workspace = try Workspace()
    let night = try workspace.run("run", "jobs/every-night.json", "--as-of", "2026-01-16T02:15:00Z", "--sandbox")
    #expect(night.code == 0, "\(night.messages)")
    let run = try workspace.run(Self.command)
    #expect(run.code == 0)
    #expect(
      run.messages.hasPrefix(
        """
        2026-01-14T00:00:00.000Z to 2026-01-15T00:00:00.000Z  no input
        2026-01-15T00:00:00.000Z to 2026-01-16T00:00:00.000Z  done before

        """), "\(run.messages)")
  }

  /// The end of its run was kept as the moment for which it was run, so no backfill went on.
  @Test("Running a night again after later ones blocks no backfill")
  func behindARepair() throws {
    let workspace = try Workspace()
    for asOf in ["2026-01-16T02:15:00Z", "2026-01-19T02:15:00Z", "2026-01-16T02:15:00Z"] {
      // Of the 18th there is no export.
      let more =
        asOf.contains("-19") ? ["--from", "2026-01-18", "--to", "2026-01-19", "--set", "Ingest.rewind=0s"] : []
      if !more.isEmpty {
        _ = try workspace.shell("cd samples/events && cp 2026-01-15-ios.ndjson 2026-01-18-ios.ndjson")
      }
      let night = try workspace.run(["run", "jobs/every-night.json", "--as-of", asOf, "--sandbox"] + more)
      #expect(night.code == 0, "\(night.messages)")
    }
    let run = try workspace.run(Self.command)
    #expect(run.code == 0, "\(run.messages)")
    #expect(
      run.messages.contains("2026-01-15T00:00:00.000Z to 2026-01-16T00:00:00.000Z  done before\n"), "\(run.messages)")
  }

  /// It said that all was done before, and no more.
  @Test("It tells what the service refuses also where all windows were done before")
  func refusedBefore() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson", #"{"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"identify","ids":{"customer_id":"c"}}"#)
    try workspace.write(
      "job.json",
      #"{"name": "j", "identity": true, "inputs": {"events": ["in.ndjson"]}, "store": "j.sqlite","#
        + #" "settings": {"General": {"databaseListId": "100001"}}}"#)
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(
        endpoint: .xmlapi, operation: "UpdateRecipient",
        action: .fault(id: 1007, text: nil, errorClass: "SP.API"))
    ]
    let service = try Service(options)
    for code: Int32 in [76, 0] {
      let run = try workspace.run(
        "backfill", "job.json", "--from", "2026-01-15T00:00:00Z", "--to", "2026-01-16T00:00:00Z",
        environment: service.environment)
      #expect(run.code == code, "\(run.messages)")
      #expect(
        run.messages.hasSuffix(
          "The service permanently refuses 1 identity plan; see: engage-batch identity list --open --store "
            + "\(workspace.path)/j.sqlite\n"), "\(run.messages)")
    }
    service.server.setFaults(FaultPlan())
    let resumed = try workspace.run(
      "identity", "resume", "--store", "j.sqlite", "--job", "job.json", environment: service.environment)
    #expect(resumed.code == 0, "\(resumed.messages)")
    let whole = try workspace.run(
      "backfill", "job.json", "--from", "2026-01-15T00:00:00Z", "--to", "2026-01-16T00:00:00Z",
      environment: service.environment)
    #expect(whole.code == 0 && !whole.messages.contains("refuses"), "\(whole.messages)")
  }

  @Test("It refuses windows that overlap what was run, and steps that do not go forward")
  func refuses() throws {
    let workspace = try Workspace()
    #expect(try workspace.run(Self.command).code == 0)
    let across = try workspace.run(
      "backfill", "jobs/every-night.json", "--from", "2026-01-15T12:00:00Z", "--to", "2026-01-16T12:00:00Z", "--sandbox"
    )
    #expect(across.code == 78)
    #expect(
      across.messages.contains(
        "error: earlier runs of 'every-night' cover only part of the window 2026-01-15T12:00:00.000Z to "
          + "2026-01-16T12:00:00.000Z; choose"
      ))
    for (options, words) in [
      (["--to", "2026-01-14T00:00:00Z"], "--to must be later than --from"),
      (["--step", "P0D"], "--step must be longer than zero"),
      (["--step", "1 day"], "'1 day', which is not an ISO 8601 duration"),
      (["--step", "PT1S"], "--step results in more than 10000 windows"),
      (["--zone", "Europe/Lodnon"], "'Europe/Lodnon', which is not a time zone known to this machine"),
    ] {
      let arguments = ["backfill", "jobs/every-night.json", "--from", "2026-01-14T00:00:00Z"]
      let end = options[0] == "--to" ? [] : ["--to", "2026-01-17T00:00:00Z"]
      let refused = try workspace.run(arguments + end + options)
      #expect(refused.code == 64 && refused.messages.contains(words), "\(refused.messages)")
    }
  }

  @Test("A window that fails ends it with the window's exit code, and the same command finishes it")
  func failure() throws {
    let workspace = try Workspace()
    let job = try workspace.read("jobs/every-night.json")
    let arguments = Self.command.dropLast()
    let service = [
      "ENGAGE_BASE_URL": "http://127.0.0.1:9", "ENGAGE_CLIENT_ID": "c", "ENGAGE_SECRET": "s",
      "ENGAGE_REFRESH_TOKEN": "r", "ENGAGE_LIST_ID": "1",
    ]
    try workspace.write("jobs/every-night.json", job.replacing("\"identity\": true", with: "\"identity\": false"))
    let impatient = ["--set", "Networking.maxNumRetries=0", "--set", "Upload.patience=0 seconds"]
    let failed = try workspace.run(Array(arguments) + impatient, environment: service)
    #expect(failed.code == 69)
    #expect(!failed.messages.contains("2026-01-16T00:00:00.000Z to "))
    #expect(failed.messages.hasSuffix("Repeat the command to continue from here.\n"), "\(failed.messages)")
    let kept = try workspace.run(Array(arguments) + ["--no-upload"])
    #expect(kept.code == 0)
    #expect(kept.messages.contains("36 read, 0 accepted"), "\(kept.messages)")
  }
}
