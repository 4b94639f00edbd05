import BatchFoundation
import BatchSandbox
import FoundationEssentials
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
    // What the service refuses for good waits for somebody; what cannot be asked is told and ended.
    #expect(run.code == (line.contains("not-a-number") ? 76 : 0), "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["identity.merged"] == 1)
  }

  @Test("Ids arrive as they are: markup, 4 kB, forms of Unicode and letter case are told apart")
  func idsOfAllKinds() throws {
    let ids = [
      "<b a='1'>&amp;\"", "]]>", String(repeating: "x", count: 4096), "e\u{301}", "\u{e9}", "C-1001", "ß", "ss",
      " c-1001 ", "\t𝛑\n",
    ]
    let workspace = try Workspace()
    let lines = try ids.enumerated().map { number, id in
      let value = String(decoding: try JSONEncoder().encode(id), as: UTF8.self)
      return #"{"deviceId":"d-\#(number)","timestamp":\#(Recording.start + Int64(number)),"type":"identify","#
        + #""ids":{"customer_id":\#(value)}}"# + "\n"
    }
    try workspace.write("in.ndjson", lines.joined())
    try workspace.write(
      "job.json",
      #"""
      {"name": "ids", "identity": true, "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z",
       "store": "store.sqlite", "settings": {"General": {"databaseListId": "100001"}}}
      """#)
    let service = try Service()
    // Two stores one after the other: the second finds by its ids what the first wrote.
    for (store, updated) in [("first", ids.count), ("second", 0)] {
      let run = try workspace.run(
        "run", "job.json", "--store", "\(store).sqlite", "--summary", "-", environment: service.environment)
      #expect(run.code == 0, "\(run.messages)")
      let summary = try Summary(run.output)
      #expect(summary["identity.checks"] == ids.count)
      #expect(summary["identity.updated"] == updated)
      #expect(summary["identity.merged"] == 0)
      let known = service.server.recipients(of: "100001").compactMap { $0.values["customer_id"] }
      #expect(known.map(\.string).sortedByBytes == (["c-1001", "c-1002"] + ids).sortedByBytes)
      #expect(known.map { Array($0.string.utf8) }.count { $0 == Array("e\u{301}".utf8) } == 1)
    }
  }

  @Test(
    "78: what the list or the audit table lacks is found before anything is written",
    arguments: [
      ("Recipient.mobileUserIdColumn", "Recipient.mobileUserIdColumn: list 100001 has no column 'None'"),
      ("Recipient.mergedDateColumn", "Recipient.mergedDateColumn: list 100001 has no column 'None'"),
      ("AuditRecord.createDateColumnName", "AuditRecord.createDateColumnName: table 50002 has no column 'None'"),
      ("General.databaseListId", "General.databaseListId: the service has no list 'None'"),
      ("AuditRecord.auditRecordListId", "AuditRecord.auditRecordListId: the service has no list 'None'"),
    ])
  func preflight(key: String, message: String) throws {
    let workspace = try Workspace()
    let service = try Service()
    let run = try workspace.run(
      "run", "jobs/nightly.json", "--set", "\(key)=None", environment: service.environment)
    #expect(run.code == 78, "\(run.messages)")
    #expect(run.messages.contains("error: \(message)"), "\(run.messages)")
    #expect(run.messages.contains("The records read are safe in the store. Fix the configuration"), "\(run.messages)")
    #expect(Set(service.server.totals.operations.keys) == ["GetListMetaData"])
    #expect(service.server.recipients(of: "100001").count == 2)
    #expect(service.server.totals.submissions == 0)
    // The next run, with the configuration put right, makes up for it.
    let next = try workspace.run("run", "jobs/nightly.json", "--summary", "-", environment: service.environment)
    #expect(next.code == 0, "\(next.messages)")
    #expect(try Summary(next.output)["identity.merged"] == 2)
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
        == #"{"checks":1,"created":1,"updated":1,"merged":0,"conflicts":0,"auditRows":0,"newOwners":0}"#)
    #expect(workspace.exists("jobs/bare.sandbox.sqlite"))
  }
}
