import BatchFoundation
import FoundationEssentials
import Testing

/// What a store tells of its runs, events and devices.
@Suite("Looking back") struct HistoryTests {
  private static let store = "var/nightly.sandbox.sqlite"

  /// The job run against the sandbox.
  private func workspace() throws -> Workspace {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox", "--progress", "none").code == 0)
    return workspace
  }

  private func rows(_ finished: Finished) throws -> [JSONNode] {
    #expect(finished.code == 0, "\(finished.messages)")
    return try JSONNode.parse(Array(finished.output.utf8)).array ?? []
  }

  private func listed(_ workspace: Workspace, _ arguments: String...) throws -> [JSONNode] {
    try rows(workspace.run(["store"] + arguments + ["--store", Self.store, "--format", "json"]))
  }

  @Test("Figures of a run add up: lines read, and events of a game that were kept back")
  func quarantinedEventsOfGames() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/game.json", "--sandbox").code == 0)
    let run = try #require(
      rows(workspace.run("history", "--job", "jobs/game.json", "--sandbox", "--format", "json")).first)
    func figures(_ names: String...) -> [Int64?] { names.map { run[$0]?.integer } }
    #expect(figures("read", "accepted", "duplicates", "outOfWindow", "quarantined") == [21, 20, 1, 0, 0])
    #expect(figures("events", "quarantinedEvents", "expiredEvents", "posted") == [23, 1, 0, 23])
  }

  @Test("history tells of each run how it ended, what it did, and what was configured otherwise")
  func history() throws {
    let workspace = try workspace()
    let changed = try workspace.run(
      "run", "jobs/nightly.json", "--sandbox", "--set", "Session.sessionLifecycleExpiration=10 minutes", "--set",
      "Connection.secret=canary-secret")
    #expect(changed.code == 0, "\(changed.messages)")
    let refused = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--max-quarantine", "0")
    #expect(refused.code == 65)
    let all = try workspace.run("history", "--job", "jobs/nightly.json", "--sandbox", "--format", "json")
    let runs = try rows(all)
    #expect(!all.output.contains("canary-secret"))
    #expect(runs.map { $0["run"]?.integer } == [1, 2, 3])
    #expect(runs.map { $0["mode"]?.string } == ["run", "run", "run"])
    #expect(runs.map { $0["ending"]?.integer } == [0, 0, 65])
    #expect(runs.map { $0["read"]?.integer } == [36, 36, 36])
    #expect(runs.map { $0["duplicates"]?.integer } == [1, 34, 34])
    #expect(runs.map { $0["events"]?.integer } == [37, 0, 0])
    #expect(runs.map { $0["posted"]?.integer } == [37, 0, 0])
    #expect(runs[0]["changed"]?.array?.isEmpty == true)
    let change = try #require(runs[1]["changed"]?.array?.first)
    #expect(change["setting"]?.string == "Session.sessionLifecycleExpiration")
    #expect(change["before"]?.string == "5 minutes")
    #expect(change["after"]?.string == "10 minutes")
    #expect(runs[1]["changed"]?.array?.count == 1)
    #expect(runs[2]["changed"]?.array?.first?["after"]?.string == "5 minutes")

    let text = try workspace.run("history", "--store", Self.store, "--limit", "1")
    #expect(text.lines.count == 2)
    #expect(text.lines[0].hasPrefix("run\tjob\tmode\tstarted\tseconds\t"))
    #expect(text.lines[1].hasPrefix("3\tnightly\trun\t"))
    #expect(
      text.lines[1].hasSuffix("\tSession.sessionLifecycleExpiration: 10 minutes -> 5 minutes"), "\(text.lines[1])")
    let unknown = try workspace.run("history", "--store", Self.store, "--run", "7")
    #expect(unknown.code == 64)
    #expect(unknown.messages == "error: the store has no run '7'; its last run is 3; see 'engage-batch history'\n")
  }

  @Test("A run that was killed is listed as unfinished")
  func unfinished() throws {
    let workspace = try Workspace()
    let killed = try workspace.run(
      "run", "jobs/nightly.json", "--sandbox", environment: ["ENGAGE_CRASH_AT": "after-local-commit:1"])
    #expect(killed.code > 128)
    let runs = try rows(workspace.run("history", "--store", Self.store, "--format", "json"))
    #expect(runs.map { $0["ending"]?.string } == ["unfinished"])
    #expect(runs[0]["seconds"]?.string == nil && runs[0]["seconds"]?.integer == nil)
  }

  @Test("Events are found by type, device, campaign, time and place in the listing")
  func events() throws {
    let workspace = try workspace()
    let all = try listed(workspace, "events", "--show-personal-data")
    #expect(all.count == 37)
    func ids(_ rows: [JSONNode]) -> [String] { rows.compactMap { $0["id"]?.string } }
    let order = ids(all)
    #expect(try listed(workspace, "events", "--type", "17").count == 8)
    #expect(try listed(workspace, "events", "--type", "99").isEmpty)

    let device = try #require(all[0]["device"]?.string)
    let own = ids(all.filter { $0["device"]?.string == device })
    #expect(try ids(listed(workspace, "events", "--device", device)) == own)
    let hash = try #require(listed(workspace, "events", "--limit", "1")[0]["device"]?.string)
    #expect(hash != device && hash.utf8.count == 16)
    #expect(try ids(listed(workspace, "events", "--device", hash)) == own)

    let from = try #require(all[10]["eventTimestamp"]?.string)
    let to = try #require(all[20]["eventTimestamp"]?.string)
    let within = ids(
      all.filter { from <= ($0["eventTimestamp"]?.string ?? "") && ($0["eventTimestamp"]?.string ?? "") < to })
    #expect(try ids(listed(workspace, "events", "--from", from, "--to", to)) == within)
    #expect(!within.isEmpty)

    // Pages of five, each behind the last event of the one before, are the whole listing.
    var paged: [String] = []
    for _ in 0..<20 {
      let after = paged.last.map { ["--after", $0] } ?? []
      let page = try workspace.run(
        ["store", "events", "--store", Self.store, "--format", "json", "--limit", "5"] + after)
      paged += try ids(rows(page))
    }
    #expect(paged == order)

    let campaigns = try listed(workspace, "campaigns", "--show-personal-data", "--as-of", "2026-01-16T00:00:00Z")
    let campaign = try #require(campaigns.first?["campaign"]?.string)
    let named = all.filter { row in
      row["attributes"]?.array?.contains {
        $0["name"]?.string == "Campaign Name" && $0["value"]?.string == campaign
      } == true
    }
    #expect(!named.isEmpty)
    #expect(try ids(listed(workspace, "events", "--campaign", campaign)) == ids(named))
  }

  @Test("A store is named by its path or by the job that keeps it")
  func ofJob() throws {
    let workspace = try workspace()
    let job = ["--job", "jobs/nightly.json", "--sandbox"]
    for words in [
      ["store", "events", "--limit", "3"], ["store", "sessions"], ["store", "status"], ["store", "check"],
      ["store", "campaigns", "--as-of", "2026-01-16T00:00:00Z"], ["store", "erasures"], ["quarantine", "list"],
    ] {
      let named = try workspace.run(words + job)
      #expect(named.code == 0, "\(named.messages)")
      #expect(try named == workspace.run(words + ["--store", Self.store]))
    }
    let both = try workspace.run(["store", "events", "--store", Self.store] + job)
    #expect(both.code == 64)
    let wanted =
      "Error: Both a job (jobs/nightly.json) and --store \(Self.store) were given, and each names a store; leave out one."
    #expect(both.messages.hasPrefix(wanted), "\(both.messages)")
    #expect(try workspace.run("store", "status", "--job", "jobs/nightly.json").code != 0)
  }

  @Test("Devices are found by session, campaign and place in the listing")
  func devices() throws {
    let workspace = try workspace()
    let sessions = try listed(workspace, "sessions", "--show-personal-data")
    let names = sessions.compactMap { $0["device"]?.string }
    #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(names.count > 2)
    func devices(_ rows: [JSONNode]) -> [String] { rows.compactMap { $0["device"]?.string } }
    for status in ["none", "active", "paused"] {
      #expect(
        try devices(listed(workspace, "sessions", "--show-personal-data", "--status", status))
          == devices(sessions.filter { $0["session"]?.string == status }))
    }
    #expect(
      try devices(listed(workspace, "sessions", "--show-personal-data", "--after", names[0], "--limit", "1"))
        == [names[1]])
    #expect(try devices(listed(workspace, "sessions", "--show-personal-data", "--device", names[1])) == [names[1]])
    let campaigns = try listed(workspace, "campaigns", "--as-of", "2026-01-16T00:00:00Z")
    let active = try listed(workspace, "campaigns", "--as-of", "2026-01-16T00:00:00Z", "--status", "active")
    #expect(active.allSatisfy { $0["active"]?.bool == true })
    #expect(active.count == campaigns.count { $0["active"]?.bool == true })
    let name = try #require(campaigns.first?["campaign"]?.string)
    #expect(
      try listed(workspace, "campaigns", "--campaign", name).count
        == campaigns.count { $0["campaign"]?.string == name })
  }

  @Test("An unknown device, event or run ends with 64, and names that are nearly the same are told, devices as hashes")
  func unknown() throws {
    let workspace = try workspace()
    let device = try workspace.run("store", "sessions", "--store", Self.store, "--device", "A1F0C9D2-001")
    #expect(device.code == 64)
    let hint = try #require(
      device.messages.firstMatch(of: /^error: the store has no device 'A1F0C9D2-001'; did you mean '([0-9a-f]{16})'/),
      "\(device.messages)")
    #expect(try !listed(workspace, "sessions", "--device", String(hint.1)).isEmpty)
    #expect(!device.messages.contains("A1F0C9D2-0001"))
    let known = try #require(listed(workspace, "events", "--limit", "1")[0]["id"]?.string)
    let slip = String(known.dropLast()) + (known.hasSuffix("0") ? "1" : "0")
    let event = try workspace.run("store", "events", "--store", Self.store, "--id", slip)
    #expect(event.code == 64)
    #expect(event.messages.contains("the store has no event '\(slip)'; did you mean "), "\(event.messages)")
    #expect(event.messages.contains(known))
    #expect(try workspace.run("store", "events", "--store", Self.store, "--after", slip).code == 64)
  }
}
