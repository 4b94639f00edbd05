import BatchFoundation
import BatchSandbox
import Testing

/// `Recipient.holdEventsUntilIdentified`: only what belongs to a device without identity waits for it.
@Suite("Events of unidentified devices") struct UnidentifiedDeviceTests {
  private static let job = #"""
    {"name": "waiting", "identity": true, "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z",
     "store": "store.sqlite",
     "settings": {"General": {"databaseListId": "100001"}, "Recipient": {"holdEventsUntilIdentified": true}}}
    """#

  /// Ten events of each of two devices in turn, and before them who their users are.
  private static let records: String = {
    let start = Recording.start
    var lines = ["d-1", "d-2"].enumerated().map { number, device in
      #"{"deviceId":"\#(device)","timestamp":\#(start + Int64(number)),"type":"identify","ids":{"customer_id":"\#(device)"}}"#
    }
    for number in 0..<20 {
      lines.append(
        #"{"deviceId":"d-\#(number % 2 + 1)","timestamp":\#(start + 1000 + Int64(number)),"type":"namedEvent","name":"n"}"#
      )
    }
    return lines.map { $0 + "\n" }.joined()
  }()

  @Test("They wait alone, also in one request with others, and go out once with the recipient that is found")
  func eventsWaitAlone() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("in.ndjson", Self.records)
    var options = EngageSandboxOptions()
    // The recipient of the first device may not be added in this run.
    options.server.faults.rules = [
      FaultRule(operation: "AddRecipient", occurrence: .nth([1]), action: .fault(id: 150, text: nil, errorClass: ""))
    ]
    let service = try Service(options)
    func events(of device: String) -> [String] {
      service.events.filter { $0.contains(#"{"name":"Device Id","value":"\#(device)"}"#) }
    }

    let first = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(first.code == 76, "\(first.messages)")
    #expect(first.messages.contains("12 events are pending"), "\(first.messages)")
    // Who, where, why, and what to do (reference decisions 37).
    let reason = "the service refused the request: organisation not permitted to use this call (error 150"
    #expect(first.messages.contains("in.ndjson:1): \(reason)"), "\(first.messages)")
    #expect(first.messages.contains("1  plan refused by the service for good\n"), "\(first.messages)")
    #expect(first.messages.contains("- 1 identity plan was refused by the service: "), "\(first.messages)")
    let listed = try workspace.run(
      "identity", "list", "--open", "--store", "store.sqlite", "--show-personal-data")
    #expect(listed.lines.last?.hasPrefix("1\trefused\tset-up\t\td-1\t(\(reason)") == true, "\(listed.output)")
    #expect(listed.output.contains("in.ndjson:1  fix the cause, then run: "), "\(listed.output)")
    let told = try workspace.run("why", "--store", "store.sqlite", "--device", "d-1", "--show-personal-data")
    #expect(told.output.contains(reason) && told.output.contains("identity resume 1 "), "\(told.output)")
    var summary = try Summary(first.output)
    #expect(
      summary.text("identity")
        == #"{"checks":1,"created":1,"updated":1,"merged":0,"conflicts":0,"auditRows":0,"newOwners":0,"refused":1}"#)
    #expect(summary.text("store") == #"{"HOLD":12,"SUCCESSFULLY_POSTED":12}"#)
    #expect(summary["upload.eventsPosted"] == 12)
    #expect(events(of: "d-1").count == 0)
    #expect(events(of: "d-2").count == 12)
    let held = try workspace.run(
      "store", "events", "--store", "store.sqlite", "--status", "HOLD", "--show-personal-data")
    #expect(held.lines.count { $0.contains("\td-1\t") } == 12, "\(held.output)")
    #expect(held.lines.count == 13)

    let second = try workspace.run("post", "job.json", "--summary", "-", environment: service.environment)
    #expect(second.code == 0, "\(second.messages)")
    summary = try Summary(second.output)
    #expect(
      summary.text("identity")
        == #"{"checks":1,"created":1,"updated":1,"merged":0,"conflicts":0,"auditRows":0,"newOwners":0}"#)
    #expect(summary.text("store") == #"{"SUCCESSFULLY_POSTED":24}"#)
    #expect(summary["upload.eventsPosted"] == 12)
    #expect(service.events.count == 24)
    #expect(Set(service.events).count == 24)
    for (device, customer) in [("d-1", "d-1"), ("d-2", "d-2")] {
      let recipient = try #require(
        service.server.recipients(of: "100001").first { $0.values["customer_id"]?.string == customer })
      #expect(
        events(of: device).count { $0.contains(#"{"name":"Recipient Id","value":"\#(recipient.id)"}"#) } == 12)
    }
  }

  @Test("What waited goes out when the configuration says so no longer", arguments: ["identity", "setting"])
  func eventsGoWhenNothingHoldsThem(what: String) throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("in.ndjson", Self.records)
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(operation: "UpdateRecipient", action: .fault(id: 150, text: nil, errorClass: ""))
    ]
    let service = try Service(options)
    let first = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(try Summary(first.output).text("store") == #"{"HOLD":24}"#, "\(first.messages)")
    let changed =
      what == "identity"
      ? Self.job.replacing("\"identity\": true", with: "\"identity\": false")
      : Self.job.replacing("true}}}", with: "false}}}")
    try workspace.write("job.json", changed)
    let second = try workspace.run("post", "job.json", "--summary", "-", environment: service.environment)
    #expect(try Summary(second.output).text("store") == #"{"SUCCESSFULLY_POSTED":24}"#, "\(second.messages)")
  }

  @Test("Without a recipient they wait whatever the setting says, and a window with refusals is done")
  func refusedDevicesWait() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job.replacing("true}}}", with: "false}}}"))
    try workspace.write("in.ndjson", Self.records)
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(operation: "AddRecipient", action: .fault(id: 1007, text: nil, errorClass: ""))
    ]
    let service = try Service(options)
    let backfill = [
      "backfill", "job.json", "--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00Z", "--step", "P31D",
    ]
    let first = try workspace.run(backfill, environment: service.environment)
    #expect(first.code == 76, "\(first.messages)")
    #expect(first.messages.contains("1 window done, 0 done before"), "\(first.messages)")
    #expect(service.events.isEmpty)
    let again = try workspace.run(backfill, environment: service.environment)
    #expect(again.code == 0 && again.messages.contains("0 windows done, 1 done before"), "\(again.messages)")
    service.server.setFaults(FaultPlan())
    let cured = try workspace.run("post", "job.json", "--summary", "-", environment: service.environment)
    #expect(cured.code == 0, "\(cured.messages)")
    #expect(try Summary(cured.output).text("store") == #"{"SUCCESSFULLY_POSTED":24}"#)
  }
}
