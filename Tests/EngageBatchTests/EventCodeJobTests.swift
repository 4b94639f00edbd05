import LoopbackServer
import Testing

/// `General.eventCodes` as people use it (reference events 1.8).
@Suite("Codes of events") struct EventCodeJobTests {
  private static let job = """
    {"name": "c", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-15T12:00:00Z", "store": "s.sqlite",
     "settings": {"General": {"eventCodes": "acoustic-mobile"}}}
    """
  private static let records = """
    {"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"m-1","channelId":"c-1","appKey":"k-1"}
    {"deviceId":"d","timestamp":"2026-01-15T08:00:10Z","type":"deepLink","url":"shop://cart?CurrentCampaign=Sale"}
    {"deviceId":"d","timestamp":"2026-01-15T08:00:30Z","type":"namedEvent","name":"Cart"}
    {"deviceId":"d","timestamp":"2026-01-15T08:02:59Z","type":"background"}
    {"deviceId":"d","timestamp":"2026-01-15T11:00:00Z","type":"setMobileUserId"}
    """

  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("in.ndjson", Self.records)
    return workspace
  }

  /// It looked for `Session Duration` and `Campaign Name`, in seconds.
  @Test("Why tells of sessions and campaigns by what codes and attributes mean")
  func why() throws {
    let workspace = try workspace()
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let listed = try workspace.run("store", "events", "--store", "s.sqlite", "--type", "92", "--campaign", "Sale")
    let id = try #require(listed.lines.dropFirst().first?.split(separator: "\t").first).description
    let told = try workspace.run("why", id, "--store", "s.sqlite").output
    #expect(told.hasPrefix("Session ended (code 92) at 2026-01-15T08:02:59.000Z"), "\(told)")
    #expect(told.contains("the session ended at 2026-01-15T08:02:59.000Z, after 2 min of use"), "\(told)")
    #expect(told.contains("'Sale': it was set by the link opened at 2026-01-15T08:00:10.000Z"), "\(told)")
  }

  /// It said "Event 95", whatever it told of.
  @Test("Why names an event with the code of several kinds, and which of them it is")
  func whyCustom() throws {
    let workspace = try workspace()
    try workspace.write(
      "in.ndjson",
      Self.records + "\n"
        + #"{"deviceId":"d","timestamp":"2026-01-15T08:01:00Z","type":"goalCompleted","name":"Bought"}"#
        + "\n" + #"{"deviceId":"d","timestamp":"2026-01-15T08:01:10Z","type":"custom","eventTypeCode":95}"#)
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let listed = try workspace.run("store", "events", "--store", "s.sqlite", "--type", "95")
    let told = try listed.lines.dropFirst().compactMap { $0.split(separator: "\t").first }.map { id in
      let lines = try workspace.run("why", "\(id)", "--store", "s.sqlite").lines
      return [0, 3].map { lines[$0].split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
    }
    #expect(
      told == [
        [
          "Custom event (code 95) at 2026-01-15T08:00:10.000Z",
          "meaning link opened, or a custom event of the app with this code",
        ],
        [
          "Custom event (code 95) at 2026-01-15T08:00:30.000Z",
          "meaning named event, according to its attribute 'Event Name'",
        ],
        [
          "Custom event (code 95) at 2026-01-15T08:01:00.000Z",
          "meaning goal completed or goal abandoned, according to its attribute 'Goal Name'",
        ],
        [
          "Custom event (code 95) at 2026-01-15T08:01:10.000Z",
          "meaning link opened, or a custom event of the app with this code",
        ],
      ])
  }

  @Test("Compare and reports name what a code of another profile means")
  func compare() throws {
    let run = try workspace().run("compare", "job.json", "--with", "General.eventCodes=engage-sdk")
    #expect(run.code == 0, "\(run.messages)")
    let words = run.lines.map { $0.split(separator: "  ").first.map { $0.drop { $0 == " " } } ?? "" }
    for line in [
      "session ended (code 14)", "session ended (code 92)", "custom event (code 95)", "named event (code 17)",
    ] {
      #expect(words.contains { $0 == line }, "\(line): \(run.output)")
    }
  }

  @Test(
    "The doctor tells which codes an account knows, and which profile they are",
    arguments: [
      (
        ["12", "13", "14", "15", "16", "17", "48", "49"], "acoustic-mobile",
        "warning: event types: not known to the service: 89 (installed), 91 (session started), 92 (session ended), 94 (opened notification), 95 (goal abandoned, goal completed, named event, link opened), 103 (push enabled), 104 (push disabled); the service knows all codes of 'engage-sdk': set General.eventCodes to that profile"
      ),
      (
        ["89", "91", "92", "94", "95", "103", "104", "174"], "acoustic-mobile",
        #"ok: event types: the service knows code 174 (push delivery status), but received notifications are not sent; to send them, set General.eventCodes to {"base": "acoustic-mobile", "receivedNotification": {"code": "174"}}"#
      ),
      (
        ["89", "94", "103", "104"], "engage-sdk",
        "warning: event types: not known to the service: 12 (installed), 13 (session started, link opened), 14 (session ended), 15 (goal abandoned), 16 (goal completed), 17 (named event), 48 (received notification), 49 (opened notification); the service knows 89 (installed), 94 (opened notification), 103 (push enabled), 104 (push disabled) of 'acoustic-mobile': set General.eventCodes to that profile, and ask the service's support team to enable 91 (session started), 92 (session ended), 95 (goal abandoned, goal completed, named event, link opened), or give these events empty codes in General.eventCodes"
      ),
      (
        ["89", "94"], #"{"base": "acoustic-mobile", "sessionEnded": {"code": ""}, "sessionStarted": {"code": ""}}"#,
        "warning: event types: not known to the service: 95 (goal abandoned, goal completed, named event, link opened), 103 (push enabled), 104 (push disabled); ask the service's support team to enable universal behaviors"
      ),
    ] as [([String], String, String)])
  func doctor(known: [String], codes: String, finding: String) throws {
    let server = try LoopbackServer { connection in
      while let (head, _) = connection.readRequest() {
        let path = head.split(separator: " ").dropFirst().first ?? ""
        let json = ["Content-Type: application/json"]
        if path == "/oauth/token" {
          connection.answer(200, json, #"{"access_token":"t","token_type":"bearer","expires_in":14400}"#)
        } else if path.hasPrefix("/rest/eventtypes/") {
          let isKnown = known.contains { path.hasSuffix("/\($0)") }
          connection.answer(isKnown ? 200 : 404, json, isKnown ? #"{"data":{}}"# : #"{"meta":{}}"#)
        } else {
          connection.answer(404)
        }
      }
    }
    let finished = try workspace().run(
      ["doctor", "--job", "job.json", "--set", "General.eventCodes=\(codes)"],
      environment: [
        "ENGAGE_BASE_URL": "http://127.0.0.1:\(server.port)", "ENGAGE_CLIENT_ID": "c", "ENGAGE_SECRET": "s",
        "ENGAGE_REFRESH_TOKEN": "r",
      ])
    let told = (finished.output + finished.messages).split(separator: "\n")
    #expect(told.contains { $0.hasPrefix(finding) }, "\(finished.output)\(finished.messages)")
  }
}
