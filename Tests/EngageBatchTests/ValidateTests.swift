import BatchFoundation
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
    let finished = try workspace.run("validate", "job.json", "--as-of", "2026-01-02T00:00:00Z", "--all")
    #expect(finished.code == 65, "\(finished.messages)")
    let (a, b) = ("\(workspace.path)/in/a.ndjson", "\(workspace.path)/in/b.ndjson")
    #expect(
      finished.lines == [
        "\(a):1: unknown-type: field 'type': 'goalComplted', did you mean 'goalCompleted'?",
        "\(a):2: missing-field: field 'timestamp' is missing: the line has 'timestmp'; did you mean 'timestamp'?",
        "\(a):3: invalid-timestamp: field 'timestamp': '2026-02-30T00:00:00Z' is not a time; write 2026-01-15T08:00:00.000Z, 2026-01-15 08:00:00 in UTC, or seconds since 1970",
        "\(a):4: wrong-type: field 'name' is an integer, but must be a string",
        "\(a):5: warning: nested-attribute: attribute 'basket' of params is an array or an object; dropped",
        "\(a):6: missing-field: field 'deviceId' is empty",
        "\(a):7: invalid-json: the line ends within an object: the file may be truncated",
        "\(a):8: invalid-timestamp: field 'timestamp' is not a time; write 2026-01-15T08:00:00.000Z, 2026-01-15 08:00:00 in UTC, or seconds since 1970",
        "\(b):1: unknown-type: field 'action': 'recieved', did you mean 'received'?",
        "\(b):2: warning: near-parameter: payload key 'campaign' is not read; did you mean 'CurrentCampaign'?",
      ])
    #expect(finished.messages.contains("10 findings: 8 quarantined, 2 warnings\n"), "\(finished.messages)")
    #expect(!(finished.output + finished.messages).contains("ada@example.com"))
  }

  @Test("The list of the quarantine says the same of each line")
  func listed() throws {
    let workspace = try workspace(Self.bad, notifications: Self.push)
    let asOf = ["--as-of", "2026-01-02T00:00:00Z"]
    let found = try workspace.run(["validate", "job.json", "--all"] + asOf).lines.filter { !$0.contains(": warning: ") }
    #expect(try workspace.run(["run", "job.json", "--no-upload"] + asOf).code == 0)
    let list = try workspace.run("quarantine", "list", "--job", "job.json", "--format", "json")
    let rows = try JSONNode.parse(Array(list.output.utf8)).array ?? []
    let listed = rows.map { row in
      let place = "\(row["file"]?.string ?? ""):\(row["line"]?.integer ?? 0)"
      return "\(place): \(row["reason"]?.string ?? ""): \(row["detail"]?.string ?? "")"
    }
    #expect(found.count == 8 && listed.sorted() == found)
  }

  @Test("184 equal findings are one, with their number, the first place and what to write in the job")
  func grouped() throws {
    let workspace = try Workspace([])
    let calls = (1...184).map {
      #"{"type":"track","event":"Cart Viewed","anonymousId":"a-\#($0)","messageId":"m-\#($0)","timestamp":"2026-01-01T08:00:00Z","properties":{"n":\#($0)}}"#
    }
    try workspace.write(
      "seg.ndjson", calls.joined(separator: "\n") + "\n" + #"{"deviceId":"d","timestamp":"2026-"# + "\n")
    try workspace.write("job.json", #"{"name": "seg", "inputs": {"events": ["seg.ndjson"]}, "store": "s.sqlite"}"#)
    let file = "\(workspace.path)/seg.ndjson"
    let cause =
      "184 x missing-field: field 'deviceId' is missing (first: \(file):1). "
      + #"They look like Segment records: list the file as {"path": ..., "map": "segment"}"#
    let cut = "\(file):185: invalid-json: the line ends within a string: the file may be truncated"
    let validated = try workspace.run("validate", "job.json")
    #expect(validated.code == 65 && validated.lines == [cause, cut], "\(validated)")
    #expect(validated.messages.contains("185 findings: 185 quarantined, 0 warnings; --all shows each\n"))
    // The cause of what ends the run is its error, too.
    #expect(validated.messages.ranges(of: "\(file):1)").count == 1)
    #expect(try workspace.run("validate", "job.json", "--all").lines.count == 185)
    let json = try JSONNode.parse(Array(workspace.run("validate", "job.json", "--format", "json").output.utf8))
    #expect(json["findings"]?.array?.count == 185)
    #expect(json["causes"]?.array?.map { $0["count"]?.integer } == [184, 1])
    #expect(
      json["causes"]?.array?.first?["advice"]?.string
        == #"They look like Segment records: list the file as {"path": ..., "map": "segment"}"#)
    let run = try workspace.run("run", "job.json", "--no-upload", "--allow-empty")
    #expect(run.messages.contains(cause) && run.messages.contains(cut), "\(run)")
    let listed = try workspace.run("quarantine", "list", "job.json")
    #expect(
      listed.lines == [
        "lines\treason\tdetail\tfirst", "184\tmissing-field\tfield 'deviceId' is missing\t\(file):1",
        "1\tinvalid-json\tthe line ends within a string: the file may be truncated\t\(file):185",
      ])
    #expect(try workspace.run("quarantine", "list", "job.json", "--all").lines.count == 186)
  }

  /// `received` was said to be missing where a member of one of its items was.
  @Test("What is wrong below a field is named by its place")
  func nested() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      [
        #""received":{"items":[{"name":"a","type":"b","amount":1},{"name":"a","tipe":"b","amount":1}]},"spent":{}"#,
        #""received":{"virtualCurrencies":[7]},"spent":{}"#,
        #""received":{},"spent":{"realCurrency":{"type":"USD","amount":"5"}}"#,
        #""received":{},"spent":{"realCurrency":{"type":"USD"}}"#,
        #""received":{},"spent":{"realCurrency":{"type":"","amount":5}}"#,
        #""received":{},"spent":{},"device":{"osName":5}"#,
      ].map {
        #"{"deviceId":"d","timestamp":"2026-01-01T00:00:00Z","type":"transaction","name":"n","transactionType":"SALE",\#($0)}"#
      }.joined(separator: "\n"))
    try workspace.write(
      "job.json",
      #"{"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-02T00:00:00Z"}"#)
    let finished = try workspace.run("validate", "job.json")
    #expect(finished.code == 65, "\(finished.messages)")
    #expect(
      finished.lines.map { $0.dropFirst(workspace.path.count + 1) } == [
        "in.ndjson:1: missing-field: field '/received/items/1/type' is missing: '/received/items/1' has 'tipe'; did you mean 'type'?",
        "in.ndjson:2: wrong-type: field '/received/virtualCurrencies/0' is an integer, but must be of another type",
        "in.ndjson:3: wrong-type: field '/spent/realCurrency/amount' is a string, but must be of another type",
        "in.ndjson:4: missing-field: field '/spent/realCurrency/amount' is missing",
        "in.ndjson:5: missing-field: field '/spent/realCurrency/type' is empty",
        "in.ndjson:6: wrong-type: field '/device/osName' is an integer, but must be of another type",
      ])
  }

  @Test("A game's lines and events say what was perhaps meant: types, fields, events and their parameters")
  func game() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      [
        #""type":"gamEvent","name":"a""#, #""type":"transaction","nam":"a""#,
        #""type":"gameEvent","name":"misionStarted""#,
        #""type":"gameEvent","name":"missionStarted","params":{"misionName":"m"}"#,
        #""type":"gameEvent","name":"missionStarted","params":{"reward":{"rewardNane":"m"}}"#,
        #""type":"gameEvent","name":"ada@example.com""#,
      ].map { #"{"deviceId":"d","timestamp":"2026-01-01T00:00:00Z",\#($0)}"# }.joined(separator: "\n"))
    try workspace.write(
      "schema.json",
      """
      {"events":[{"name":"missionStarted","parameters":[{"name":"missionName","type":"STRING"},
       {"name":"reward","type":"OBJECT","parameters":[{"name":"rewardName","type":"STRING"}]}]},
       {"name":"newPlayer"},{"name":"gameStarted"},{"name":"clientDevice"}]}
      """)
    try workspace.write(
      "job.json",
      #"{"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-02T00:00:00Z","#
        + #" "settings": {"DeltaDNA": {"eventSchema": "schema.json"}}}"#)
    let finished = try workspace.run("validate", "job.json")
    #expect(finished.code == 65, "\(finished.messages)")
    // The ids of events stand between two colons and a space.
    let lines = finished.lines.map {
      $0.replacing(#/event:[0-9a-f-]{36}: /#, with: "").dropFirst(workspace.path.count + 1)
    }
    #expect(
      lines == [
        "in.ndjson:1: unknown-type: field 'type': 'gamEvent', did you mean 'gameEvent'?",
        "in.ndjson:2: missing-field: field 'name' is missing: the line has 'nam'; did you mean 'name'?",
        "in.ndjson:3: schema-invalid: event 'misionStarted': unknownEvent at /eventName (did you mean 'missionStarted'?)",
        "in.ndjson:4: schema-invalid: event 'missionStarted': unknownParameter at /eventParams/misionName (did you mean 'missionName'?)",
        "in.ndjson:5: schema-invalid: event 'missionStarted': unknownParameter at /eventParams/reward/rewardNane (did you mean 'rewardName'?)",
        "in.ndjson:6: schema-invalid: badName at /eventName; unknownEvent at /eventName",
      ])
  }

  @Test("Records of clocks that are ahead are told by line and number, with what to do; a day is no such thing")
  func future() throws {
    let workspace = try workspace(
      ["2026-01-02T23:00:00Z", "2036-01-01T00:00:00Z", "2036-01-01T00:00:01Z"].map {
        #"{"deviceId":"d","timestamp":"\#($0)","type":"namedEvent","name":"n","mobileUserId":"u"}"#
      })
    let finished = try workspace.run("validate", "job.json", "--as-of", "2026-01-02T00:00:00Z")
    #expect(finished.code == 0, "\(finished.messages)")
    let file = "\(workspace.path)/in/a.ndjson"
    #expect(
      finished.lines == [
        "2 x warning: future-record: more than a day after asOf (first: \(file):2)"
      ])
    let note =
      "2 records are more than a day after asOf (2026-01-02T00:00:00.000Z), probably because device clocks were ahead: "
      + "records of these devices with earlier timestamps count as late in later runs. Correct the export, "
      + "or end the window before these records: --to 2026-01-03T00:00:00.000Z"
    #expect(finished.messages.contains("warning: \(note)\n"), "\(finished.messages)")
    #expect(finished.messages.contains("                    2  future-record\n"), "\(finished.messages)")
    let ended = try workspace.run(
      "validate", "job.json", "--as-of", "2026-01-02T00:00:00Z", "--to", "2026-01-03T00:00:00.000Z")
    #expect(ended.code == 0 && ended.lines.isEmpty, "\(ended.messages)")
  }

  @Test("A limit shortens the list and leaves the total")
  func limit() throws {
    let workspace = try workspace(Self.bad)
    let finished = try workspace.run("validate", "job.json", "--all", "--limit", "2")
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
              <failure message="\(file):1: unknown-type: field &#39;type&#39;: &#39;goalComplted&#39;, did you mean &#39;goalCompleted&#39;?" \
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
