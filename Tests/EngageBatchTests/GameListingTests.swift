import BatchFoundation
import TestSupport
import Testing

/// What the listings, `why`, `doctor` and `store purge` say of a game's store.
@Suite("Listings of games") struct GameListingTests {
  private static let store = "var/g.sandbox.sqlite"

  private static let files = [
    "job.json": """
    {"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z",
     "store": "var/g.sqlite", "settings": {"DeltaDNA": {"sessionConfiguration": "configuration.json"}}}
    """,
    "in.ndjson": """
    {"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"launch","mobileUserId":"Zoe"}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:01Z","type":"gameEvent","name":"levelUp","params":{"level":2}}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:02Z","type":"engagement","decisionPoint":"shop"}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:03Z","type":"background"}
    {"deviceId":"e","timestamp":"2026-01-15T09:00:04Z","type":"gameEvent","name":"levelUp"}
    {"deviceId":"f","timestamp":"2026-01-15T09:00:05Z","type":"launch"}
    {"deviceId":"f","timestamp":"2026-01-15T09:00:06Z","type":"forgetMe"}

    """,
    "configuration.json": """
    {"parameters": {"triggers": [{"eventName": "levelUp", "campaignID": 7, "variantID": 8, "limit": 1,
      "condition": [{"p": "level"}, {"i": 1}, {"o": "greater than"}]}]}}
    """,
  ]

  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    for (name, text) in Self.files { try workspace.write(name, text) }
    let run = try workspace.run("run", "job.json", "--sandbox")
    #expect(run.code == 0, "\(run.messages)")
    return workspace
  }

  private func rows(_ workspace: Workspace, _ arguments: String...) throws -> [JSONNode] {
    let finished = try workspace.run(arguments + ["--store", Self.store, "--format", "json"])
    #expect(finished.code == 0, "\(finished.messages)")
    return try JSONNode.parse(Array(finished.output.utf8)).array ?? []
  }

  @Test(
    "Events are listed by the names that they have at Collect, with device and player apart, and found by their campaign"
  )
  func events() throws {
    let workspace = try workspace()
    let events = try rows(workspace, "store", "events", "--show-personal-data")
    let levelUp = try #require(events.first { $0["eventName"]?.string == "levelUp" })
    #expect(
      levelUp.members?.map(\.key) == [
        "id", "status", "eventName", "eventTimestamp", "device", "userID", "sessionID", "eventUUID", "chunk", "reason",
        "eventParams",
      ])
    #expect(levelUp["device"]?.string == "d" && levelUp["userID"]?.string == "Zoe")
    #expect(levelUp["eventParams"]?["level"]?.integer == 2)
    let hidden = try workspace.run("store", "events", "--store", Self.store)
    #expect(!hidden.output.contains("Zoe") && !hidden.output.contains("level\""))
    #expect(
      hidden.messages
        == "note: the rest of each event may be personal data; --show-personal-data shows it\n")
    for campaign in ["7", "8"] {
      let found = try rows(workspace, "store", "events", "--campaign", campaign)
      #expect(found.map { $0["eventName"]?.string } == (campaign == "7" ? ["ddnaEventTriggeredAction"] : []))
    }
  }

  @Test("Sessions are told with player, phase and opt-out; campaigns are said to belong to no device")
  func sessions() throws {
    let workspace = try workspace()
    let sessions = try rows(workspace, "store", "sessions", "--show-personal-data")
    let states = sessions.map { row in
      ["device", "session", "phase", "since"].map { row[$0]?.string ?? "-" }.joined(separator: " ")
        + " \(row["optedOut"]?.bool ?? false)"
    }
    #expect(
      states == [
        "d paused away 2026-01-15T09:00:03.000Z false", "e active open 2026-01-15T09:00:04.000Z false",
        "f none on - true",
      ])
    #expect(sessions[0]["userID"]?.string == "Zoe")
    #expect(try rows(workspace, "store", "sessions", "--status", "paused").count == 1)
    let campaigns = try workspace.run("store", "campaigns", "--store", Self.store)
    #expect(campaigns.code == 0)
    #expect(campaigns.messages.contains("store events --type ddnaEventTriggeredAction"))
  }

  @Test("An event that was quarantined tells why, where it was read and what sends it")
  func whyQuarantined() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/game.json", "--sandbox").code == 0)
    let store = "var/game.sandbox.sqlite"
    let listed = try workspace.run("quarantine", "list", "--store", store, "--format", "json")
    let row = try #require(JSONNode.parse(Array(listed.output.utf8)).array?.first)
    #expect(row["file"]?.string == "\(workspace.path)/samples/game/events.ndjson" && row["line"]?.integer == 7)
    let answer = try workspace.run("why", try #require(row["event"]?.string), "--store", store)
    #expect(answer.code == 0, "\(answer.messages)")
    #expect(
      answer.lines.contains { $0.contains("read from    \(workspace.path)/samples/game/events.ndjson:") },
      "\(answer.output)")
    #expect(
      answer.lines.contains {
        $0.contains(
          "quarantined  by run 1: event 'PLAYER LOADED': badName at /eventName; unknownEvent at /eventName (schema-invalid)"
        )
      }, "\(answer.output)")
    let replay = "quarantine replay --store \(store) --job \(workspace.path)/jobs/game.json"
    let sends = "fix the cause, then import the event again for the next run to send: engage-batch \(replay)"
    #expect(answer.lines.contains { $0.hasSuffix(sends) }, "\(answer.output)")
    let replayed = try workspace.run(replay.split(separator: " ").map(String.init))
    #expect(replayed.code == 0, "\(replayed.messages)")
  }

  @Test("An event is found by its eventUUID too, sent or quarantined, in any letter case")
  func whyByEventUUID() throws {
    let workspace = try workspace()
    let lower = "6f0c0a52-0000-4000-8000-00000000000a"
    try workspace.write(
      "in.ndjson",
      """
      {"eventName":"levelUp","userID":"Zoe","eventUUID":"\(lower)","eventTimestamp":"2026-01-15 10:00:00","eventParams":{}}
      {"deviceId":"d","timestamp":"2026-01-15T10:00:01Z","type":"gameEvent","name":"not a name"}

      """)
    let run = try workspace.run("run", "job.json", "--sandbox", "--findings-out", "-")
    #expect(run.code == 0, "\(run.messages)")
    let quarantined = try #require(JSONNode.parse(Array(run.output.utf8))["eventUUID"]?.string)
    let own = try #require(
      rows(workspace, "store", "events", "--type", "levelUp", "--device", "d").first?["eventUUID"]?.string)
    func subject(_ id: String) throws -> String? {
      let finished = try workspace.run("why", id, "--store", Self.store)
      #expect(finished.code == 0, "\(finished.messages)")
      return finished.lines.first
    }
    for id in [own, own.lowercased()] { #expect(try subject(id) == "Event levelUp at 2026-01-15T09:00:01.000Z") }
    for id in [lower, lower.uppercased()] { #expect(try subject(id) == "Event levelUp at 2026-01-15T10:00:00.000Z") }
    for id in [quarantined, quarantined.lowercased()] {
      #expect(try subject(id)?.hasSuffix(" at 2026-01-15T10:00:01.000Z") == true)
    }
    let unknown = try workspace.run("why", "nobody", "--store", Self.store)
    #expect(unknown.code == 64)
    #expect(
      unknown.messages
        == "error: the store has no event 'nobody'; 'engage-batch store events' lists the store's events; the first six characters of an id are usually enough\n"
    )
  }

  @Test("A player stands for the only device that is known of the player; of several, the devices are named")
  func whyByPlayer() throws {
    let workspace = try workspace()
    let device = try #require(rows(workspace, "store", "sessions").first?["device"]?.string)
    let found = try workspace.run("why", "--device", "Zoe", "--store", Self.store)
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.messages == "note: 'Zoe' is an id of a person whose only device is \(device)\n")
    #expect(found.lines.first == "Device \(device) at the store's known time")
    try workspace.write(
      "in.ndjson",
      #"{"deviceId":"second","timestamp":"2026-01-15T10:00:00Z","type":"launch","mobileUserId":"Zoe"}"# + "\n")
    #expect(try workspace.run("run", "job.json", "--sandbox").code == 0)
    let several = try workspace.run("why", "--device", "Zoe", "--store", Self.store)
    #expect(several.code == 64)
    #expect(
      several.messages.hasPrefix(
        "error: the store has no device 'Zoe'; this id belongs to a person with 2 devices; use --person for all of them, or name one: "
      ),
      "\(several.messages)")
    let person = try workspace.run("why", "--person", "Zoe", "--store", Self.store)
    #expect(person.lines.filter { $0.hasPrefix("Device ") }.count == 2, "\(person.output)\(person.messages)")
  }

  @Test("Without a trigger that responded an event says that it has no campaign; an opened notification names its own")
  func whyNoCampaign() throws {
    let workspace = try workspace()
    try workspace.write(
      "in.ndjson",
      """
      {"deviceId":"d","timestamp":"2026-01-15T10:00:00Z","type":"notificationOpened","payload":{"_ddId":7,"_ddName":"Spring","_ddCampaign":12,"_ddCohort":3}}
      {"deviceId":"g","timestamp":"2026-01-15T10:00:00Z","type":"gameEvent","name":"quiet"}

      """)
    #expect(try workspace.run("run", "job.json", "--sandbox").code == 0)
    func campaign(_ arguments: String...) throws -> [String?]? {
      let finished = try workspace.run(["why"] + arguments + ["--store", Self.store, "--format", "json"])
      #expect(finished.code == 0, "\(finished.messages)")
      return try JSONNode.parse(Array(finished.output.utf8))["campaign"]?.array?.map(\.string)
    }
    func id(_ name: String) throws -> String {
      try #require(rows(workspace, "store", "events", "--type", name).last?["id"]?.string)
    }
    for name in ["12", "Spring"] {
      #expect(
        try rows(workspace, "store", "events", "--campaign", name).map { $0["eventName"]?.string } == [
          "notificationOpened"
        ])
    }
    #expect(try campaign(id("quiet")) == ["none: no trigger responded to the event"])
    let push = "push 'Spring' of campaign 12, cohort 3, notification 7"
    let opened = try id("notificationOpened")
    #expect(try campaign(opened) == ["\(push), which the player opened", "no trigger responded to the event"])
    #expect(
      try campaign("--device", "d") == [
        "the last one up to then: \(push), at 2026-01-15T10:00:00.000Z (event \(opened), \(workspace.path)/in.ndjson:1)"
      ])
    #expect(
      try campaign("--device", "g") == ["none up to then: no trigger responded, and no notification was opened"])
  }

  @Test("An event tells its player, its session by its id, and which campaign responded; a device what it asked")
  func why() throws {
    let workspace = try workspace()
    let events = try rows(workspace, "store", "events", "--device", "d")
    func id(_ name: String) throws -> String {
      try #require(events.first { $0["eventName"]?.string == name }?["id"]?.string)
    }
    func sentences(_ arguments: String...) throws -> JSONNode {
      let finished = try workspace.run(["why"] + arguments + ["--store", Self.store, "--format", "json"])
      #expect(finished.code == 0, "\(finished.messages)")
      return try JSONNode.parse(Array(finished.output.utf8))
    }
    let levelUp = try sentences(id("levelUp"), "--show-personal-data")
    let session = try #require(events[0]["sessionID"]?.string)
    #expect(levelUp["player"]?.array?.map(\.string) == ["userID Zoe"])
    #expect(
      levelUp["session"]?.array?.map(\.string) == [
        "\(session): its first event in the store is newPlayer at 2026-01-15T09:00:00.000Z; this is event 4 of 5",
        "the store has no gameEnded event for this session; one is produced only if a record says that the app or SDK stopped",
      ])
    let action = try id("ddnaEventTriggeredAction")
    #expect(
      levelUp["campaign"]?.array?.map(\.string) == [
        "campaign 7, variant 8 responded to this event (event \(action), \(workspace.path)/in.ndjson:2)"
      ])
    #expect(levelUp["source"]?.array?.map(\.string) == ["\(workspace.path)/in.ndjson:2"])
    #expect(
      try sentences(action)["campaign"]?.array?.map(\.string) == [
        "campaign 7, variant 8 responded to levelUp (event \(try id("levelUp")), \(workspace.path)/in.ndjson:2)"
      ])
    let device = try sentences("--device", "d")
    #expect(
      device["state"]?.array?.map(\.string) == [
        "the app has been in the background since 2026-01-15T09:00:03.000Z",
        "session \(session) continues if the device is used again within DeltaDNA.sessionTimeoutSeconds; otherwise it ends",
      ])
    #expect(
      device["decisions"]?.array?.map(\.string) == [
        "shop@engagement at 2026-01-15T09:00:02.000Z: answered with status 200"
      ])
    let optedOut = try sentences("--device", "f")
    #expect(
      optedOut["state"]?.array?.last?.string == "the player has opted out: the player's data is not sent")
  }

  @Test("A purge takes settled decisions and answers of its time along, and leaves questions that wait")
  func purge() throws {
    let workspace = try workspace()
    let later = #"{"deviceId":"d","timestamp":"2026-01-15T10:00:00Z","type":"engagement","decisionPoint":"later"}"#
    try workspace.write("in.ndjson", later + "\n")
    #expect(try workspace.run("run", "job.json", "--sandbox", "--no-upload").code == 0)
    func decisions() throws -> String? {
      let status = try workspace.run("store", "status", "--store", Self.store, "--format", "json")
      return try JSONNode.parse(Array(status.output.utf8))["decisions"]?.canonicalText
    }
    #expect(try decisions() == #"{"answers":1,"settled":1,"waiting":1}"#)
    func purge(_ asOf: String) throws -> JSONNode {
      let finished = try workspace.run(
        "store", "purge", "--store", Self.store, "--days", "1", "--as-of", asOf, "--format", "json")
      #expect(finished.code == 0, "\(finished.messages)")
      return try JSONNode.parse(Array(finished.output.utf8))
    }
    #expect(try purge("2026-01-15T12:00:00Z")["decisions"]?.integer == 0)
    #expect(try purge("2026-01-18T00:00:00Z")["decisions"]?.integer == 2)
    #expect(try decisions() == #"{"answers":0,"settled":0,"waiting":1}"#)
  }

  @Test("The doctor names the files of a game and refuses a schema that a run would refuse")
  func doctor() throws {
    let workspace = try workspace()
    let good = try workspace.run("doctor", "--job", "job.json", "--sandbox")
    #expect(good.code == 0, "\(good.messages)")
    #expect(good.messages.contains("ok: files: DeltaDNA.eventSchema is not set: event names, empty values"))
    #expect(good.messages.contains("configuration.json is valid"))
    try workspace.write("schema.json", #"{"events": [{"name": "1st"}]}"#)
    let bad = try workspace.run(
      "doctor", "--job", "job.json", "--sandbox", "--set", "DeltaDNA.eventSchema=schema.json")
    #expect(bad.code == 78)
    #expect(bad.messages.contains("error: files: schema.json:1:22: 1st: "), "\(bad.messages)")
  }
}
