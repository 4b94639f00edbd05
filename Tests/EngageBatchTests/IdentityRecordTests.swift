import Testing

/// What one device's records say must never stop the identities of the others.
@Suite("Identities of odd records") struct IdentityRecordTests {
  private static let good =
    #"{"deviceId":"d-2","timestamp":"2026-01-15T08:00:00Z","type":"identify","ids":{"customer_id":"c-1001"}}"#

  @Test(
    "A record that the service refuses, or that it cannot be asked about, concerns its own device only",
    arguments: [
      #"{"deviceId":"d-1","timestamp":"2026-01-15T08:00:00Z","type":"identify","recipientId":"not-a-number","ids":{"customer_id":"c-9"}}"#,
      #"{"deviceId":"d-1","timestamp":"2026-01-15T08:00:00Z","type":"identify","mobileUserId":"a\u0001","ids":{"customer_id":"c-9"}}"#,
      #"{"deviceId":"d-1","timestamp":"2026-01-15T08:00:00Z","type":"identify","ids":{"":"x"}}"#,
      #"{"deviceId":"d-1","timestamp":"2026-01-15T08:00:00Z","type":"identify","ids":{"customer_id":"\u0002"}}"#,
    ])
  func oddRecord(line: String) throws {
    let workspace = try Workspace()
    _ = try workspace.write("odd/events.ndjson", line + "\n" + Self.good + "\n")
    _ = try workspace.write(
      "jobs/odd.json",
      #"""
      {
        "name": "odd", "configuration": ["../configs/EngageConfig.plist"], "identity": true,
        "settings": { "Sandbox": { "recipients": "../samples/identities/recipients.json" } },
        "inputs": { "events": ["../odd/events.ndjson"] }, "asOf": "2026-01-16T00:00:00Z", "store": "../odd.sqlite"
      }
      """#)
    let run = try workspace.run("run", "jobs/odd.json", "--sandbox", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["identity.merged"] == 1)
  }

  @Test("The sandbox needs neither a list nor its columns")
  func sandboxWithoutList() throws {
    let workspace = try Workspace()
    _ = try workspace.write("odd/events.ndjson", Self.good + "\n")
    _ = try workspace.write(
      "jobs/bare.json",
      #"{"name":"bare","identity":true,"inputs":{"events":["../odd/*"]},"asOf":"2026-01-16T00:00:00Z"}"#)
    let run = try workspace.run("run", "jobs/bare.json", "--sandbox", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    #expect(
      try Summary(run.output).text("identity")
        == #"{"checks":1,"created":1,"updated":1,"merged":0,"conflicts":0,"auditRows":0}"#)
    #expect(workspace.exists("jobs/bare.sqlite"))
  }
}
