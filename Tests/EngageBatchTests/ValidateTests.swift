import BatchJSON
import FoundationEssentials
import Testing

/// `validate` as a linter of exports.
@Suite("Findings of validate") struct ValidateTests {
  /// A job over lines of one `events` and one `notifications` input.
  private func workspace(_ events: [String], notifications: [String] = []) throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("in/a.ndjson", events.joined(separator: "\n") + "\n")
    try workspace.write("in/b.ndjson", notifications.joined(separator: "\n") + "\n")
    try workspace.write(
      "job.json",
      #"{"name": "lint", "inputs": {"events": ["in/a.ndjson"], "notifications": ["in/b.ndjson"]}, "identity": true}"#)
    return workspace
  }

  private static let bad = [
    #"{"deviceId":"d","timestamp":"2026-01-01T00:00:00Z","type":"goalComplted","name":"g"}"#,
    #"{"deviceId":"d","timestmp":"2026-01-01T00:00:00Z","type":"launch"}"#,
    #"{"deviceId":"d","timestamp":"2026-02-30T00:00:00Z","type":"launch"}"#,
    #"{"deviceId":"d","timestamp":"2026-01-01T00:00:00Z","type":"namedEvent","name":7}"#,
    #"{"deviceId":"d","timestamp":"2026-01-01T00:00:00Z","type":"namedEvent","name":"n","params":{"basket":[1],"price":2}}"#,
    #"{"deviceId":"","timestamp":"2026-01-01T00:00:00Z","type":"launch"}"#,
    #"{"deviceId":"d","#,
    #"{"deviceId":"d","timestamp":"ada@example.com","type":"ada@example.com"}"#,
  ]
  private static let push = [
    #"{"deviceId":"d","timestamp":"2026-01-01T00:00:01Z","action":"recieved","payload":{"aps":{}}}"#,
    #"{"deviceId":"d","timestamp":"2026-01-01T00:00:02Z","action":"opened","payload":{"aps":{"alert":"x"},"campaign":"spring","category":"c"}}"#,
  ]

  @Test("Each is a line of stdout with place, reason and what was perhaps meant, by file and line")
  func text() throws {
    let workspace = try workspace(Self.bad, notifications: Self.push)
    let finished = try workspace.run("validate", "job.json", "--as-of", "2026-01-02T00:00:00Z")
    #expect(finished.code == 65, "\(finished.messages)")
    let (a, b) = ("\(workspace.path)/in/a.ndjson", "\(workspace.path)/in/b.ndjson")
    #expect(
      finished.lines == [
        "\(a):1: unknown-type: field 'type': 'goalComplted', did you mean goalCompleted?",
        "\(a):2: missing-field: field 'timestamp' is missing: the line has 'timestmp', did you mean timestamp?",
        "\(a):3: invalid-timestamp: field 'timestamp': '2026-02-30T00:00:00Z' is not a time",
        "\(a):4: wrong-type: field 'name' is a number, but has to be a text",
        "\(a):5: warning: nested-attribute: attribute 'basket' of params is an array or an object; dropped",
        "\(a):6: missing-field: field 'deviceId' is empty",
        "\(a):7: invalid-json: at byte 17 of the line",
        "\(a):8: invalid-timestamp: field 'timestamp' is not a time",
        "\(b):1: unknown-type: field 'action': 'recieved', did you mean received?",
        "\(b):2: warning: near-parameter: payload key 'campaign' is not read, did you mean CurrentCampaign?",
      ])
    #expect(finished.messages.contains("10 findings: 8 quarantined, 2 warnings\n"), "\(finished.messages)")
    #expect(!(finished.output + finished.messages).contains("ada@example.com"))
  }

  @Test("A limit shortens the list and leaves the total")
  func limit() throws {
    let workspace = try workspace(Self.bad)
    let finished = try workspace.run("validate", "job.json", "--limit", "2")
    #expect(finished.code == 65)
    #expect(finished.lines.count == 2)
    #expect(finished.messages.contains("8 findings: 7 quarantined, 1 warning; the first 2 are shown"))
    #expect(try workspace.run("validate", "job.json", "--limit", "0").code == 64)
  }

  @Test("As JSON and as JUnit XML")
  func documents() throws {
    let workspace = try workspace(Array(Self.bad.prefix(1) + Self.bad[4...4]))
    let json = try workspace.run("validate", "job.json", "--format", "json")
    #expect(json.code == 65)
    let document = try JSONNode.parse(Array(json.output.utf8))
    #expect(document["total"]?.integer == 2)
    #expect(document["errors"]?.integer == 1)
    #expect(document["findings"]?.array?.map { $0["severity"]?.string } == ["error", "warning"])
    #expect(document["findings"]?.array?.map { $0["line"]?.integer } == [1, 2])
    let junit = try workspace.run("validate", "job.json", "--format", "junit")
    #expect(junit.code == 65)
    let file = "\(workspace.path)/in/a.ndjson"
    #expect(
      junit.output == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites tests="1" failures="1" errors="0" time="0.000">
          <testsuite name="lint" tests="1" failures="1" errors="0" time="0.000">
            <testcase classname="\(file)" name="line 1">
              <failure message="\(file):1: unknown-type: field &#39;type&#39;: &#39;goalComplted&#39;, did you mean goalCompleted?" \
        type="unknown-type"></failure>
            </testcase>
          </testsuite>
        </testsuites>

        """)
  }

  @Test("Clean inputs end with 0 and print nothing on stdout")
  func clean() throws {
    let workspace = try workspace([#"{"deviceId":"d","timestamp":"2026-01-01T00:00:00Z","type":"launch"}"#])
    let finished = try workspace.run("validate", "job.json")
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(finished.output.isEmpty)
    #expect(finished.messages.contains("no findings\n"))
  }

  @Test("Findings leave stdout to another output that goes there")
  func sharedStdout() throws {
    let workspace = try workspace(Self.bad)
    let finished = try workspace.run("validate", "job.json", "--summary", "-")
    #expect(finished.code == 65)
    #expect(try Summary(finished.output)["records.quarantined"] == 7)
    #expect(finished.messages.contains("unknown-type"))
  }
}
