import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// `engage-batch schema`, and what the schemas say of the files of the checkout.
@Suite("JSON Schemas") struct SchemaTests {
  /// The committed file of each.
  static let files = [
    "job": "configs/schemas/job.json", "record": "configs/schemas/record.json", "map": "configs/schemas/map.json",
    "routes": "configs/schemas/routes.json",
    "report": "configs/schemas/report.json", "config": "configs/EngageConfig.schema.json",
  ]

  /// Those that the program makes; the others it has the files of.
  private static let made: Set = ["config"]

  /// With `ENGAGE_RECORD=1` the files that are made are written anew, and the test fails all the same.
  @Test("What is printed is what is committed", arguments: files.keys.sorted())
  func committed(name: String) throws {
    let printed = try Workspace([]).run("schema", name)
    let file = try #require(Self.files[name])
    #expect(printed.code == 0)
    if Self.made.contains(name), ProcessInfo.processInfo.environment["ENGAGE_RECORD"] == "1" {
      try Data(printed.output.utf8).write(to: Checkout.url(file))
      Issue.record("recorded \(file)")
      return
    }
    #expect(try Checkout.text(file) == printed.output, "run with ENGAGE_RECORD=1 and look at the difference")
  }

  @Test("Every job and route file is valid")
  func jobsAndRoutes() throws {
    let jobs = try Checkout.files(below: "jobs").filter { $0.hasSuffix(".json") }
    #expect(jobs.count >= 6)
    for job in jobs { #expect(try Self.faults(in: job, "job") == [], "\(job)") }
    #expect(try Self.faults(in: "configs/MobileDeepLinkingConfig.json", "routes") == [])
  }

  @Test(
    "Every configuration in JSON is valid",
    arguments: [
      "configs/EngageConfig.json", "configs/EngageConfig-Android-1.1.0.json", "configs/DeltaDNA-5.0.2.json",
    ])
  func configurations(file: String) throws { #expect(try Self.faults(in: file, "config") == []) }

  @Test("Of all recorded samples only the line that is not JSON is refused")
  func records() throws {
    let schema = try Self.schema("record")
    var refused: [String] = []
    var count = 0
    for file in try Checkout.files(below: "samples") where file.hasSuffix(".ndjson") && !file.hasPrefix("samples/maps/")
    {
      for (index, line) in try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      where !line.isEmpty {
        count += 1
        guard let record = try? JSONNode.parse(Array(line.utf8)) else {
          // Refused like what the schema refuses.
          refused.append("\(file):\(index + 1)")
          continue
        }
        if !schema.faults(of: record).isEmpty { refused.append("\(file):\(index + 1)") }
      }
    }
    #expect(count > 50)
    #expect(refused == ["samples/events/2026-01-15-ios.ndjson:23"])
  }

  @Test(
    "What a run would refuse is refused",
    arguments: [
      ("job", #"{"name": "j"}"#), ("job", #"{"name": "j", "inputs": {}}"#),
      ("job", #"{"name": "j", "inputs": {"event": []}}"#),
      ("job", #"{"name": "j", "inputs": {"events": ["e"]}, "window": {"from": "yesterdays"}}"#),
      ("job", #"{"name": "j", "inputs": {"events": ["e"]}, "window": {"from": "P1D"}}"#),
      ("job", #"{"name": "j", "inputs": {"events": ["e"]}, "settings": {"Sessions": {}}}"#),
      ("record", #"{"deviceId": "d", "timestamp": 1, "type": "namedEvent"}"#),
      ("record", #"{"deviceId": "", "timestamp": 1, "type": "launch"}"#),
      ("record", #"{"deviceId": "d", "timestamp": "yesterday", "type": "launch"}"#),
      ("record", #"{"deviceId": "d", "timestamp": 1, "type": "lunch"}"#),
      ("record", #"{"deviceId": "d", "timestamp": 1, "action": "closed", "payload": {}}"#),
      ("config", #"{"Session": {"sessionLifecycleExpiration": 5}}"#), ("routes", #"{"routes": []}"#),
      ("report", #"{"reportVersion": 2}"#),
    ])
  func refuses(schema: String, document: String) throws {
    #expect(try !Self.schema(schema).faults(of: JSONNode.parse(Array(document.utf8))).isEmpty)
  }

  @Test("Reports of both platforms, of a dry run, and their summaries are valid")
  func reports() throws {
    let workspace = try Workspace()
    for arguments in [
      ["run", "jobs/nightly.json", "--sandbox"], ["run", "jobs/nightly.json", "--sandbox"],
      ["run", "jobs/nightly.json", "--dry-run", "--store", "var/none.sqlite"], ["run", "jobs/game.json", "--sandbox"],
    ] {
      let run = try workspace.run(arguments)
      #expect(run.code == 0, "\(run.messages)")
    }
    let reports = try workspace.reports()
    let schema = try Self.schema("report")
    #expect(reports.count == 4)
    for report in reports { #expect(schema.faults(of: report) == []) }
  }

  private static func schema(_ name: String) throws -> JSONSchema {
    var schema = try JSONSchema(Checkout.text(try #require(files[name])))
    if name == "job" { schema.others = ["../EngageConfig.schema.json": try self.schema("config")] }
    return schema
  }

  private static func faults(in file: String, _ schema: String) throws -> [String] {
    try Self.schema(schema).faults(of: JSONNode.parse(try Checkout.bytes(file)))
  }
}
