import BatchFoundation
import BatchSandbox
import FoundationEssentials
import TestSupport
import Testing

/// `docs/watch.md` against reports of real runs, good and bad ones.
@Suite("Reports and their page") struct ReportPageTests {
  /// Said of jobs that these runs are not.
  private static let elsewhere: Set<String> = ["deltadna", "unity", "summary.json"]

  @Test("Every key and value of report.json that the page names is found in one of them, with something in it")
  func everythingThatIsWrittenIsFilled() throws {
    let reports = try Self.reports()
    for (keys, words) in try Self.rows() {
      for key in keys {
        #expect(reports.contains { Self.isFilled($0[key]) }, "\(key) is empty in every report")
      }
      let found = Set(reports.flatMap { report in keys.flatMap { key in report[key].map(Self.names) ?? [] } })
      #expect(
        words.filter { !found.contains($0) && !keys.contains($0) && !Self.elsewhere.contains($0) } == [], "\(keys)")
    }
  }

  @Test("Every key of these reports is named by the page")
  func nothingIsUnwritten() throws {
    let rows = try Self.rows()
    for report in try Self.reports() {
      #expect((report.members ?? []).map(\.key) == rows.flatMap(\.keys))
    }
  }

  // MARK: - The page

  /// The rows about `report.json`: the keys of the first cell, and what else stands in back quotes.
  private static func rows() throws -> [(keys: [String], words: [String])] {
    let page = try Checkout.text("docs/watch.md")
    let section = try #require(page.firstRange(of: "\n## report.json\n")).upperBound
    let lines = page[section...].split(separator: "\n").filter { $0.hasPrefix("| `") }
    let rows = lines.map { line in
      let cells = line.split(separator: "|").map { $0.matches(of: /`([^`]+)`/).map { String($0.output.1) } }
      return (cells[0], cells[1])
    }
    return try Vectors.wanted(rows, "docs/watch.md")
  }

  /// Whether there is something in it: not null, and neither 0 nor false nor empty, where such a value says "nothing".
  private static func isFilled(_ node: JSONNode?) -> Bool {
    switch node?.value {
    case .bool(let flag): flag
    case .number(let digits): digits != "0"
    case .string(let text): !text.isEmpty
    case .array(let elements): !elements.isEmpty
    case .object(let members): members.contains { isFilled($0.value) }
    default: false
    }
  }

  /// The names of filled members at any depth, and all texts.
  private static func names(_ node: JSONNode) -> [String] {
    switch node.value {
    case .string(let text): [text]
    case .array(let elements): elements.flatMap(names)
    case .object(let members):
      members.flatMap { (isFilled($0.value) ? [$0.key] : []) + names($0.value) }
    default: []
    }
  }

  // MARK: - The runs

  /// A job without identities, so that delivery is all that can go wrong.
  private static let plain = """
    {"name": "plain", "inputs": {"events": ["samples/events/*.ndjson", "in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z",
     "settings": {"Networking": {"retryDelay": "0s", "maxRetryDelay": "0s"}, "Upload": {"concurrency": 1, "maxEventsPerRequest": 10}},
     "store": "var/plain.sqlite", "reports": "var/reports"}
    """

  /// The same job on a night of which little came.
  private static let quiet = plain.replacing(#""samples/events/*.ndjson", "in.ndjson""#, with: #""held.ndjson""#)

  /// A session configuration that can be used, with something odd in it.
  private static let odd = """
    {"parameters": {"triggers": [
      {"eventName": "missionCompleted", "campaignID": 7, "variantID": 8, "response": {"parameters": {}}},
      {"eventName": "levelUp", "condition": 5}]}}
    """

  /// Two customers who are known apart, on one device: a plan that waits for a person, with its reason. And one whom nobody knows on
  /// the device of another, who is left there.
  private static let held = [
    "held.json": """
    {"name": "held", "identity": true, "inputs": {"events": ["held.ndjson"]}, "asOf": "2026-02-01T00:00:00Z", "store": "var/held.sqlite",
     "settings": {"General": {"databaseListId": "100001"}, "Recipient": {"knownToKnown": "hold"}}}
    """,
    "held.ndjson": """
    {"deviceId":"phone","timestamp":"2026-01-15T08:00:00Z","type":"identify","recipientId":"900000000203","mobileUserId":"U-2","ids":{"customer_id":"c-2"}}
    {"deviceId":"tablet","timestamp":"2026-01-15T09:00:00Z","type":"identify","recipientId":"900000000204","mobileUserId":"W-2","ids":{"customer_id":"c-nobody"}}
    """,
  ]

  private static func reports() throws -> [JSONNode] {
    let nightly = ["jobs/nightly.json", "--sandbox"]
    let unreachable = ["ENGAGE_BASE_URL": "http://127.0.0.1:1"]
    return try run([["run"] + nightly + ["--set", "Report.personalData=clear", "--events-out", "events.ndjson"]])
      + run([["validate", "jobs/nightly.json", "--set", "Report.personalData=omit"]])
      + run([
        [
          "run", "jobs/game.json", "--sandbox", "--set", "DeltaDNA.sessionConfiguration=odd.json", "--set",
          "Report.personalData=clear",
        ]
      ])
      + run([["run", "job.json", "--no-upload"], ["post", "job.json"]])
      // A night with next to nothing, where three before it had much.
      + run(Array(repeating: ["run", "job.json", "--no-upload"], count: 3) + [["run", "quiet.json", "--no-upload"]])
      + run([["run", "held.json"]]) + run([["run", "job.json"]], unreachable)
      // Turned away, turned away as wrong, and answered by nobody.
      + run(
        [["run", "job.json"]],
        faults: [
          FaultRule(endpoint: .events, occurrence: .nth([1]), action: .status(503, headers: [:], body: "")),
          FaultRule(endpoint: .events, occurrence: .nth([2]), action: .status(400, headers: [:], body: "{}")),
          FaultRule(endpoint: .events, occurrence: .nth([3]), point: .applied, action: .close),
          FaultRule(endpoint: .eventErrors, action: .status(500, headers: [:], body: "")),
        ])
      + run(
        [["run", "job.json"]],
        faults: [FaultRule(endpoint: .token, action: .status(401, headers: [:], body: #"{"error":"invalid_client"}"#))])
      // Killed with an attempt under way, and gone on with.
      + run(
        [["run", "job.json"], ["run", "job.json"]], ["ENGAGE_CRASH_AT": "after-intent-commit:1"], isKilledFirst: true)
  }

  /// Runs commands one after another on one store; the environment is that of the first only where that is killed.
  private static func run(
    _ commands: [[String]], _ environment: [String: String] = [:], faults: [FaultRule] = [], isKilledFirst: Bool = false
  ) throws -> [JSONNode] {
    let workspace = try Workspace()
    try workspace.write("job.json", plain)
    try workspace.write("quiet.json", quiet)
    let pushes = (0..<210).map { number in
      #"{"deviceId":"d\#(number)","timestamp":"2026-01-15T09:00:00Z","type":"pushReceived","mobileUserId":"u","payload":{"#
        + #""CurrentCampaign":"campaign \#(number)","CampaignExpiresAt":"01/15/2026 10:00"}}"#
    }
    try workspace.write(
      "in.ndjson",
      #"{"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"namedEvent","name":"n","screen":"home"}"# + "\n"
        + pushes.joined(separator: "\n"))
    for (name, text) in held { try workspace.write(name, text) }
    try workspace.write("odd.json", odd)
    var options = EngageSandboxOptions()
    options.organization.recipients = [
      .init(id: 900_000_000_203, values: ["customer_id": "c-other", "Mobile User Id": "U-2"]),
      .init(id: 900_000_000_204, values: ["customer_id": "c-2", "Mobile User Id": "W-2"]),
    ]
    options.server.faults.rules = faults
    let service = try Service(options)
    for (index, command) in commands.enumerated() {
      let more = isKilledFirst && index > 0 ? [:] : environment
      let finished = try workspace.run(
        command + ["--report", "var/reports"], environment: service.environment.merging(more) { $1 })
      #expect(finished.code == 137 || ![64, 70].contains(finished.code), "\(finished.messages)")
    }
    return try workspace.reports()
  }
}
