import BatchFoundation
import BatchSandbox
import FoundationEssentials
import Testing

/// A person is removed, whoever else is in the same blocks stays, and no byte of the ids is left.
@Suite("Forget") struct ForgetTests {
  static let records = """
    {"deviceId":"ada-phone-0001","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"ada-lovelace-7"}
    {"deviceId":"ada-phone-0001","timestamp":"2026-01-15T08:01:00Z","type":"identify","ids":{"customer_id":"customer-ada"}}
    {"deviceId":"ada-phone-00012","timestamp":"2026-01-15T08:00:30Z","type":"launch","mobileUserId":"ada-lovelace-77"}
    {"deviceId":"bob-phone-0001","timestamp":"2026-01-15T08:02:00Z","type":"launch","mobileUserId":"bob-7"}
    {"deviceId":"bob-phone-0001","timestamp":"2026-01-15T08:03:00Z","type":"namedEvent","name":"n","params":{"friend":"ada-lovelace-7"}}
    {"deviceId":"bob-phone-0001","timestamp":"2026-01-15T08:04:00Z","type":"namedEvent","name":"m"}
    {"deviceId":"ada-phone-0001","timestamp":"2026-01-15T25:00:00Z","type":"launch"}
    {"deviceId":"ada-phone-\\u0030001","timestamp":"2026-01-15T26:00:00Z","type":"launch"}
    {"deviceId":"bob-phone-0001","timestamp":"2026-01-15T27:00:00Z","type":"launch"}

    """
  static let ids = ["ada-phone-0001", "ada-lovelace-7", "customer-ada"]

  private func workspace(identity: Bool = true) throws -> Workspace {
    let workspace = try Workspace()
    try workspace.write("in/a.ndjson", Self.records)
    try workspace.write(
      "job.json",
      """
      {"name": "j", "configuration": ["configs/EngageConfig.plist"], "inputs": {"events": ["in/*.ndjson"]},
       "settings": {"General": {"databaseListId": "100001"}, "AuditRecord": {"auditRecordListId": "50002"},
                    "Report": {"personalData": "clear"}, "Networking": {"retryDelay": "0s", "maxRetryDelay": "0s"}},
       "identity": \(identity), "asOf": "2026-01-16T00:00:00Z", "store": "var/j.sqlite", "reports": "reports"}
      """)
    return workspace
  }

  /// The ids that stand in a file of the folder as they are, each not as a part of a longer one.
  private func left(_ ids: [String], in folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).flatMap { name -> [String] in
      // A folder has no content of its own.
      guard let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return [] }
      return ids.filter { id in
        let longer = Array("\(id)2".utf8) + [0] + Array("\(id)7".utf8)
        var text = [UInt8](bytes)
        for longer in longer.split(separator: 0) {
          while let range = text.firstRange(of: longer) { text.removeSubrange(range) }
        }
        return text.firstRange(of: Array(id.utf8)) != nil
      }.map { "\(name): \($0)" }
    }
  }

  @Test("Records of people who were forgotten are an outcome of their own, and nothing to be done")
  func toDo() throws {
    let workspace = try workspace(identity: false)
    let run = ["run", "job.json", "--no-upload"]
    #expect(try workspace.run(run).messages.contains("- 3 lines were quarantined. See why: "))
    #expect(try workspace.run("forget", "job.json", "--device", "ada-phone-0001").code == 0)
    let again = try workspace.run(run)
    #expect(again.code == 0 && again.messages.contains(" 2 forgotten, 3 quarantined\n"), "\(again.messages)")
    #expect(again.messages.contains("- 3 lines were quarantined. See why: "), "\(again.messages)")
    let page = try workspace.run("report", "--store", "var/j.sqlite", "--format", "html").output
    #expect(
      page.contains(
        "2 records of forgotten people were left out. 3 unusable lines were quarantined."))
  }

  @Test("What is left elsewhere is named: the service, exports, the sandbox; and the store counts what it holds")
  func elsewhere() throws {
    let workspace = try workspace(identity: false)
    #expect(try workspace.run("run", "job.json", "--sandbox").code == 0)
    let before = try workspace.run("store", "status", "job.json", "--sandbox").messages
    let gone = try workspace.run("forget", "job.json", "--device", "ada-phone-0001", "--sandbox")
    #expect(gone.code == 0, "\(gone.messages)")
    for words in [
      "still elsewhere: the service: any data that was sent, and the recipient in the list (--at-service deletes it)\n",
      "still elsewhere: the export file \(workspace.path)/in/a.ndjson; later runs skip these people's lines as 'forgotten'\n",
    ] { #expect(gone.messages.contains(words), "\(words) \(gone.messages)") }
    // Exports that cannot be searched may hold the person.
    try workspace.write("mixed.json", workspace.read("job.json").replacing("in/*.ndjson", with: "in/*"))
    try workspace.write("in/b.parquet", "PAR1PAR1")
    let mixed = try workspace.run("forget", "mixed.json", "--device", "ada-phone-0001", "--sandbox")
    #expect(
      mixed.messages.contains(
        "still elsewhere: possibly the exports, which were not searched: \(workspace.path)/in/b.parquet: error: a Parquet file"
      ), "\(mixed.messages)")
    let after = try workspace.run("store", "status", "job.json", "--sandbox").messages
    #expect(!before.contains("forgotten people") && after.contains(" of forgotten people"), "\(after)")
  }

  @Test("A person goes by a mobile user id, with the device; nothing of the ids is left, and others stay")
  func forgetting() throws {
    let workspace = try workspace()
    let service = try Service()
    let first = try workspace.run("run", "job.json", environment: service.environment)
    #expect(first.code == 0, "\(first.messages)")
    let before = try workspace.run("store", "status", "--store", "var/j.sqlite")
    let arguments = [
      "forget", "job.json", "--mobile-user-id", "ada-lovelace-7", "--user", "customer-ada", "--show-personal-data",
    ]
    let unchanged = try workspace.read("var/j.sqlite")
    let rehearsal = try workspace.run(arguments + ["--dry-run"], environment: service.environment)
    #expect(rehearsal.code == 0, "\(rehearsal.messages)")
    #expect(try workspace.read("var/j.sqlite") == unchanged)
    #expect(try !left(Self.ids, in: workspace.path + "/var").isEmpty)

    let forgotten = try workspace.run(arguments, environment: service.environment)
    #expect(forgotten.code == 0, "\(forgotten.messages)")
    #expect(forgotten.output == rehearsal.output)
    #expect(forgotten.messages.contains("device ada-phone-0001 was removed"))
    #expect(try left(Self.ids, in: workspace.path + "/var") == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.environment["TMPDIR"] ?? "") == [])
    let check = try workspace.run("store", "check", "--store", "var/j.sqlite")
    #expect(check.code == 0, "\(check.output)\(check.messages)")
    // What was posted stays posted.
    let after = try workspace.run("store", "status", "--store", "var/j.sqlite")
    func posted(_ text: String) -> [Substring] { text.split(separator: "\n").filter { $0.hasPrefix("SUCCESSFULLY") } }
    #expect(posted(after.output) == posted(before.output))

    let events = try workspace.run(
      "store", "events", "--store", "var/j.sqlite", "--show-personal-data", "--format", "json")
    #expect(!events.output.contains("\"ada-lovelace-7\"") && events.output.contains("bob-7"))
    #expect(events.output.contains("ada-lovelace-77"))
    let quarantine = try workspace.run("quarantine", "list", "--store", "var/j.sqlite", "--all", "--show-raw")
    #expect(quarantine.output.contains("bob-phone-0001") && !quarantine.output.contains("ada-phone"))

    // What comes later of the person is refused, and counted once more each time.
    let again = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(again.code == 0, "\(again.messages)")
    let summary = try Summary(again.output)
    #expect(
      summary.text("records")
        == #"{"read":9,"accepted":0,"duplicates":4,"outOfWindow":0,"forgotten":2,"leftOut":0,"quarantined":3}"#)
    // Lines that are no records stay in quarantine, without their bytes where they name the person.
    #expect(summary.text("quarantineReasons") == #"{"invalid-timestamp":3}"#)
    let kept = try workspace.run("quarantine", "list", "--store", "var/j.sqlite", "--format", "json", "--show-raw")
    #expect(
      kept.output.contains("names a forgotten person") && !kept.output.contains("ada-phone"), "\(kept.output)")
    #expect(try left(["ada-phone-0001"], in: workspace.path + "/var") == [])
    #expect(try workspace.run(arguments + ["--device", "ada-phone-0001"], environment: service.environment).code == 0)
    #expect(try left(Self.ids, in: workspace.path + "/var") == [])

    let proofs = try JSONNode.parse(
      Array(workspace.run("store", "erasures", "--store", "var/j.sqlite", "--format", "json").output.utf8))
    #expect(proofs.array?.count == 2)
    let proof = try #require(proofs.array?.first)
    #expect(proof["ids"]?.array?.compactMap { $0["kind"]?.string } == ["device", "mobile-user-id", "user"])
    #expect(proof["removed"]?["quarantined"]?.integer == 2)
  }

  @Test("At the service recipients are deleted, dry run first")
  func atTheService() throws {
    let workspace = try workspace()
    let service = try Service()
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let arguments = ["forget", "job.json", "--mobile-user-id", "ada-lovelace-7", "--at-service"]
    let rehearsal = try workspace.run(arguments + ["--dry-run"], environment: service.environment)
    #expect(
      rehearsal.code == 0 && rehearsal.messages.contains("would be deleted from the list"), "\(rehearsal.messages)")
    let done = try workspace.run(arguments, environment: service.environment)
    #expect(done.code == 0 && done.messages.contains("recipients deleted from the list: 1"), "\(done.messages)")
    let again = try workspace.run(arguments, environment: service.environment)
    #expect(again.code == 0 && again.messages.contains("recipients deleted from the list: 0"), "\(again.messages)")
  }

  @Test("A service that does not answer leaves the store as it is")
  func serviceIsAway() throws {
    let workspace = try workspace()
    let service = try Service()
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let before = try workspace.read("var/j.sqlite")
    try service.server.stop()
    let refused = try workspace.run(
      "forget", "job.json", "--mobile-user-id", "ada-lovelace-7", "--at-service", environment: service.environment)
    #expect(refused.code == 69, "\(refused.messages)")
    #expect(try workspace.read("var/j.sqlite") == before)
  }

  @Test("A device that the store does not have is not said to go")
  func unknownDevice() throws {
    let workspace = try workspace()
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let none = try workspace.run("forget", "job.json", "--device", "eve-phone-0001", "--show-personal-data")
    #expect(none.code == 0 && none.output.isEmpty)
    #expect(
      none.messages == """
        the store has no data for these ids
        later records with these ids are skipped and counted as 'forgotten'; 'store erasures' lists the proof
        warning: the store had no data for 1 id (1 with --device), but later records with it are skipped anyway; \
        if an id was mistyped, run the command with only that id and --admit

        """)
    let back = try workspace.run("forget", "job.json", "--device", "eve-phone-0001", "--admit")
    #expect(back.code == 0 && back.messages == "later records with 1 id are accepted again\n", "\(back.messages)")
    try workspace.write(
      "in/e.ndjson", #"{"deviceId":"eve-phone-0001","timestamp":"2026-01-15T08:00:00Z","type":"launch"}"#)
    let run = try workspace.run("run", "job.json", "--no-upload")
    #expect(!run.messages.contains("forgotten"), "\(run.messages)")
    #expect(run.messages.contains(" 1 accepted"), "\(run.messages)")
    let again = try workspace.run("forget", "job.json", "--device", "eve-phone-0001", "--admit")
    #expect(again.messages == "later records with these ids were already accepted; nothing was changed\n")
    #expect(try workspace.run("forget", "job.json", "--device", "e", "--admit", "--dry-run").code == 64)
    try workspace.remove("in/e.ndjson")
    let one = try workspace.run(
      "forget", "job.json", "--device", "eve-phone-0002", "--device", "bob-phone-0001", "--show-personal-data")
    #expect(one.messages.hasPrefix("device bob-phone-0001 was removed\nlater"), "\(one.messages)")
  }

  /// An id with a slip was refused from then on without a word, because another one of the command was known.
  @Test("An id that the store does not know is told beside one that it knows")
  func unknownBesideKnown() throws {
    let workspace = try workspace()
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let ids = ["--mobile-user-id", "ada-lovelace-7", "--mobile-user-id", "ada-lovelace-8"]
    let warning = "warning: the store had no data for 1 id (1 with --mobile-user-id)"
    let left = """

      still elsewhere: the service: any data that was sent, and the recipient in the list (--at-service deletes it)
      still elsewhere: the export file \(workspace.path)/in/a.ndjson; later runs skip these people's lines as 'forgotten'

      """
    let rehearsal = try workspace.run(["forget", "job.json", "--dry-run"] + ids)
    #expect(rehearsal.code == 0 && rehearsal.messages.hasSuffix(warning + left), "\(rehearsal.messages)")
    let both = try workspace.run(["forget", "job.json"] + ids)
    #expect(both.code == 0)
    #expect(
      both.messages.hasSuffix(
        warning + ", but later records with it are skipped anyway; "
          + "if an id was mistyped, run the command with only that id and --admit" + left), "\(both.messages)")
  }

  @Test("A forgotten recipient that the service finds for another device is given to none")
  func foundAgain() throws {
    let workspace = try workspace()
    let service = try Service()
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let export = try workspace.run(
      "identity", "export", "--store", "var/j.sqlite", "--show-personal-data", "--format", "json")
    let people = try #require(try JSONNode.parse(Array(export.output.utf8)).array)
    let ada = try #require(people.first { $0["device"]?.string == "ada-phone-0001" }?["recipient"]?.string)
    let forgotten = try workspace.run("forget", "job.json", "--device", "ada-phone-0001", "--recipient", ada)
    #expect(forgotten.code == 0, "\(forgotten.messages)")
    try workspace.write(
      "in/b.ndjson",
      """
      {"deviceId":"ada-tablet-1","timestamp":"2026-01-15T09:00:00Z","type":"launch","mobileUserId":"ada-lovelace-7"}
      {"deviceId":"cam-phone-1","timestamp":"2026-01-15T09:00:00Z","type":"launch","mobileUserId":"cam"}

      """)
    let run = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(try Summary(run.output)["identity.conflicts"] == 1, "\(run.messages)")
    #expect(
      run.messages.contains(
        "Identity: 2 events are pending (HOLD): 1 device has no recipient yet (since 2026-01-16T00:00:00.000Z)"),
      "\(run.messages)")
    #expect(try left([ada], in: workspace.path + "/var") == [])
  }

  @Test("What a store of the platform cannot be asked for is a usage error")
  func usage() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("forget", "jobs/nightly.json").code == 64)
    let missing = try workspace.run("forget", "jobs/nightly.json", "--device", "x")
    #expect(missing.code == 66, "\(missing.messages)")
    let game = try workspace.run("forget", "jobs/game.json", "--recipient", "x")
    #expect(
      game.code == 64 && game.messages.contains("identifies people only by --device, --user, not by --recipient"),
      "\(game.messages)")
  }

  @Test("A player of a game goes with the devices that met the player; deltaDNA is asked by an event, not here")
  func player() throws {
    let workspace = try Workspace()
    let first = try workspace.run("run", "jobs/game.json", "--sandbox")
    #expect(first.code == 0, "\(first.messages)")
    let store = try #require(
      try FileManager.default.subpathsOfDirectory(atPath: workspace.path).first { $0.hasSuffix(".sandbox.sqlite") })
    let events = try workspace.run("store", "events", "--store", store, "--show-personal-data", "--format", "json")
    let users = try #require(try JSONNode.parse(Array(events.output.utf8)).array).compactMap { $0["userID"]?.string }
    let user = try #require(users.first { $0.utf8.count >= 8 })
    let refused = try workspace.run("forget", "jobs/game.json", "--user", user, "--at-service", "--sandbox")
    #expect(refused.code == 78 && refused.messages.contains("ddnaForgetMe"), "\(refused.messages)")
    let done = try workspace.run("forget", "jobs/game.json", "--user", user, "--sandbox", "--format", "json")
    #expect(done.code == 0, "\(done.messages)")
    let bytes = try #require(FileManager.default.contents(atPath: "\(workspace.path)/\(store)"))
    #expect([UInt8](bytes).firstRange(of: Array(user.utf8)) == nil)
    #expect(try workspace.run("store", "check", "--store", store).code == 0)
    let again = try workspace.run("run", "jobs/game.json", "--sandbox", "--summary", "-")
    #expect(again.code == 0, "\(again.messages)")
    #expect(try Summary(again.output)["records.forgotten"] > 0)
  }
}
