import BatchSandbox
import FoundationEssentials
import Testing

/// Secrets are nowhere; personal data is nowhere but in the store and in what is sent.
@Suite("Privacy") struct PrivacyTests {
  static let secrets = [
    "ENGAGE_CLIENT_ID": "canary-client-id", "ENGAGE_SECRET": "canary-client-secret",
    "ENGAGE_REFRESH_TOKEN": "canary-refresh-token",
  ]
  static let personal = [
    "canary-device-1", "canary-device-2", "canary-customer", "canary@example.test", "canary-user", "987650123",
    "canary-payload", "canary-name",
  ]

  static let records = """
    {"deviceId":"canary-device-1","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"canary-user"}
    {"deviceId":"canary-device-1","timestamp":"2026-01-15T08:01:00Z","type":"identify","ids":{"customer_id":"canary-customer","EMAIL":"canary@example.test"}}
    {"deviceId":"canary-device-2","timestamp":"2026-01-15T08:02:00Z","type":"namedEvent","name":"canary-name","recipientId":"987650123"}
    {"deviceId":"canary-device-2","timestamp":"2026-01-15T08:03:00Z","type":"pushReceived","payload":{"aps":{"alert":"canary-payload"},"CampaignValidFor":"canary-payload"}}
    {"deviceId":"canary-device-1","timestamp":"2026-01-15T25:00:00Z","type":"namedEvent","name":"canary-name"}
    {"deviceId":"canary-device-1","deviceId":"canary-device-2","timestamp":0,"type":"namedEvent","name":"canary-name"}
    {"deviceId":"canary-device-1","timestamp":"2026-01-15T08:04:00Z","type":"deepLink","url":"http://[canary-payload"}
    {"deviceId":"canary-device-1" canary@example.test

    """

  private func workspace(_ more: String = "") throws -> Workspace {
    let workspace = try Workspace()
    try workspace.write("in.ndjson", Self.records)
    try workspace.write(
      "job.json",
      """
      {"name": "private", "configuration": ["configs/EngageConfig.plist"], "inputs": {"events": ["in.ndjson"]},
       "settings": {"General": {"databaseListId": "100001"}, "AuditRecord": {"auditRecordListId": "50002"},
                    "Networking": {"retryDelay": "0s", "maxRetryDelay": "0s"}
       \(more)},
       "identity": true, "asOf": "2026-01-16T00:00:00Z", "store": "var/private.sqlite", "reports": "reports"}
      """)
    return workspace
  }

  /// Everything that people and programs get to see of a run but the store and the events.
  private func seen(_ finished: Finished, in workspace: Workspace) throws -> String {
    var text = finished.output + finished.messages
    guard workspace.exists("reports") else { return text }
    for name in try FileManager.default.subpathsOfDirectory(atPath: workspace.path + "/reports") {
      let url = URL(filePath: workspace.path).appending(path: "reports/\(name)")
      text += name + String(decoding: (try? Data(contentsOf: url)) ?? Data(), as: UTF8.self)
    }
    return text
  }

  @Test("A run that goes well", arguments: ["", #", "Report": {"personalData": "omit"}"#])
  func done(settings: String) throws {
    let workspace = try workspace(settings)
    let service = try Service()
    let finished = try workspace.run(
      "run", "job.json", "--progress", "plain", "--summary", "-",
      environment: service.environment.merging(Self.secrets) { $1 })
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(try Summary(finished.output)["records.quarantined"] == 3)
    let text = try seen(finished, in: workspace)
    #expect(text.utf8.count > 3000)
    #expect((Array(Self.secrets.values) + Self.personal).filter { text.contains($0) } == [])
    for body in service.server.appliedBodies {
      let sent = String(decoding: body, as: UTF8.self)
      #expect(Self.secrets.values.filter { sent.contains($0) } == [])
    }
  }

  @Test("Runs that fail, each in its own way")
  func failing() throws {
    var refused = EngageSandboxOptions()
    refused.switches.credentials = SandboxCredentials(clientID: "a", secret: "b", refreshToken: "c")
    var broken = EngageSandboxOptions()
    broken.server.faults.rules = [
      FaultRule(endpoint: .events, action: .status(400, headers: [:], body: "bad canary@example.test")),
      FaultRule(endpoint: .xmlapi, action: .fault(id: 128, text: "no recipient canary-customer", errorClass: "SP.API")),
    ]
    for (options, code) in [(refused, Int32(77)), (broken, 0)] {
      let workspace = try workspace()
      let service = try Service(options)
      let finished = try workspace.run(
        "run", "job.json", environment: service.environment.merging(Self.secrets) { $1 })
      if code != 0 { #expect(finished.code == code, "\(finished.messages)") }
      let text = try seen(finished, in: workspace)
      #expect((Array(Self.secrets.values) + Self.personal).filter { text.contains($0) } == [])
    }
  }

  @Test("Control characters of records reach neither the terminal nor a listing, from any command")
  func controlCharacters() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json", #"{"name": "j", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z"}"#)
    let text = #"\u001b[2J\u0007\r\n\u009b1m\u202e"#
    try workspace.write(
      "in.ndjson",
      """
      {"deviceId":"d\(text)","timestamp":"2026-01-15T08:00:00Z","type":"namedEvent","name":"n\(text)","f\(text)":1,"mobileUserId":"u\(text)"}
      {"deviceId":"d\(text)","timestamp":"2026-01-15T08:00:01Z","type":"deepLink","url":"app://x?a=%1b%5b2J%0a"}
      {"deviceId":"d\(text)","timestamp":"2026-01-15T08:00:02Z","type":"t\(text)"}
      {"deviceId":"d","timestamp":"2026-01-15T08:00:02Z","type":"launch","\(text)":1,"\(text)":2}

      """)
    let device = "d\u{1B}[2J\u{7}\r\n\u{9B}1m\u{202E}"
    let commands = [
      ["run", "job.json", "--dry-run", "--explain", device], ["run", "job.json", "--no-upload"],
      ["validate", "job.json"], ["quarantine", "list", "--store", "j.sqlite", "--show-raw"],
      ["store", "events", "--store", "j.sqlite"], ["store", "device", device, "--store", "j.sqlite"],
      ["store", "status", "--store", "j.sqlite"], ["link", "app://x?a=\u{1B}[2J\n", "--routes", "absent\u{1B}[2J"],
      ["identity", "list", "--store", "j.sqlite"], ["no\u{1B}[2Jcommand"], ["run", "absent\u{1B}[2J.json"],
    ]
    for command in commands {
      let finished = try workspace.run(command)
      let written = finished.output + finished.messages
      #expect(!written.isEmpty || command[0] == "identity", "\(command)")
      let strange = written.unicodeScalars.filter { scalar in
        scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t" || scalar == "\u{202E}"
      }
      #expect(strange.isEmpty, "\(command): \(strange.map(\.value))")
    }
  }

  @Test("Secrets are not in the store, and recorded values are in reports when that is asked for")
  func storeAndClear() throws {
    let workspace = try workspace(#", "Report": {"personalData": "clear"}"#)
    let service = try Service()
    let finished = try workspace.run(
      "run", "job.json", environment: service.environment.merging(Self.secrets) { $1 })
    #expect(finished.code == 0, "\(finished.messages)")
    let text = try seen(finished, in: workspace)
    #expect(text.contains("canary-device-1"))
    #expect(Self.secrets.values.filter { text.contains($0) } == [])
    for name in try FileManager.default.contentsOfDirectory(atPath: workspace.path + "/var") {
      let bytes = try Data(contentsOf: URL(filePath: workspace.path).appending(path: "var/\(name)"))
      let store = String(decoding: bytes, as: UTF8.self)
      #expect(Self.secrets.values.filter { store.contains($0) } == [])
    }
  }
}
