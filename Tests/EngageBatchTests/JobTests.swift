import FoundationEssentials
import TestSupport
import Testing

/// Jobs and inputs in their other forms.
@Suite("Jobs and inputs") struct JobTests {
  @Test("A property list says the same as JSON")
  func propertyList() throws {
    let workspace = try Workspace()
    try workspace.write(
      "jobs/nightly.plist",
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict>
        <key>name</key><string>nightly</string>
        <key>configuration</key><array><string>../configs/EngageConfig.plist</string></array>
        <key>settings</key><dict>
          <key>Recipient</key><dict><key>enableAutoAnonymousTracking</key><true/></dict>
        </dict>
        <key>inputs</key><dict>
          <key>events</key><array><string>../samples/events/*.ndjson</string></array>
          <key>notifications</key><array><string>../samples/notifications/*.ndjson</string></array>
          <key>deepLinks</key><array><string>../samples/deep-links/*</string></array>
        </dict>
        <key>deepLinkRoutes</key><string>../configs/MobileDeepLinkingConfig.json</string>
        <key>window</key><dict>
          <key>from</key><string>2026-01-15T00:00:00Z</string><key>to</key><string>2026-01-16T00:00:00Z</string>
        </dict>
        <key>asOf</key><string>2026-01-16T00:00:00Z</string>
        <key>identity</key><true/>
        <key>store</key><string>../var/nightly.sqlite</string>
      </dict></plist>
      """)
    let json = try workspace.run("run", "jobs/nightly.json", "--dry-run", "--events-out", "-")
    let list = try workspace.run("run", "jobs/nightly.plist", "--dry-run", "--events-out", "-")
    #expect(list.code == 0, "\(list.messages)")
    #expect(json.output == list.output)
    #expect(json.lines.count == 37)
  }

  @Test("Compressed inputs are read as they are")
  func compressed() throws {
    let workspace = try Workspace()
    let plain = try workspace.run("run", "jobs/validation.json", "--dry-run", "--events-out", "-")
    let whole = try workspace.read("jobs/validation.json").replacing("*-ios.ndjson", with: "*-ios.ndjson*")
      .replacing("*-android.ndjson", with: "*-android.ndjson*")
    try workspace.write("jobs/validation.json", whole)
    let zipped = try workspace.start(
      program: "/bin/sh", ["-c", "gzip samples/events/* samples/notifications/* samples/deep-links/*.ndjson"]
    ).finish()
    #expect(zipped.code == 0)
    let found = try workspace.run("run", "jobs/validation.json", "--dry-run", "--events-out", "-")
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.output == plain.output)
    #expect(found.lines.count > 20)
  }

  @Test("A compressed file that ends early counts once and gives what came before")
  func damaged() throws {
    let workspace = try Workspace()
    try workspace.write("in/a.ndjson.gz", "this is not a gzip")
    try workspace.write("in/b.ndjson", #"{"deviceId":"d","timestamp":0,"type":"namedEvent","name":"n"}"#)
    try workspace.write("job.json", #"{"name": "j", "inputs": {"events": ["in"]}, "asOf": "2026-01-01T00:00:00Z"}"#)
    let found = try workspace.run("run", "job.json", "--dry-run", "--summary", "-")
    #expect(found.code == 0, "\(found.messages)")
    let summary = try Summary(found.output)
    #expect(
      summary.text("records")
        == #"{"read":2,"accepted":1,"duplicates":0,"outOfWindow":0,"forgotten":0,"leftOut":0,"quarantined":1}"#)
    #expect(summary.text("quarantineReasons") == #"{"damaged-file":1}"#)
  }

  @Test("The window is half-open, and the command line's wins over the job's")
  func window() throws {
    let workspace = try Workspace([])
    let lines = [999, 1000, 1999, 2000].map { second in
      #"{"deviceId":"d","timestamp":\#(second),"type":"custom","eventTypeCode":"95"}"# + "\n"
    }
    try workspace.write("in.ndjson", lines.joined())
    try workspace.write(
      "job.json",
      """
      {"name": "j", "inputs": {"events": ["in.ndjson"]}, "asOf": "1970-01-02T00:00:00Z",
       "window": {"from": "1970-01-01T00:16:40Z", "to": "1970-01-01T00:33:20Z"}}
      """)
    let job = try Summary(try workspace.run("run", "job.json", "--dry-run", "--summary", "-").output)
    #expect(
      job.text("records")
        == #"{"read":4,"accepted":2,"duplicates":0,"outOfWindow":2,"forgotten":0,"leftOut":0,"quarantined":0}"#)
    #expect(job["events.byType.95"] == 2)
    let line = try workspace.run("run", "job.json", "--dry-run", "--summary", "-", "--to", "1970-01-01T00:33:20.001Z")
    #expect(try Summary(line.output)["records.accepted"] == 3)
    let empty = try workspace.run(
      "run", "job.json", "--dry-run", "--from", "1970-01-01T01:00:00Z", "--to", "1970-01-01T00:00:00Z")
    #expect(empty.code == 64 || empty.code == 78)
  }

  @Test("One pattern that matches nothing is a warning")
  func emptyPattern() throws {
    let workspace = try Workspace()
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": ["samples/events", "absent/*"]}, "asOf": "2026-02-01T00:00:00Z"}"#)
    let found = try workspace.run("run", "job.json", "--dry-run")
    #expect(found.code == 0)
    #expect(found.messages.contains("absent/*"))
  }

  @Test("Every job of the checkout runs, and runs again without sending", arguments: try Checkout.names(in: "jobs"))
  func shipped(job: String) throws {
    let workspace = try Workspace()
    // A window that moves with the run has to stand at the night of the samples.
    let night = job == "every-night.json" ? ["--as-of", "2026-01-16T02:15:00Z"] : []
    let run = ["run", "jobs/\(job)", "--sandbox", "--summary", "-"] + night
    let first = try workspace.run(run)
    #expect(first.code == 0, "\(first.messages)")
    let summary = try Summary(first.output)
    #expect(summary["events.total"] > 10)
    #expect(summary["upload.eventsPosted"] == summary["events.total"])
    let second = try workspace.run(run)
    #expect(second.code == 0, "\(second.messages)")
    #expect(try Summary(second.output)["upload.requests"] == 0)
    #expect(try workspace.run(["validate", "jobs/\(job)"] + night).code == 65)
  }

  static func configurations() throws -> [String] {
    let names = try Checkout.names(in: "configs").filter {
      ($0.hasSuffix(".json") || $0.hasSuffix(".plist")) && !$0.contains("schema")
        && $0 != "MobileDeepLinkingConfig.json"
    }
    return try Vectors.wanted(names, "configs")
  }

  @Test("Every configuration of the checkout is good and can be run with", arguments: try configurations())
  func shippedConfiguration(name: String) throws {
    let workspace = try Workspace()
    let check = try workspace.run("config", "check", "--file", "configs/\(name)")
    #expect(check.code == 0, "\(check.output)\(check.messages)")
    try workspace.write(
      "job.json",
      """
      {"name": "j", "configuration": ["configs/\(name)"], "inputs": {"events": ["samples/events"]},
       "settings": {"General": {"databaseListId": "100001"},
                    "Sandbox": {"recipients": "samples/identities/recipients.json"}}, "identity": true, "asOf": "2026-02-01T00:00:00Z"}
      """)
    let found = try workspace.run("run", "job.json", "--sandbox", "--summary", "-")
    #expect(found.code == 0, "\(found.messages)")
    #expect(try Summary(found.output)["upload.eventsPosted"] > 10)
  }
}
