import BatchFoundation
import LoopbackServer
import Testing

/// Jobs for Unity Analytics, and for Collect, against a service that answers by the clock of this machine.
@Suite("Unity Analytics by its clock and its answers") struct UnityServiceTests {
  private static let job =
    #"{"name": "u", "destination": "unity", "inputs": {"events": ["in.ndjson"]}, "store": "u.sqlite", "reports": "reports","#
    + #""settings": {"DeltaDNA": {"onFirstRunSendNewPlayerEvent": false, "onStartSendGameStartedEvent": false, "#
    + #""onStartSendClientDeviceEvent": false}}}"#

  private func workspace(_ times: [String]) throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write(
      "in.ndjson",
      times.map { #"{"deviceId":"d","timestamp":"\#($0)","type":"gameEvent","name":"levelUp"}"# }
        .joined(separator: "\n"))
    return workspace
  }

  private static func server(_ status: Int = 204, _ headers: [String] = []) throws -> LoopbackServer {
    try LoopbackServer { connection in
      while connection.readRequest() != nil { connection.answer(status, headers) }
    }
  }

  private static func unity(_ server: LoopbackServer) -> [String: String] {
    [
      "UNITY_COLLECT_URL": "http://127.0.0.1:\(server.port)/v1", "UNITY_PROJECT_ID": "p-1",
      "UNITY_ENVIRONMENT": "production",
    ]
  }

  private static let advice =
    "are too old by this machine's clock: Unity Analytics drops events older than 31 days, silently and regardless of asOf, "
    + "so \"posted\" does not mean that the service keeps them. deltaDNA loaded older data on request; ask Unity's "
    + "support whether Unity Analytics does too (docs/reference/deltadna-service.md, section U5)"

  /// 321 events of years ago were "posted", and nothing said that none of them arrived.
  @Test("What is too old for the service by the clock is named before it is sent, in report, to-do and by verify")
  func legacyLoad() throws {
    let workspace = try workspace(["2025-02-10T00:00:00Z", "2025-02-11T00:00:00Z"])
    let server = try Self.server()
    let run = try workspace.run(
      ["run", "job.json", "--as-of", "2025-02-15T00:00:00Z"], environment: Self.unity(server))
    #expect(run.code == 0, "\(run.messages)")
    let advice = "2 events from 2025-02-10T00:00:00.000Z to 2025-02-11T00:00:00.000Z \(Self.advice)"
    #expect(run.messages.contains("warning: \(advice)\n"), "\(run.messages)")
    #expect(run.messages.contains("To do\n  - \(advice)\n"), "\(run.messages)")
    let report = try #require(try workspace.reports(in: "reports").first)
    #expect(report["toDo"]?.array?.map(\.string) == [advice])
    #expect(report["notes"]?.array?.contains { $0.string == advice } == true)
    let verified = try workspace.run(["verify", "job.json"], environment: Self.unity(server))
    #expect(verified.code == 0, "\(verified.messages)")
    #expect(
      verified.lines.first
        == "Everything sent was acknowledged, but the service may have silently dropped 2 of these items as too old."
    )
    #expect(
      verified.output.contains(
        "2 events from 2025-02-10T00:00:00.000Z to 2025-02-11T00:00:00.000Z were older than 31 days when sent, and Unity Analytics drops "
          + "such events silently: do not rely on them."), "\(verified.output)")
    let again = try workspace.run(
      ["run", "job.json", "--as-of", "2025-02-15T00:00:00Z"], environment: Self.unity(server))
    #expect(!again.messages.contains("too old by this machine's clock"), "\(again.messages)")
  }

  @Test("Of a request with events of both kinds those that are too old are counted, and a sandbox goes by asOf")
  func someAreTooOld() throws {
    let day: Int64 = 86_400_000
    func ago(_ days: Int64) -> Instant { Instant(milliseconds: (Instant.now.milliseconds / 1000) * 1000 - days * day) }
    let old = ago(40)
    let workspace = try workspace([old.rfc3339, ago(25).rfc3339])
    let sandbox = try workspace.run("run", "job.json", "--as-of", ago(20).rfc3339, "--sandbox")
    #expect(sandbox.code == 0 && !sandbox.messages.contains("too old by this machine's clock"), "\(sandbox.messages)")
    let server = try Self.server()
    let run = try workspace.run(
      ["run", "job.json", "--as-of", ago(20).rfc3339], environment: Self.unity(server))
    withExtendedLifetime(server) {}
    #expect(run.code == 0, "\(run.messages)")
    #expect(
      run.messages.contains("warning: 1 event from \(old.rfc3339) is too old by this machine's clock: "),
      "\(run.messages)")
  }

  @Test("Where all are EXPIRED by a true asOf, the run says so and what there is for them")
  func allExpired() throws {
    let workspace = try workspace(["2025-02-10T00:00:00Z", "2025-02-11T00:00:00Z"])
    let server = try Self.server()
    let run = try workspace.run(["run", "job.json"], environment: Self.unity(server))
    #expect(run.code == 0, "\(run.messages)")
    #expect(server.arrivals.isEmpty)
    #expect(
      run.messages.contains(
        "2  EXPIRED: older than Unity Analytics accepts (31 days back and 24 hours ahead, or less if set by "
          + "DeltaDNA.oldestEvent and furthestAhead); ends with no run\n"), "\(run.messages)")
    #expect(
      run.messages.contains(
        "  - 2 events are not sent (EXPIRED): relative to asOf, they are older than Unity Analytics accepts. deltaDNA loaded older data on request; "
          + "ask Unity's support whether Unity Analytics does too (docs/reference/deltadna-service.md, section U5)\n"),
      "\(run.messages)")
    let verified = try workspace.run(["verify", "job.json"], environment: Self.unity(server))
    #expect(verified.code == 0, "\(verified.messages)")
    #expect(verified.output.contains("2 events were not sent, because they are older than Unity Analytics accepts"))
  }

  /// They were said to have come to their end, and the service would refuse them.
  @Test("Events too far ahead wait for their time")
  func ahead() throws {
    let workspace = try workspace(["2026-02-17T00:00:00Z"])
    let run = try workspace.run("run", "job.json", "--as-of", "2026-02-15T00:00:00Z", "--sandbox")
    #expect(run.code == 0, "\(run.messages)")
    #expect(
      run.messages.contains("1  EXPIRED: further ahead than Unity Analytics accepts (31 days back"), "\(run.messages)")
    #expect(run.messages.contains("; ends with a run closer to their timestamps\n"), "\(run.messages)")
    #expect(!run.messages.contains("To do"), "\(run.messages)")
    let verified = try workspace.run("verify", "job.json", "--sandbox")
    #expect(
      verified.output.contains("not counted as missing; will be sent by a run closer to their timestamps"),
      "\(verified.output)\(verified.messages)")
    let later = try workspace.run("post", "job.json", "--as-of", "2026-02-16T12:00:00Z", "--sandbox")
    #expect(later.messages.contains("1 event posted"), "\(later.messages)")
  }

  @Test("A backfill sums up what is too old for the service")
  func backfill() throws {
    let workspace = try workspace(["2025-02-10T00:00:00Z", "2025-02-11T00:00:00Z"])
    let server = try Self.server()
    let run = try workspace.run(
      ["backfill", "job.json", "--from", "2025-02-10T00:00:00Z", "--to", "2025-02-12T00:00:00Z", "--step", "P1D"],
      environment: Self.unity(server))
    #expect(run.code == 0, "\(run.messages)")
    #expect(
      run.messages.contains(
        "warning: 2 events from 2025-02-10T00:00:00.000Z to 2025-02-11T00:00:00.000Z \(Self.advice)\n"),
      "\(run.messages)")
  }

  @Test("Collect's events are named as well, by its own limit")
  func collect() throws {
    let workspace = try workspace(["2025-02-10T00:00:00Z"])
    let server = try CollectServer()
    try workspace.write("job.json", Self.job.replacing("unity", with: "deltadna"))
    let game = try workspace.run(
      ["run", "job.json", "--set", "DeltaDNA.collectURL=\(server.address)", "--as-of", "2025-02-15T00:00:00Z"],
      environment: ["DELTADNA_ENVIRONMENT_KEY": "k"])
    #expect(game.code == 0, "\(game.messages)")
    #expect(
      game.messages.contains(
        "1 event from 2025-02-10T00:00:00.000Z is too old by this machine's clock: Collect drops events older than 32 days"
      ),
      "\(game.messages)")
  }

  /// It said that the credentials are wrong, of which the API takes none.
  @Test(
    "Who is not let in reads which settings are wrong", arguments: [(401, Int32(77)), (403, 77), (404, 78)])
  func settingsOfTheAddress(status: Int, code: Int32) throws {
    let workspace = try workspace(["2025-02-10T00:00:00Z"])
    let server = try Self.server(status)
    let run = try workspace.run(
      ["run", "job.json", "--as-of", "2025-02-15T00:00:00Z"], environment: Self.unity(server))
    #expect(server.arrivals.count == 1)
    #expect(run.code == code, "\(run.messages)")
    let settings = "Unity.projectId, Unity.environment or Unity.collectUrl"
    #expect(run.messages.contains("refused with status \(status): \(settings) is wrong"), "\(run.messages)")
    if status != 404 { #expect(run.messages.contains("Correct \(settings) ("), "\(run.messages)") }
  }

  /// It named Networking.maxNumRetries, which no game reads.
  @Test("A refused event names the setting of games that says how often requests are tried")
  func failed() throws {
    let workspace = try workspace(["2025-02-10T00:00:00Z", "2025-02-11T00:00:00Z"])
    let server = try LoopbackServer { connection in
      while let (_, body) = connection.readRequest() {
        let isBad = String(decoding: body, as: UTF8.self).contains("2025-02-11")
        connection.answer(isBad ? 400 : 204, [], isBad ? "Custom Event Code not recognized" : "")
      }
    }
    let run = try workspace.run(
      ["run", "job.json", "--as-of", "2025-02-15T00:00:00Z"], environment: Self.unity(server))
    #expect(run.code == 0, "\(run.messages)")
    #expect(
      run.messages.contains(
        "FAILED_POST: rejected by the service, or failed repeatedly (DeltaDNA.httpRequestMaxTries)"),
      "\(run.messages)")
  }

  /// It was told a second late, with a second less.
  @Test("A wait that the service asks for is told whole")
  func retryAfter() throws {
    let workspace = try workspace(["2025-02-10T00:00:00Z"])
    let turned = Guarded(false)
    let server = try LoopbackServer { connection in
      while connection.readRequest() != nil {
        let isFirst = turned.withLock { turned in
          defer { turned = true }
          return !turned
        }
        if isFirst { connection.answer(429, ["Retry-After: 3"]) } else { connection.answer(204) }
      }
    }
    let run = try workspace.run(
      ["run", "job.json", "--as-of", "2025-02-15T00:00:00Z"], environment: Self.unity(server))
    #expect(run.code == 0, "\(run.messages)")
    #expect(run.messages.contains("Delivery: answered with status 429; trying again in 3 s\n"), "\(run.messages)")
  }

  @Test("A project or an environment that is no part of a path is refused when the configuration is read")
  func segments() throws {
    let workspace = try workspace([])
    for value in ["..", "a/b", ".", "a b"] {
      let checked = try workspace.run("config", "check", "job.json", "--set", "Unity.projectId=\(value)")
      #expect(checked.code == 78, "\(value): \(checked.messages)")
      #expect((checked.output + checked.messages).contains("one segment of a URL path"), "\(checked.messages)")
    }
    let fine = try workspace.run("config", "check", "job.json", "--set", "Unity.environment=my.env-1")
    #expect(fine.code == 0, "\(fine.messages)")
  }

  /// They ended with 78, because the store of the sandbox belonged to another project.
  @Test("Project and environment that are set later change nothing in the sandbox", arguments: [false, true])
  func sandbox(isSetFirst: Bool) throws {
    let workspace = try workspace(["2026-02-10T00:00:00Z"])
    let ids = ["UNITY_PROJECT_ID": "p-1", "UNITY_ENVIRONMENT": "production"]
    let first = try workspace.run(
      ["run", "job.json", "--sandbox", "--as-of", "2026-02-15T00:00:00Z"], environment: isSetFirst ? ids : [:])
    #expect(first.code == 0, "\(first.messages)")
    for command in ["run", "post", "verify", "doctor"] {
      let target = command == "doctor" ? ["--job", "job.json"] : ["job.json"]
      let finished = try workspace.run([command] + target + ["--sandbox"], environment: isSetFirst ? [:] : ids)
      #expect(finished.code == 0, "\(command): \(finished.output)\(finished.messages)")
    }
  }

  /// It was accepted, and no file came.
  @Test("Decisions of a service that makes none are refused", arguments: ["unity", "engage"])
  func decisions(destination: String) throws {
    let workspace = try workspace(["2025-02-10T00:00:00Z"])
    try workspace.write("job.json", Self.job.replacing("unity", with: destination))
    let run = try workspace.run("run", "job.json", "--sandbox", "--decisions-out", "d.ndjson")
    #expect(run.code == 64, "\(run.messages)")
    #expect(
      run.messages.contains(
        "--decisions-out: error: a job whose destination is '\(destination)' requests no decisions, so there is nothing to write; omit the option"
      ), "\(run.messages)")
    #expect(!workspace.exists("d.ndjson") && !workspace.exists("u.sandbox.sqlite"))
  }
}
