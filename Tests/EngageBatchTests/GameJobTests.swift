import BatchFoundation
import Testing

/// Jobs with deltaDNA as their destination, as people run them.
@Suite("Jobs of games") struct GameJobTests {
  @Test("A dry run of the example shows every automatic event and what a campaign does")
  func dryRun() throws {
    let workspace = try Workspace()
    let run = try workspace.run("run", "jobs/game.json", "--dry-run", "--events-out", "-")
    #expect(run.code == 0, "\(run.messages)")
    let names = try run.lines.map { try JSONNode.parse(Array($0.utf8))["eventName"]?.string ?? "" }
    #expect(
      names == [
        "levelUp", "newPlayer", "gameStarted", "clientDevice", "notificationServices", "ddnaRegisterCrossGameUserID",
        "missionStarted", "missionCompleted", "ddnaEventTriggeredAction", "imageMessageAction", "transaction",
        "notificationOpened", "gameEnded", "newPlayer", "gameStarted", "clientDevice", "shopEntered", "itemCollected",
        "gameStarted", "clientDevice", "uiInteraction", "gameEnded", "ddnaForgetMe",
      ])
  }

  @Test("Findings and figures are told")
  func findings() throws {
    let workspace = try Workspace()
    let run = try workspace.run("run", "jobs/game.json", "--dry-run", "--findings-out", "-", "--summary", "s.json")
    #expect(run.lines.count == 1)
    #expect(run.lines.first?.contains(#""eventName":"PLAYER LOADED""#) == true)
    let summary = try JSONNode.parse(Array(workspace.read("s.json").utf8))
    let game = try #require(summary["deltadna"])
    #expect(game["invalid"]?.integer == 1)
    #expect(game["triggered"]?.integer == 1)
    #expect(game["dropped"]?["optedOut"]?.integer == 1)
    #expect(game["decisions"]?["records"]?.integer == 1)
    #expect(summary["records"]?["duplicates"]?.integer == 1)
    #expect(try workspace.run("validate", "jobs/game.json").code == 65)
  }

  @Test("The sandbox takes the events once, and a second run sends nothing")
  func sandbox() throws {
    let workspace = try Workspace()
    let first = try workspace.run(
      "run", "jobs/game.json", "--sandbox", "--events-out", "events.ndjson", "--decisions-out", "decisions.ndjson",
      "--summary", "s.json")
    #expect(first.code == 0, "\(first.messages)")
    let dry = try workspace.run("run", "jobs/game.json", "--dry-run", "--events-out", "-")
    #expect(try workspace.read("events.ndjson") == dry.output)
    let summary = try JSONNode.parse(Array(workspace.read("s.json").utf8))
    #expect(summary["upload"]?["eventsPosted"]?.integer == 23)
    #expect(summary["deltadna"]?["decisions"]?["asked"]?.integer == 1)
    #expect(try workspace.read("decisions.ndjson").contains(#""decisionPoint":"missionEnd""#))
    let second = try workspace.run("run", "jobs/game.json", "--sandbox", "--summary", "s.json")
    #expect(second.code == 0, "\(second.messages)")
    let again = try JSONNode.parse(Array(workspace.read("s.json").utf8))
    #expect(again["upload"]?["eventsPosted"]?.integer == 0)
    #expect(again["records"]?["accepted"]?.integer == 0)
  }

  @Test("Two records with one eventUUID are one event, whatever their bytes and whichever run reads them")
  func ownIdentity() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z"}"#)
    func event(_ user: String, _ id: String, _ time: String) -> String {
      #"{"eventName":"e","userID":"\#(user)","eventUUID":"\#(id)","eventTimestamp":"2026-01-15 09:00:0\#(time)","eventParams":{}}"#
    }
    func run(_ lines: [String]) throws -> Summary {
      try workspace.write("in.ndjson", lines.joined(separator: "\n"))
      let finished = try workspace.run("run", "job.json", "--no-upload", "--summary", "-")
      #expect(finished.code == 0, "\(finished.messages)")
      return try Summary(finished.output)
    }
    let first = try run([event("u", "A", "0"), event("u", "A", "1"), event("u", "B", "2"), event("v", "A", "3")])
    #expect(first["records.accepted"] == 3)
    #expect(first["records.duplicates"] == 1)
    let second = try run([event("u", "B", "4"), event("u", "C", "5")])
    #expect(second["records.accepted"] == 1)
    #expect(second["records.duplicates"] == 1)
  }

  @Test("A job of Engage checks and ignores records of games")
  func engage() throws {
    let workspace = try Workspace()
    try workspace.write(
      "job.json", #"{"name": "e", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z"}"#)
    try workspace.write(
      "in.ndjson",
      """
      {"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"gameEvent","name":"a","mobileUserId":"M","device":{"osName":"iOS"}}
      {"deviceId":"d","timestamp":"2026-01-15T09:00:01Z","type":"gameEvent"}
      {"eventName":"s","userID":"d","eventTimestamp":"2026-1-15 9:0:2","eventParams":{}}
      {"deviceId":"d","timestamp":"2026-01-15T09:00:03Z","type":"namedEvent","name":"n"}
      """)
    let run = try workspace.run("run", "job.json", "--dry-run", "--events-out", "-", "--summary", "s.json")
    let summary = try JSONNode.parse(Array(workspace.read("s.json").utf8))
    #expect(summary["records"]?["accepted"]?.integer == 3)
    #expect(summary["quarantineReasons"]?["missing-field"]?.integer == 1)
    #expect(run.messages.contains("1  ignored-gameEvent"))
    #expect(run.messages.contains("1  ignored-storedEvent"))
    // The event of the game starts no session: one starts and ends around the named event alone.
    #expect(run.lines.count == 3)
    #expect(run.lines.first?.contains("2026-01-15T09:00:03.000Z") == true)
    #expect(run.lines.last?.contains(#"{"name":"Primary User Id","value":"M"}"#) == true)
    #expect(run.lines.last?.contains(#"{"name":"OS Name","value":"iOS"}"#) == true)
  }
}
