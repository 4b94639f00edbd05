import BatchFoundation
import BatchSandbox
import FoundationEssentials
import TestSupport
import Testing

/// What a service has after `post` of a run in parts is what it has after one process (reference formats 5); with `ENGAGE_TORTURE=full`
/// for every number of parts with every seed.
@Suite("Posts of parts") struct PartsPostTests {
  struct Case: Sendable {
    var seed: UInt64
    var parts: [Int]
  }

  private static let cases =
    ProcessInfo.processInfo.environment["ENGAGE_TORTURE"] == "full"
    ? [Case(seed: 1, parts: [1, 2, 3, 7]), Case(seed: 2, parts: [1, 2, 3, 7]), Case(seed: 3, parts: [1, 2, 3, 7])]
    : [Case(seed: 1, parts: [7]), Case(seed: 2, parts: [2])]

  /// What a run leaves, wherever its lines were decided.
  private struct Content: Equatable {
    /// What the service got, each event as it came, and how often it got one again.
    var events: [String]
    var repeated: Int
    var figures: [String: String]
    /// File, line, offset, reason and bytes of each line.
    var quarantine: [String]
    /// Of Engage.
    var image: IdentityTorture.Image?
    /// Of a game: what was told of each question, and what Engage was asked.
    var decisions: [String] = []
    var questions: [String] = []
  }

  // MARK: - Exports

  /// Folders in folders, archives, damaged ones, lists of links as text, and lines that are none.
  private func write(_ lines: [Recording.Line], seed: UInt64, to workspace: Workspace) throws {
    for file in Recording.files(lines, seed: seed, count: 4) { try workspace.write("in/\(file.name)", file.text) }
    for file in PartsTests.odd { try workspace.write(file.name, file.text) }
    try workspace.write("in/events/long.ndjson", "{\"deviceId\":\"a\"," + String(repeating: "l", count: 3000) + "\n")
    let made = try workspace.shell(
      """
      set -e
      cd in
      mkdir -p events/z 'events/day 1/phones' 'notifications/day 1' deepLinks/more/links
      half() { gzip -nc "$1" | head -c $(($(gzip -nc "$1" | wc -c) / 2)); }
      # An end that is missing, bytes that are others, and a whole member behind half a one.
      half events/0.ndjson > events/z/cut.ndjson.gz
      (half events/1.ndjson; printf '\\377\\377\\377\\377'; gzip -nc events/1.ndjson | tail -c 1000) > events/z/changed.ndjson.gz
      (half events/2.ndjson; gzip -nc events/3.ndjson) > events/z/joined.ndjson.gz
      mv events/1.ndjson 'events/day 1/[1] 100%.ndjson'
      mv events/2.ndjson 'events/day 1/phones/2.ndjson'
      mv notifications/1.ndjson 'notifications/day 1/1.ndjson'
      mv deepLinks/1.ndjson deepLinks/more/links/1.ndjson
      gzip -n 'events/day 1/phones/2.ndjson' 'notifications/day 1/1.ndjson' deepLinks/more/links/1.ndjson
      """)
    #expect(made.code == 0, "\(made.messages)")
  }

  private static let inputs =
    #""inputs": {"events": ["in/events"], "notifications": ["in/notifications"], "deepLinks": ["in/deepLinks"]}"#

  // MARK: - Runs

  private static let keys = ["records", "quarantineReasons", "events", "sessions", "campaigns", "deltadna"]

  /// - Parameters:
  ///   - upload: arguments of the command that sends.
  ///   - parts: nil for one process.
  private func content(
    _ workspace: Workspace, parts: Int?, job: String, _ upload: [String], environment: [String: String] = [:]
  ) throws -> Content {
    let name = parts.map { "in-\($0)" } ?? "whole"
    func run(_ arguments: [String], _ environment: [String: String] = [:]) throws {
      let finished = try workspace.run(arguments, environment: environment)
      #expect(finished.code == 0, "\(name), \(arguments): \(finished.messages)")
    }
    let store = ["--store", "\(name).sqlite"]
    let decided = ["--summary", "\(name)/decided.json"]
    try workspace.write("\(name)/none", "")
    if let parts {
      try run(["partition", job, "--parts", "\(parts)", "--out", "\(name)/parts"])
      for part in 0..<parts {
        try run(["decide", job, "--partition", "\(name)/parts", "--part", "\(part)", "--out", "\(name)/\(part)"])
      }
      try run(["collect", job] + (0..<parts).map { "\(name)/\($0)" } + store + decided)
    } else {
      try run(["run", job, "--no-upload"] + store + decided)
    }
    try run(["post", job, "--summary", "\(name)/posted.json"] + store + upload, environment)
    let quarantined = try workspace.run(["quarantine", "list", "--format", "json", "--show-raw"] + store)
    #expect(quarantined.code == 0, "\(quarantined.messages)")
    let (first, second) = (
      try Summary(workspace.read("\(name)/decided.json")), try Summary(workspace.read("\(name)/posted.json"))
    )
    var figures = Dictionary(uniqueKeysWithValues: Self.keys.map { ($0, first.text($0)) })
    for key in ["identity", "store", "deltadna"] { figures["posted \(key)"] = second.text(key) }
    // How many requests they came in is not what a run promises.
    for key in ["eventsPosted", "eventsFailed", "eventsUnknown"] { figures[key] = "\(second["upload.\(key)"])" }
    return Content(
      events: [], repeated: 0, figures: figures,
      quarantine: try (JSONNode.parse(Array(quarantined.output.utf8)).array ?? []).map { line in
        ["file", "line", "offset", "reason", "detail", "raw", "rawBase64"].map { line[$0]?.text() ?? "" }
          .joined(separator: " ")
      }.sortedByBytes)
  }

  private func prove(_ found: Content, is expected: Content, _ parts: Int) {
    // The whole of an export says less than what differs.
    func differing(_ lines: KeyPath<Content, [String]>) -> [String] {
      found[keyPath: lines].difference(from: expected[keyPath: lines]).prefix(3).map { "\($0)" }
    }
    for lines in [\Content.events, \.quarantine, \.decisions, \.questions] {
      #expect(differing(lines) == [], "\(parts) parts")
    }
    #expect(found.figures == expected.figures, "\(parts) parts")
    #expect(found.image == expected.image, "\(parts) parts")
    let isEqual = found == expected
    #expect(isEqual, "\(parts) parts")
  }

  @Test(
    "Events, figures, quarantine, recipients with their ids and audit rows are those of one process", arguments: cases)
  func engage(given: Case) throws {
    let workspace = try Workspace(["configs"])
    let people = IdentityTorture(seed: given.seed, checks: 32, longestLife: 1)
    try write(Recording(seed: given.seed, devices: 24, perDevice: 25).lines, seed: given.seed, to: workspace)
    try workspace.write("in/events/people/who.ndjson", people.records)
    try workspace.write(
      "job.json",
      """
      {"name": "posted", "identity": true, \(Self.inputs), "deepLinkRoutes": "configs/MobileDeepLinkingConfig.json",
       "asOf": "2026-01-18T00:00:00Z", "settings": {"General": {"databaseListId": "100001"},
         "Ingest": {"maxLineBytes": 2000}, "Upload": {"concurrency": 4, "maxEventsPerRequest": 20},
         "Recipient": {"mergeHistoryInMarketingDatabase": true},
         "AuditRecord": {"mergeHistoryInAuditRecordTable": true, "auditRecordListId": "50002"}}}
      """)
    func posted(_ parts: Int?) throws -> Content {
      var options = EngageSandboxOptions()
      options.organization.recipients = people.recipients
      let service = try Service(options)
      var content = try content(workspace, parts: parts, job: "job.json", [], environment: service.environment)
      content.events = service.events
      content.repeated = content.events.count - Set(content.events).count
      content.image = IdentityTorture.Image(of: service)
      #expect(service.server.totals.violations == [:])
      return content
    }
    let expected = try posted(nil)
    #expect(expected.events.count > 500)
    #expect(expected.quarantine.count { $0.contains("damaged-file") } == 3)
    // Of eight people four are merged.
    #expect(expected.image?.auditRows.count == 16)
    for parts in given.parts { prove(try posted(parts), is: expected, parts) }
  }

  @Test("What Collect got, decisions, figures and quarantine of a game are those of one process", arguments: cases)
  func game(given: Case) throws {
    let workspace = try Workspace([])
    let lines = GameIdenticalOutputTests.lines(given.seed, devices: 16, perDevice: 40).map {
      Recording.Line(kind: .events, milliseconds: $0.time, text: $0.text)
    }
    let others = Recording(seed: given.seed, devices: 16, perDevice: 20).lines.filter { $0.kind != .events }
    try write(lines + others, seed: given.seed, to: workspace)
    // Some are not asked any more.
    let denials = (0..<4).map { device in
      #"{"deviceId":"d-\#(device)","timestamp":\#(Recording.start + 40_000_001),"type":"consent","use":false}"# + "\n"
    }
    try workspace.write("in/events/denials.ndjson", denials.joined())
    try workspace.write("schema.json", GameIdenticalOutputTests.schema)
    try workspace.write("configuration.json", GameIdenticalOutputTests.configuration)
    func posted(_ parts: Int?) throws -> Content {
      let (collect, engage) = (try CollectServer(), try DecisionServer())
      try workspace.write(
        "job.json",
        """
        {"name": "posted", "destination": "deltadna", \(Self.inputs), "asOf": "2026-01-18T00:00:00Z",
         "settings": {"Ingest": {"maxLineBytes": 2000}, "DeltaDNA": {"collectURL": "\(collect.address)",
           "engageURL": "\(engage.address)", "environmentKey": "KEY", "eventSchema": "schema.json",
           "sessionConfiguration": "configuration.json", "maxEventsPerRequest": 20}}}
        """)
      var content = try content(workspace, parts: parts, job: "job.json", ["--decisions-out", "decisions.ndjson"])
      (content.events, content.repeated) = (collect.events.sortedByBytes, collect.repeated)
      content.decisions = try workspace.read("decisions.ndjson").split(separator: "\n").map(String.init).sortedByBytes
      content.questions = engage.questions.sortedByBytes
      #expect(collect.violations == [])
      return content
    }
    let expected = try posted(nil)
    #expect(expected.events.count > 400)
    #expect(expected.repeated == 0)
    for key in ["deltadna", "posted deltadna"] { #expect(expected.figures[key] != "null") }
    #expect(expected.quarantine.count { $0.contains("damaged-file") } == 3)
    #expect(expected.questions.count > 20)
    #expect(expected.decisions.count > expected.questions.count)
    for parts in given.parts { prove(try posted(parts), is: expected, parts) }
  }
}
