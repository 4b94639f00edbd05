import BatchFoundation
import TestSupport
import Testing

/// What a run of a game tells people.
@Suite("Reports of games") struct GameReportTests {
  private static let job = """
    {"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z",
     "store": "var/g.sqlite", "reports": "var/reports",
     "settings": {"DeltaDNA": {"eventSchema": "schema.json", "sessionConfiguration": "configuration.json"}}}
    """

  private static let files = [
    "job.json": job,
    "in.ndjson": """
    {"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"launch"}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:01Z","type":"gameEvent","name":"levelUp","params":{"level":"x","mode":""}}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:02Z","type":"gameEvent","name":"levelUp","params":{"level":2}}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:03Z","type":"engagement","decisionPoint":"shop"}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:04Z","type":"forgetMe"}
    {"deviceId":"d","timestamp":"2026-01-15T09:00:05Z","type":"gameEvent","name":"levelUp"}
    {"deviceId":"e","timestamp":"2025-01-15T09:00:05Z","type":"gameEvent","name":"levelUp"}
    """,
    "schema.json": """
    {"events": [{"name": "newPlayer"}, {"name": "gameStarted"}, {"name": "clientDevice"}, {"name": "gameEnded"},
      {"name": "ddnaEventTriggeredAction"}, {"name": "shopEntered"},
      {"name": "levelUp", "parameters": [{"name": "level", "type": "INTEGER"}, {"name": "mode", "type": "STRING"},
        {"name": "bonus", "type": "INTEGER"}]}]}
    """,
    "configuration.json": """
    {"parameters": {"eventsWhitelist": [], "triggers": [
      {"eventName": "levelUp", "campaignID": 7, "variantID": 8, "limit": 1},
      {"eventName": "shopEntered", "campaignID": 9, "variantID": 10}]}}
    """,
  ]

  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    for (name, text) in Self.files { try workspace.write(name, text) }
    return workspace
  }

  @Test("The end summary counts what was quarantined, left out and asked, in deltaDNA's words")
  func summary() throws {
    let workspace = try workspace()
    let run = try workspace.run("run", "job.json", "--sandbox")
    #expect(run.code == 0, "\(run.messages)")
    let lines = run.messages.split(separator: "\n").map { line in
      line.split(separator: " ").joined(separator: " ")
    }
    for wanted in [
      "1 event quarantined: schema-invalid", "campaigns 2 trigger responses",
      "checks 2 findings; 'engage-batch explain ID' explains each",
      "1 emptyValue", "1 wrongType", "1 not sent, because the player had opted out",
      "decisions 1 engagement recorded, 1 requested: 1 answered, 0 from an earlier response, 0 failed",
    ] {
      #expect(lines.contains(wanted), "\(wanted): \(run.messages)")
    }
    #expect(
      lines.contains {
        $0.hasSuffix("outside the time range that Collect accepts (DeltaDNA.oldestEvent, DeltaDNA.furthestAhead)")
      })
    #expect(!run.messages.contains("identity "))
    // An empty list filters nothing, which is worth a word.
    #expect(run.messages.contains("configuration.json:1:"))
    let step = try #require(lines.first { $0.contains("1 event was quarantined by the checks") })
    #expect(step.contains("quarantine list --store") && step.contains("quarantine replay --store"))
  }

  @Test("The report has findings with an example and advice, what of the schema never came, campaigns and decisions")
  func report() throws {
    let workspace = try workspace()
    #expect(try workspace.run("run", "job.json", "--sandbox", "--findings-out", "f.ndjson").code == 0)
    let platform = try #require(try workspace.report()?["platform"])
    let finding = try JSONNode.parse(Array(workspace.read("f.ndjson").utf8))
    let id = try #require(finding["eventUUID"]?.string)
    #expect(
      platform["findings"]?.canonicalText
        == #"[{"advice":"leave it out, or set DeltaDNA.dropEmpty","count":1,"event":"levelUp","eventUUID":"\#(id)","#
        + #""id":"emptyValue","path":"/eventParams/mode"},{"advice":"fix the exporter; values are not converted","count":1,"#
        + #""event":"levelUp","eventUUID":"\#(id)","id":"wrongType","path":"/eventParams/level"}]"#)
    #expect(platform["unmet"]?.canonicalText == #"[{"name":"shopEntered"},{"name":"levelUp/bonus"}]"#)
    #expect(
      platform["campaigns"]?.canonicalText
        == #"[{"campaignID":7,"event":"levelUp","responses":2,"variantID":8},"#
        + #"{"campaignID":9,"event":"shopEntered","responses":0,"variantID":10}]"#)
    #expect(platform["configuration"]?.array?.count == 1)
    #expect(
      platform["decisions"]?.canonicalText
        == #"[{"count":1,"decisionPoint":"shop","flavour":"engagement","outcome":"answered"}]"#)
    let folder = try #require(try workspace.listing("var/reports").first { $0.contains("report.html") })
    let page = try workspace.read("var/reports/\(folder.prefix { $0 != " " })")
    #expect(page.contains(">In the schema but never seen</h2>"))
    #expect(!page.contains(">Identity</h2>"))
    #expect(page.contains("<code>schema-invalid</code>"))
  }
}
