import BatchFoundation
import TestSupport
import Testing

/// `test`: jobs against the tests that they carry.
@Suite("Tests of jobs") struct JobTestCommandTests {
  @Test("The sample jobs pass theirs, and what none of them touches is named; nothing is left behind")
  func samples() throws {
    let workspace = try Workspace()
    let before = try workspace.listing()
    let finished = try workspace.run("test", "jobs/nightly.json", "jobs/game.json", "jobs/unity.json")
    #expect(finished.code == 0, "\(finished.messages)\(finished.output)")
    #expect(
      finished.lines == [
        "jobs/nightly.json",
        "  ok    a notification's campaign is on every event until it expires",
        "  ok    a session ends at its pause, once the phone was away for longer than five minutes",
        "  ok    with ten minutes the same records are one session less",
        "  ok    a link sets a campaign by its route",
        "  ok    a line that is no record is quarantined, and the others go out",
        "  5 tests, 0 failed",
        "  no test covers:",
        "    rule: an identity is checked",
        "    route: product/:id/reviews",
        "    route: test/:testId",
        "jobs/game.json",
        "  ok    a player who comes back after five minutes begins a new session",
        "  ok    a finished tutorial is rewarded by its campaign",
        "  2 tests, 0 failed",
        "  no test covers:",
        "    rule: a player opts out",
        "    rule: consent is denied",
        "    rule: an event does not match the schema",
        "jobs/unity.json",
        "  ok    a player who comes back after five minutes begins a new session",
        "  ok    a finished tutorial is rewarded by its campaign",
        "  2 tests, 0 failed",
        "  no test covers:",
        "    rule: a player opts out",
        "    rule: consent is denied",
        "    rule: an event does not match the schema",
      ])
    #expect(try workspace.listing() == before)
  }

  /// A job with one test of a named event under a campaign, which expects what is given.
  private func workspace(expecting expected: String) throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "own", "inputs": {"events": ["none/*"]}, "asOf": "2026-02-01T00:00:00Z", "tests": ["tests.json"]}"#)
    try workspace.write(
      "tests.json",
      """
      [
        {
          "name": "own",
          "events": [
            {"deviceId": "d", "timestamp": "2026-01-01T00:00:00Z", "type": "pushReceived", "payload": {"CurrentCampaign": "spring"}},
            {"deviceId": "d", "timestamp": "2026-01-01T00:01:00Z", "type": "namedEvent", "name": "Cart"}
          ],
          "expect": \(expected)
        }
      ]
      """)
    return workspace
  }

  @Test(
    "A difference is told member by member, and ends with 65",
    arguments: [
      (
        #"{"events": [{"type": "48"}, {"type": "17", "attributes": {"Event Name": "Basket", "Campaign Name": null}}]}"#,
        [
          #"events[1].attributes.Event Name: expected "Basket", found "Cart""#,
          #"events[1].attributes.Campaign Name: expected none, found "spring""#,
        ]
      ),
      (
        #"{"events": [{"type": "12"}, {"type": "48"}, {"type": "17"}]}"#, [#"events: missing {"type":"12"}"#]
      ),
      (#"{"campaigns": [{"name": "spring", "events": 1}]}"#, ["campaigns[0].events: expected 1, found 2"]),
      (#"{"quarantine": {"invalid-json": 1}}"#, ["quarantine.invalid-json: expected 1, found none"]),
      (#"{"sessions": {}}"#, ["sessions: the expected value is an object, but must be an array"]),
    ])
  func differences(expected: String, lines: [String]) throws {
    let workspace = try workspace(expecting: expected)
    let finished = try workspace.run("test", "job.json")
    #expect(finished.code == 65, "\(finished.messages)")
    #expect(
      Array(finished.lines.prefix(lines.count + 3))
        == ["job.json", "  FAIL  own (tests.json:2)"] + lines.map { "          \($0)" } + ["  1 test, 1 failed"])
  }

  @Test("Request bodies are expected whole")
  func requests() throws {
    let workspace = try workspace(expecting: #"{"requests": [{"events": []}]}"#)
    let finished = try workspace.run("test", "job.json", "--format", "json")
    #expect(finished.code == 65)
    let report = try JSONNode.parse(Array(finished.output.utf8))
    let differences = report.array?.first?["tests"]?.array?.first?["differences"]?.array?.compactMap(\.string)
    #expect(differences?.count == 1)
    #expect(differences?.first?.hasPrefix("requests[0].events: expected 0 elements, found 2: ") == true)
  }

  @Test("Results go to build servers as JUnit XML")
  func junit() throws {
    let workspace = try workspace(expecting: #"{"campaigns": []}"#)
    let finished = try workspace.run("test", "job.json", "--junit", "results.xml")
    #expect(finished.code == 65)
    let written = try workspace.read("results.xml")
    #expect(written.contains(#"<testsuite name="engage-batch test" tests="1" failures="1""#))
    #expect(written.contains(#"<testcase classname="job.json" name="own">"#))
  }

  @Test(
    "What is wrong with a file of tests is told with its place and ends with 78",
    arguments: [
      ("[", ":1: error: not valid JSON"), ("{}", ":1: error: 'tests' is an object, but must be an array of tests"),
      (
        "[{\"name\": \"a\", \"events\": [{}], \"expect\": {\"events\": []},\n\"nam\": 1}]",
        ":2: error: unknown key 'tests[0].nam'; did you mean 'tests[0].name'?"
      ),
      (
        #"[{"name": "a", "events": [{}], "expect": {}}]"#,
        ":1: error: 'tests[0].expect' is empty; known keys: events, sessions, campaigns, requests, quarantine, warnings"
      ),
      (
        #"[{"name": "a", "expect": {"events": []}}]"#,
        ":1: error: 'tests[0]' has no records; write them under 'events', 'notifications', 'deepLinks' or 'inputs'"
      ),
    ])
  func faults(text: String, words: String) throws {
    let workspace = try workspace(expecting: "{}")
    try workspace.write("tests.json", text)
    let finished = try workspace.run("test", "job.json")
    #expect(finished.code == 78)
    #expect(finished.messages == "tests.json\(words)\n", "\(finished.messages)")
  }

  @Test("A job without tests is told so with 66")
  func none() throws {
    let workspace = try Workspace()
    let finished = try workspace.run("test", "jobs/weather.json")
    #expect(finished.code == 66)
    #expect(
      finished.messages
        == "jobs/weather.json: error: the job has no tests; list test files under 'tests' (docs/cookbook.md)\n")
  }

  @Test("Foreign lines are read as those of their entry")
  func foreignLines() throws {
    let workspace = try Workspace([])
    try workspace.write("map.json", try Checkout.text("samples/maps/table.json"))
    try workspace.write(
      "job.json",
      #"""
      {"name": "own", "asOf": "2026-02-01T00:00:00Z", "tests": ["tests.json"], "inputs": {"events": [
        {"path": "calls/*.ndjson", "map": "segment"}, {"path": "*.csv", "map": "map.json", "label": "orders"}]}}
      """#)
    func test(_ entry: String) -> String {
      #"""
      [{"name": "own", "inputs": {
          "\#(entry)": [{"type": "track", "event": "Cart", "anonymousId": "d", "userId": "u", "timestamp": "2026-01-15T08:00:00Z"}, {"type": "page"}],
          "orders": ["device,when,what,amount,note", "e,15/01/2026 09:00:00,buy,12.5,x"]},
        "expect": {"quarantine": {}, "events": [{"type": "13", "device": "d"}, {"type": "17", "device": "d"}, {"type": "14"},
          {"type": "16", "device": "e", "timestamp": "2026-01-15T09:00:00.000Z"}]}}]
      """#
    }
    try workspace.write("tests.json", test("calls/*.ndjson"))
    let passed = try workspace.run("test", "job.json")
    #expect(passed.code == 0, "\(passed.output)\(passed.messages)")
    try workspace.write("tests.json", test("call/*.ndjson"))
    let refused = try workspace.run("test", "job.json")
    #expect(refused.code == 78)
    #expect(
      refused.messages.contains(
        "tests.json:2: error: 'inputs.call/*.ndjson' is not an entry of the job, whose entries are 'calls/*.ndjson', 'orders'"
      ),
      "\(refused.messages)")
  }
}
