import BatchFoundation
import TestSupport
import Testing

@Suite("A first job") struct InitTests {
  @Test("It runs by the command that is printed", arguments: [("engage", 6), ("deltadna", 6), ("unity", 6)])
  func runs(platform: String, events: Int) throws {
    let workspace = try Workspace([])
    let made = try workspace.run("init", "my first", "--platform", platform)
    #expect(made.code == 0, "\(made.messages)")
    #expect(made.messages.hasPrefix("Wrote my first/job.json\nWrote my first/config.json\nWrote my first/exports/20"))
    let next = try #require(made.messages.split(separator: "\n").last)
    #expect(next == "To try the job: engage-batch run 'my first/job.json' --sandbox")
    let checked = try workspace.run("config", "check", "--job", "my first/job.json")
    #expect(checked.code == 0, "\(checked.messages)")
    #expect(checked.messages.contains("note: 'General.databaseListId' is not set") == (platform == "engage"))
    let alone = try workspace.run("config", "check", "my first/job.json", "--sandbox")
    #expect(alone.code == 0 && !alone.messages.contains("is not set"), "\(alone.messages)")
    #expect(try workspace.run("validate", "my first/job.json", "--sandbox").code == 0)
    let run = try workspace.shell("\(next.dropFirst("To try the job: ".count)) --summary -")
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["records.quarantined"] == 0 && summary["records.outOfWindow"] == 0)
    #expect(summary["upload.eventsPosted"] == events)
    #expect(summary["events.total"] == events)
  }

  /// Once, only runs knew that a sandbox needs no list.
  @Test("What a sandbox does not need to be told, nobody asks for", arguments: ["engage", "deltadna", "unity"])
  func sandbox(platform: String) throws {
    let workspace = try Workspace([])
    #expect(try workspace.run("init", "--platform", platform).code == 0)
    let doctor = try workspace.run("doctor", "--job", "job.json", "--sandbox")
    #expect(doctor.code == 0, "\(doctor.messages)")
    let prepared = try workspace.run("service", "prepare", "job.json", "--sandbox")
    #expect(prepared.code == 0, "\(prepared.messages)")
    #expect(try workspace.run("run", "job.json", "--sandbox").code == 0)
    guard platform == "engage" else { return }
    let resumed = try workspace.run("identity", "resume", "--job", "job.json", "--sandbox")
    #expect(resumed.code == 0, "\(resumed.messages)")
  }

  @Test("A run, the doctor, a preparation and a check of the configuration miss the same settings")
  func missing() throws {
    let workspace = try Workspace([])
    #expect(try workspace.run("init").code == 0)
    func names(_ arguments: String...) throws -> [String] {
      let finished = try workspace.run(arguments, environment: ["ENGAGE_CLIENT_ID": "client"])
      #expect(finished.code == 78, "\(arguments) \(finished.messages)")
      return finished.messages.split(separator: "\n").filter { $0.contains("is not set") }.map { line in
        line.split(separator: " ").first { $0.contains(".") && !$0.contains("json") }.map {
          String($0.filter { $0 != "'" })
        } ?? ""
      }
    }
    let missing = ["Connection.baseUrl", "Connection.secret", "Connection.refreshToken", "General.databaseListId"]
    #expect(try names("run", "job.json") == missing)
    #expect(try names("doctor", "--job", "job.json") == missing)
    #expect(try names("service", "prepare", "job.json") == missing)
    #expect(try names("config", "check", "--job", "job.json", "--real") == missing)
  }

  @Test(
    "The job has the name of its folder, as a file may have it",
    arguments: [("shop events/", "shop-events"), (".nightly", "nightly"), ("var/..", "here"), ("é", "first")])
  func names(folder: String, name: String) throws {
    let workspace = try Workspace([])
    try workspace.write("here/var/empty", "")
    let made = try workspace.shell("cd here && engage-batch init '\(folder)'")
    #expect(made.code == 0, "\(made.messages)")
    let job = try workspace.read("here/\(folder)/job.json")
    #expect(
      job.contains("\"name\": \"\(name)\",") && job.contains("\"store\": \"var/\(name).sqlite\","), "\(job)")
  }

  @Test("Files that are there stay, and then none is written")
  func overwritesNothing() throws {
    let workspace = try Workspace([])
    try workspace.write("config.json", "mine")
    let made = try workspace.run("init")
    #expect(made.code == 73)
    #expect(made.messages == "config.json: error: cannot be written: File exists\n")
    #expect(try workspace.read("config.json") == "mine")
    #expect(!workspace.exists("job.json") && !workspace.exists("exports"))
  }

  @Test("What is written is its owner's alone")
  func modes() throws {
    let workspace = try Workspace([])
    #expect(try workspace.run("init", "first").code == 0)
    let modes = try workspace.listing().map { $0.split(separator: " ")[1] }
    #expect(Set(modes) == ["40700", "100600"])
  }

  @Test("A named column that changes nothing is reported")
  func unusedColumns() throws {
    let workspace = try Workspace([])
    try workspace.write("in/segment.ndjson", try Checkout.text("samples/maps/segment.ndjson"))
    let preset = try workspace.run("init", "shop", "--from", "in/segment.ndjson", "--device", "anonymousId")
    #expect(preset.code == 0)
    #expect(preset.messages.contains("--campaign and --zone have no effect here"), "\(preset.messages)")
    let rows = (0..<40).map { row in
      "i-\(row % 9);2026-01-15 08:00:\(10 + row);\(["opened", "received", "purchase", "login"][row % 4]);spring"
    }
    try workspace.write("in/mixed.csv", (["installation;when;what;campaign"] + rows).joined(separator: "\n") + "\n")
    let mixed = try workspace.run(
      "init", "mixed", "--from", "in/mixed.csv", "--device", "installation", "--campaign", "campaign")
    #expect(mixed.code == 65)
    #expect(mixed.messages.contains("--campaign was not used, because only some"), "\(mixed.messages)")
  }

  @Test(
    "Of an export the preset is found, and the job reads it",
    arguments: [
      ("segment.ndjson", "segment", 6), ("rudderstack.ndjson", "segment", 2), ("ga4.ndjson", "ga4", 3),
      ("amplitude.ndjson", "amplitude", 3), ("mixpanel.ndjson", "mixpanel", 3), ("mparticle.ndjson", "mparticle", 2),
      ("snowplow.ndjson", "snowplow", 8), ("snowplow-tsv.tsv", "snowplow-tsv", 8), ("airship.ndjson", "airship", 4),
      ("onesignal.ndjson", "onesignal", 1), ("acoustic.ndjson", "acoustic", 7), ("fcm.ndjson", "fcm", 2),
      ("apns.ndjson", "apns", 2),
    ])
  func presetIsFound(sample: String, preset: String, accepted: Int) throws {
    let workspace = try Workspace([])
    try workspace.write("in/\(sample)", try Checkout.text("samples/maps/\(sample)"))
    let made = try workspace.run("init", "shop", "--from", "in/\(sample)")
    #expect(made.code == 0 && made.messages.contains("read by the preset '\(preset)' as "), "\(made.messages)")
    #expect(!workspace.exists("shop/map.json") && !workspace.exists("shop/exports"))
    let hint = "To preview the records that the map produces: "
    let next = try #require(made.messages.split(separator: "\n").first { $0.hasPrefix(hint) })
    let tried = try workspace.shell(String(next.dropFirst(hint.count)))
    #expect(tried.code == 0 && tried.output.contains("  becomes   "), "\(next): \(tried.messages)")
    let run = try workspace.run("run", "shop/job.json", "--sandbox", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["records.accepted"] == accepted && summary["records.quarantined"] == 0, "\(run.output)")
  }

  @Test(
    "What an SDK kept is found to be that",
    arguments: [
      ("EngageEventLocalStore2.sqlite", "engage", 4), ("EngageTesting.db", "engage", 2), ("unity-A", "deltadna", 2),
    ])
  func storeIsFound(sample: String, platform: String, accepted: Int) throws {
    let workspace = try Workspace([])
    try workspace.write("phone/\(sample)", try Checkout.bytes("samples/stores/\(sample)"))
    let made = try workspace.run("init", "kept", "--platform", platform, "--from", "phone/\(sample)")
    #expect(made.messages.contains("read by the preset 'sdk-store' as events"), "\(made.messages)")
    let run = try workspace.run("run", "kept/job.json", "--sandbox", "--summary", "-")
    #expect(try Summary(run.output)["records.accepted"] == accepted, "\(run.messages)")
  }

  @Test("Of an export that no preset knows a map is proposed, and the job reads it")
  func mapIsProposed() throws {
    let workspace = try Workspace([])
    try workspace.write("in/events.csv", try Checkout.text("samples/maps/events.csv"))
    let made = try workspace.run("init", "shop", "--from", "in/events.csv")
    #expect(
      made.messages == #"""
        in/events.csv: a CSV table; no preset reads it; based on 3 records, a map is proposed:
          deviceId: device, confidence medium
          timestamp: when, confidence high (dd/MM/yyyy HH:mm:ss; the day comes first)
          name: what, confidence medium
          params: all other members
          times without a zone are read as UTC; if they are local, change "zone"
          record 2 becomes {"deviceId":"csv-1","name":"open","timestamp":"2026-01-15T08:00:00.000Z","type":"namedEvent"}
          record 3 becomes {"deviceId":"csv-1","name":"buy","params":{"amount":"25.50","note":"said \"yes\",\nthen paid"},"timestamp":"2026-01-15T08:01:00.000Z","type":"namedEvent"}
          record 5 becomes {"deviceId":"csv-1","name":"close","timestamp":"2026-01-15T08:05:00.000Z","type":"namedEvent"}
          1 device, 0 people, 3 records, 2026-01-15
        Wrote shop/job.json
        Wrote shop/config.json
        Wrote shop/map.json
        To preview the records that the map produces: engage-batch map try shop/map.json in/events.csv
        To try the job: engage-batch run shop/job.json --sandbox

        """#)
    #expect(
      try workspace.read("shop/map.json") == """
        {
          "form": "csv",
          "fields": {
            "deviceId": "device",
            "timestamp": {"path": "when", "time": "dd/MM/yyyy HH:mm:ss", "zone": "UTC"}
          },
          "rules": [
            {
              "when": {"what": {"exists": true}},
              "type": "namedEvent",
              "fields": {"name": "what", "params": {"others": "$", "flatten": "."}}
            }
          ]
        }

        """)
    let run = try workspace.run("run", "shop/job.json", "--sandbox", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(run.output)["records.accepted"] == 3, "\(run.output)")
  }

  /// Either made a map impossible.
  @Test("A bad time among many and a header with letters beyond ASCII hide nothing")
  func mapIsProposedOfImperfectTables() throws {
    let workspace = try Workspace([])
    let rows = (0..<40).map { "phone-\($0 % 3);\($0 == 7 ? "soon" : "2026-01-15T08:\(10 + $0):00Z");view;\($0)" }
    try workspace.write("in/shop.csv", (["device;time;event;Größe"] + rows).joined(separator: "\n"))
    let made = try workspace.run("init", "shop", "--from", "in/shop.csv")
    #expect(
      made.messages.hasPrefix(
        """
        in/shop.csv: a semicolon-separated table; no preset reads it; based on 40 records, a map is proposed:
          deviceId: device, confidence medium
          timestamp: time, confidence high (1 of 40 does not match)
        """), "\(made.messages)")
    let run = try workspace.run("run", "shop/job.json", "--sandbox", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["records.accepted"] == 39 && summary["records.quarantined"] == 1, "\(run.output)")
  }

  /// The job was one for Engage, whose run ignored every record.
  @Test("Records of a game's own shape make a job for a game, unless somebody names another platform")
  func platformOfTheRecords() throws {
    let workspace = try Workspace([])
    let lines = (0..<3).map {
      #"{"deviceId":"d","timestamp":"2026-01-15T09:0\#($0):00Z","type":"gameEvent","name":"levelUp"}"# + "\n"
    }
    try workspace.write("in/moves.ndjson", lines.joined())
    let made = try workspace.run("init", "game", "--from", "in/moves.ndjson")
    #expect(
      made.messages == """
        in/moves.ndjson: records in the program's own format, read without a map, as events
        in/moves.ndjson: the types of the records fit 'deltadna' best, so it becomes the destination of the job; to choose another, use --platform
          record 1 becomes {"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"gameEvent","name":"levelUp"}
          record 2 becomes {"deviceId":"d","timestamp":"2026-01-15T09:01:00Z","type":"gameEvent","name":"levelUp"}
          record 3 becomes {"deviceId":"d","timestamp":"2026-01-15T09:02:00Z","type":"gameEvent","name":"levelUp"}
          1 device, 0 people, 3 records, 2026-01-15
        Wrote game/job.json
        Wrote game/config.json
        To try the job: engage-batch run game/job.json --sandbox

        """)
    #expect(try workspace.read("game/job.json").contains(#""destination": "deltadna","#))
    let run = try workspace.run(
      "run", "game/job.json", "--dry-run", "--as-of", "2026-01-16T00:00:00Z", "--summary", "-")
    let summary = try Summary(run.output)
    #expect(run.code == 0 && summary["records.accepted"] == 3, "\(run.messages)")
    #expect(summary["events.byType.levelUp"] == 3, "\(run.output)")
    #expect(try workspace.run("init", "other", "--platform", "engage", "--from", "in/moves.ndjson").code == 0)
    #expect(try workspace.read("other/job.json").contains(#""destination": "engage","#))
  }

  /// The one of another shape made all of them foreign, and no map was found for them.
  @Test("An event as an SDK stored it among records of the project's own shape needs no map")
  func storedEventAmongOwnRecords() throws {
    let workspace = try Workspace([])
    var lines = (0..<7).map {
      #"{"deviceId":"d","timestamp":"2026-01-15T09:0\#($0):00Z","type":"gameEvent","name":"levelUp"}"#
    }
    lines.append(
      #"{"eventName":"levelUp","userID":"d","eventParams":{},"eventTimestamp":"2026-01-15 09:08:00.000","sessionID":"s"}"#
    )
    try workspace.write("kept.ndjson", lines.joined(separator: "\n") + "\n")
    let made = try workspace.run("init", "game", "--from", "kept.ndjson")
    #expect(
      made.code == 0
        && made.messages.hasPrefix("kept.ndjson: records in the program's own format, read without a map, as events\n"),
      "\(made.messages)")
    let job = try workspace.read("game/job.json")
    #expect(
      job.contains(#""destination": "deltadna","#) && job.contains(#""inputs": { "events": ["../kept.ndjson"] },"#))
    let run = try workspace.run(
      "run", "game/job.json", "--dry-run", "--as-of", "2026-01-16T00:00:00Z", "--summary", "-")
    #expect(try Summary(run.output)["records.accepted"] == 8, "\(run.messages)")
  }

  /// They were said to be of no preset, and a map was said to be proposed where none was.
  @Test(
    "A file without records, one that says nothing and one that is not there are told as what they are",
    arguments: [
      ("", 65, "in.ndjson: error: the file is empty\n"),
      (
        "a\n", 65,
        "in.ndjson: error: the file has neither JSON objects nor a table that can be read: 1 rejected: invalid-json: at byte 1 of the line\n"
      ),
      ("[]\n", 65, "in.ndjson: error: the file has neither JSON objects nor a table\n"),
      (nil, 66, "no input: nothing matches 'in.ndjson'\n"),
    ])
  func nothingToRead(content: String?, code: Int32, words: String) throws {
    let workspace = try Workspace([])
    if let content { try workspace.write("in.ndjson", content) }
    let made = try workspace.run("init", "shop", "--from", "in.ndjson")
    #expect(made.code == code)
    #expect(made.messages == words)
    #expect(!workspace.exists("shop"))
  }

  @Test("Of a table in which nothing looks like a field an incomplete map is proposed with a value of each column")
  func nothingLooksLikeAField() throws {
    let workspace = try Workspace([])
    try workspace.write("in.csv", "a,b,c\n1,2,3\n4,5,6\n7,8,9\n")
    let made = try workspace.run("init", "shop", "--from", "in.csv")
    #expect(made.code == 65)
    #expect(
      made.messages == """
        in.csv: a CSV table; no preset reads it; based on 3 records, an incomplete map is proposed:
          params: all other members
        Wrote shop/job.json
        Wrote shop/config.json
        Wrote shop/map.json
        in.csv: error: nothing looks like deviceId, timestamp, name; fill in the empty values in shop/map.json (docs/exports.md)

        """)
    #expect(try workspace.read("shop/map.json").contains("  //   a: 1\n  //   b: 2\n  //   c: 3\n"))
  }

  @Test("A game's export gets a map of game events")
  func gameMapIsProposed() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "moves.ndjson",
      (0..<4).map {
        #"{"player": {"device_id": "aaaaaaaa-000\#($0 % 2)"}, "ts": 176846400\#($0), "action": "moved", "to": \#($0)}"#
          + "\n"
      }
      .joined())
    let made = try workspace.run("init", "game", "--platform", "deltadna", "--from", "moves.ndjson")
    #expect(made.code == 0, "\(made.messages)")
    let run = try workspace.run("run", "game/job.json", "--sandbox", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(run.output)["records.accepted"] == 4, "\(run.output)")
  }

  /// They were taken for foreign ones: every type but a launch became an event, and its name was lost.
  @Test("Records of the project's own shape in an array get a map that takes each field as it is")
  func ownRecordsInAnArray() throws {
    let workspace = try Workspace([])
    let lines = try ["ios", "android"].flatMap {
      try Checkout.text("samples/events/2026-01-15-\($0).ndjson").split(separator: "\n")
        .filter { (try? JSONNode.parse(Array($0.utf8))) != nil }.map(String.init)
    }
    try workspace.write("lines.ndjson", lines.joined(separator: "\n"))
    try workspace.write("array.ndjson", "[" + lines.joined(separator: ",\n ") + "]")
    let made = try workspace.run("init", "mine", "--from", "array.ndjson")
    #expect(
      made.messages.hasPrefix(
        "array.ndjson: a JSON array of records in the program's own format, as events; the map copies each field\n"
      ),
      "\(made.messages)")
    let map = try JSONNode.parse(Array(workspace.read("mine/map.json").utf8))
    #expect(map["form"]?.string == "json" && map["rules"] == nil)
    #expect(map["fields"]?["name"]?.string == "name" && map["fields"]?["type"]?.string == "type")
    #expect(try workspace.run("init", "plain", "--from", "lines.ndjson").code == 0)
    let runs = try ["mine", "plain"].map {
      try workspace.run(
        "run", "\($0)/job.json", "--no-upload", "--as-of", "2026-02-01T00:00:00Z", "--allow-future", "--events-out",
        "-",
        "--summary", "\($0).json")
    }
    #expect(runs[0].code == 0 && runs[0].output == runs[1].output, "\(runs[0].messages)")
    let summaries = try ["mine", "plain"].map { try Summary(workspace.read("\($0).json")) }
    for count in ["read", "accepted", "duplicates", "quarantined"] {
      #expect(summaries[0]["records.\(count)"] == summaries[1]["records.\(count)"], "\(count)")
    }
    #expect(summaries[0]["records.accepted"] == 26)
  }

  @Test("Records of the project's own shape need no map; what looks like nothing is refused")
  func ownRecordsAndOthers() throws {
    let workspace = try Workspace([])
    try workspace.write("own.ndjson", try Checkout.text("samples/notifications/2026-01-15.ndjson"))
    let made = try workspace.run("init", "mine", "--from", "own.ndjson")
    #expect(
      made.messages.hasPrefix("own.ndjson: records in the program's own format, read without a map, as notifications\n")
    )
    #expect(try workspace.read("mine/job.json").contains(#""inputs": { "notifications": ["../own.ndjson"] },"#))
    try workspace.write("other.ndjson", "{\"a\": 1, \"b\": \"x\"}\n")
    let refused = try workspace.run("init", "other", "--from", "other.ndjson")
    #expect(refused.code == 65 && workspace.exists("other/map.json"))
    #expect(
      refused.messages.hasSuffix(
        "other.ndjson: error: nothing looks like deviceId, timestamp, name; fill in the empty values in other/map.json (docs/exports.md)\n"
      ))
  }
}
