import BatchFoundation
import BatchSandbox
import Testing

/// Consent in a job of Engage, from the export to the service (reference events 3.5).
@Suite("Consent records") struct ConsentRecordTests {
  private static func line(_ device: String, _ time: String, _ rest: String) -> String {
    #"{"deviceId":"\#(device)","timestamp":"2026-01-15T\#(time)Z","mobileUserId":"u-\#(device)",\#(rest)}"# + "\n"
  }

  private static let records = [
    line("ada", "08:00:00", #""type":"consent","use":false"#),
    line("ada", "08:01:00", #""type":"namedEvent","name":"withheld""#),
    line("ada", "08:02:00", #""type":"identify","ids":{"Email":"ada@example.com"}"#),
    line("bob", "08:00:00", #""type":"namedEvent","name":"sent""#),
    line("bob", "08:01:00", #""type":"consent","export":false"#),
  ].joined()

  private func workspace(_ settings: String) throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("in.ndjson", Self.records)
    try workspace.write(
      "job.json",
      #"""
      {"name": "consent", "identity": true, "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z",
       "store": "store.sqlite", "settings": {"General": {"databaseListId": "100001"}\#(settings)}}
      """#)
    return workspace
  }

  private func users(_ service: Service) -> [String] {
    service.server.recipients(of: "100001").compactMap { $0.values["Mobile User Id"]?.string }.filter {
      $0.hasPrefix("u-")
    }
    .sorted()
  }

  @Test("Who denies from the start is not made known to the service, and consent lets later events out")
  func deniedConsentSendsNothing() throws {
    let workspace = try workspace(#", "Recipient": {"consentRecords": "apply"}"#)
    let service = try Service()
    let run = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["records.accepted"] == 5)
    #expect(run.messages.contains("2  consent-denied"), "\(run.messages)")
    #expect(summary["identity.checks"] == 0)
    #expect(users(service) == ["u-bob"])
    let why = try workspace.run("why", "--device", "ada", "--job", "job.json")
    #expect(
      why.output.contains("consent is denied: the device's data is not sent until consent is given"), "\(why.output)")

    try workspace.write(
      "in.ndjson",
      Self.records + Self.line("ada", "09:00:00", #""type":"consent","use":true"#)
        + Self.line("ada", "09:01:00", #""type":"goalCompleted","name":"sent""#))
    let next = try workspace.run(
      "run", "job.json", "--summary", "-", "--events-out", "events.ndjson", environment: service.environment)
    #expect(next.code == 0, "\(next.messages)")
    #expect(users(service) == ["u-ada", "u-bob"])
    let events = try workspace.read("events.ndjson")
    #expect(events.contains(#""eventTypeCode":"16""#), "\(events)")
    #expect(!events.contains("withheld"), "\(events)")
  }

  @Test("Unless the job says so they are ignored, because exports of games have them too")
  func ignored() throws {
    let workspace = try workspace("")
    let service = try Service()
    let run = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(run.messages.contains("2  ignored-consent"), "\(run.messages)")
    #expect(summary["identity.checks"] == 1)
    #expect(users(service) == ["u-ada", "u-bob"])
  }
}
