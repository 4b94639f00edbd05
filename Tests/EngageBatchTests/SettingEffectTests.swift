import BatchFoundation
import BatchSandbox
import FoundationEssentials
import TestSupport
import Testing

/// Every setting that does not say that it is without effect changes what a run does: its events, what the service got, its words, its
/// report or its exit code.
@Suite("Settings") struct SettingEffectTests {
  /// How the effect of a setting shows.
  enum Proof: Sendable {
    /// The run differs when the setting has this value; `with` goes for both runs, and both meet the same service.
    case value(String, with: [String] = [], meeting: Weather = .fair)
    /// A run cannot show it, or only with much effort; a test of this name does.
    case test(String)
  }

  enum Weather: String, Sendable {
    case fair
    /// Submissions are turned away twelve times.
    case failing
    /// The service fails at twelve submissions.
    case broken
    /// The chunk with an event of code 95 is turned away for ever.
    case failingForOne
    /// The answer to the first submission is lost.
    case lossy
    /// Submissions are answered after two seconds.
    case slow
  }

  /// Settings for which the value does not follow from the schema.
  private static let proofs: [String: Proof] = [
    "General.eventSchema": .test("anInferredSchemaTakesWhatItCameFrom"),
    "Networking.maxNumRetries": .value("1", with: chunks, meeting: .failingForOne),
    "Networking.retryDelay": .test("aRetryWaitsARandomPartOfASpanThatDoubles"),
    "Networking.maxRetryDelay": .test("aRetryWaitsARandomPartOfASpanThatDoubles"),
    "Networking.retryBudget": .value("1", meeting: .failing),
    "Networking.breakerFailures": .value("1", meeting: .broken),
    "LocationServices.lastKnownLocationDateFormat": .value("yyyy"),
    "LocalEventStore.expireDigestsAfterNumDays": .test("givesUpWhatIsOld"),
    "LocalEventStore.expireDevicesAfterNumDays": .test("givesUpWhatIsOld"),
    "LocalEventStore.expireLocalEventsAfterNumDays": .test("purgesOnlyPostedEventsUpToTheCutoff"),
    "Recipient.mergedDateFormat": .value("yyyy"),
    "Recipient.holdEventsUntilIdentified": .value("true", with: ["--set", "Recipient.maxMergeChain=1"]),
    "Recipient.consentRecords": .test("deniedConsentSendsNothing"),
    "Recipient.maxMergeChain": .value("1"),
    "Recipient.knownToKnown": .value("hold"), "Recipient.onNewUserId": .test("rename"),
    "Recipient.bulkThreshold": .test("decidesTheSameFromAnExport"),
    "Recipient.transferFolder": .test("decidesTheSameFromAnExport"),
    "AuditRecord.mergeHistoryInAuditRecordTable": .value("false"),
    "Connection.baseUrl": .value("http://127.0.0.1:1"),
    "Connection.oauthPath": .value("/other"), "Connection.xmlapiPath": .value("/other"),
    "Connection.eventsPath": .value("/other"), "Connection.eventErrorsPath": .value("/other"),
    "Connection.caFile": .test("anUnknownCertificateIsRefusedAndAKnownOneTaken"),
    "Connection.proxy": .test("aProxyIsToldItsLogin"),
    "Connection.proxyCredentials": .test("aProxyIsToldItsLogin"),
    "Connection.connectTimeout": .test("nothingIsSentWithoutAConnection"),
    "Connection.idleTimeout": .test("aConnectionIsUsedAgainNoLongerThanAllowed"),
    "Connection.totalTimeout": .value("1 second", meeting: .slow),
    "Connection.minimumRate": .test("theMinimumRateEndsASlowAnswer"),
    "Connection.maxResponseBytes": .value("1024"),
    "Connection.tokenRefreshMargin": .test("aTokenWithLittleTimeIsNotAskedForAgainAtOnce"),
    "Upload.maxEventsPerRequest": .value("7"), "Upload.maxBytesPerRequest": .value("3000"),
    "Upload.concurrency": .test("startsAsManyAsMayBeUnderWay"),
    "Upload.patience": .value("0 seconds", meeting: .failing),
    "Upload.patienceAtStart": .value("0 seconds", meeting: .failing),
    "Upload.onUnknown": .value("hold", meeting: .lossy),
    "Upload.maxCallsPerHour": .value("1"), "Upload.maxTokensPerHour": .test("runsShareAnHour"),
    "Ingest.maxLineBytes": .value("120"),
    "Ingest.memoryLimit": .test("neitherMemoryNorStretchesChangeTheEvents"),
    "Ingest.workers": .test("asManyThreadsDecideAsAreAskedFor"),
    "Ingest.quarantineLimit": .test("linesBeyondTheLimitAreCountedAndNotKept"),
    "Ingest.rewind": .test("beyondTheReachALateRecordStandsAlone"),
    "Ingest.lateRecords": .test("keepsLateLinesWithTheirBytesAndTakesThemInOnceTheyAreAllowed"),
    "Augmentation.lookupTables": .value("[]"),
    "Augmentation.command": .value(#"["sh", "-c", "while read -r line; do echo '{\"x\":\"y\"}'; done"]"#),
    "Augmentation.commandTimeout": .test("aProgramThatFailsCostsOneEventItsAttributes"),
    "Augmentation.commandVariables": .test("getsOrdinaryVariablesAndThoseItWasPromised"),
    "Privacy.leaveOut": .test("attributesAreLeftOutMaskedAndHashed"),
    "Privacy.mask": .test("attributesAreLeftOutMaskedAndHashed"),
    "Privacy.hash": .test("attributesAreLeftOutMaskedAndHashed"),
    "Privacy.hashKey": .test("attributesAreLeftOutMaskedAndHashed"),
    "Report.usualRuns": .test("aNightUnlikeThoseBeforeIsToldAndRefusedOnRequest"),
    "Report.usualFactor": .test("aNightUnlikeThoseBeforeIsToldAndRefusedOnRequest"),
    "Report.mode": .test("aGroupReadsThemOnRequest"),
    "Report.alarm": .test("aFailureAndItsEndAreTold"),
    "Report.alarmForm": .test("saysWhatAndWhy"),
    "Report.alarmCommand": .test("aFailureAndItsEndAreTold"),
    "General.eventCodes": .value("acoustic-mobile", with: ["--dry-run"]),
    "DeepLinks.universalLinkDomains": .value("[\"www.shop.example\"]"),
    "Storage.endpoint": .test("equalsFiles"), "Storage.anonymous": .test("anonymous"),
    "Storage.region": .test("followsSettings"), "Storage.pathStyle": .test("followsSettings"),
    "Storage.requesterPays": .test("followsSettings"),
    "Sandbox.recipients": .value("samples/absent.json", with: ["--sandbox"]),
  ]

  /// What these decide shows without a service.
  private static let sectionsOfRules = ["ParamFieldNames.", "UBFFieldNames.", "Session.", "Augmentation."]

  private static let chunks = ["--set", "Upload.maxEventsPerRequest=5"]

  @Test("Each changes something that can be seen") func everySettingHasAnEffect() throws {
    let tests = try Checkout.files(below: "Tests").filter { $0.hasSuffix(".swift") }.map(Checkout.text).joined()
    var without: [String: Outcome] = [:]
    for (name, values) in try Self.settings() {
      let isOfRules = Self.sectionsOfRules.contains { name.hasPrefix($0) }
      switch Self.proofs[name] ?? .value(values, with: isOfRules ? ["--dry-run"] : []) {
      case .test(let title): #expect(tests.contains("func \(title)("), "\(name): there is no test '\(title)'")
      case .value(let value, let with, let weather):
        let key = "\(weather) \(with)"
        let before = try without[key] ?? Self.run(with, weather)
        without[key] = before
        let after = try Self.run(with + ["--set", "\(name)=\(value)"], weather)
        #expect(after != before, "\(name) = \(value) changes nothing")
        #expect(after.code != 64 && !after.words.contains("'\(name)' is '"), "\(name): \(after.words)")
      }
    }
    #expect(try Self.run([], .fair) == without["\(Weather.fair) []"], "the run is not the same twice")
  }

  /// The settings that say nothing of having no effect, with a value that is not the default.
  private static func settings() throws -> [(name: String, value: String)] {
    let schema = try JSONNode.parse(Checkout.bytes("configs/EngageConfig.schema.json"))
    let all = (schema["properties"]?.members ?? []).flatMap { section in
      (section.value["properties"]?.members ?? []).map { (name: "\(section.key).\($0.key)", schema: $0.value) }
    }
    let wanted = all.filter { setting in
      let text = setting.schema["description"]?.string ?? ""
      // The tests of layers hold the other platform's spellings.
      // Those of games need a job of a game (`GameSettingTests`).
      return !text.contains("No effect in a batch run") && !text.hasPrefix("Another spelling of")
        && !setting.name.hasPrefix("DeltaDNA.") && !setting.name.hasPrefix("Unity.")
    }
    return try Vectors.wanted(wanted.map { ($0.name, otherValue($0.schema)) }, "settings")
  }

  private static func otherValue(_ schema: JSONNode) -> String {
    // Beside a variable's place, in which any text may stand.
    let type = schema["anyOf"]?.array?.first ?? schema
    let words = type["enum"]?.array?.compactMap(\.string) ?? []
    if let word = words.last(where: { $0 != schema["default"]?.string }) { return word }
    if let flag = schema["default"]?.bool { return "\(!flag)" }
    if type["type"]?.string == "array" { return "[]" }
    if type["type"]?.string == "integer" { return "1" }
    let isDuration = schema["default"]?.string?.firstMatch(of: /^\d+ [a-z]+$/) != nil
    return isDuration ? "2 seconds" : "other"
  }

  // MARK: - One run

  struct Outcome: Equatable {
    var code: Int32
    var events: String
    var words: String
    var report: String
    /// What reached the service, in an order of its own.
    var requests: [String]
  }

  private static func run(_ arguments: [String], _ weather: Weather) throws -> Outcome {
    let workspace = try Workspace()
    for (name, text) in files { try workspace.write(name, text) }
    let service = try Service(options(weather))
    let finished = try workspace.run(
      ["run", "job.json", "--events-out", "-"] + arguments, environment: service.environment)
    return Outcome(
      code: finished.code, events: finished.output, words: timeless(finished.messages, workspace),
      report: try timeless(workspace.report().map(settingless)?.canonicalText ?? "", workspace),
      requests: service.server.ledger.map { "\($0.method) \($0.path) \($0.bodyDigest ?? "")" }.sortedByBytes)
  }

  /// The report without what it says of the configuration and of time.
  private static func settingless(_ report: JSONNode) -> JSONNode {
    JSONNode(
      .object(
        (report.members ?? []).filter { !["configuration", "startedAt", "stages", "personalData"].contains($0.key) }))
  }

  /// Without what differs from run to run.
  private static func timeless(_ text: String, _ workspace: Workspace) -> String {
    text.replacing(workspace.path, with: "").replacing(/127\.0\.0\.1:\d{2,}/, with: "")
      .replacing(/in \d+\.\d+ s/, with: "").replacing(/\d{8}T\d{6}Z/, with: "")
      .replacing(/"(?:durationS|s)econds": ?[\d.]+/, with: "").replacing(/[0-9a-f]{16}/, with: "")
  }

  private static func options(_ weather: Weather) -> EngageSandboxOptions {
    var options = EngageSandboxOptions()
    let refusal = FaultAction.status(503, headers: [:], body: "")
    switch weather {
    case .fair: break
    case .failing:
      options.server.faults.rules = [FaultRule(endpoint: .events, occurrence: .nth(Set(1...12)), action: refusal)]
    case .broken:
      options.server.faults.rules = [
        FaultRule(endpoint: .events, occurrence: .nth(Set(1...12)), action: .status(500, headers: [:], body: ""))
      ]
    case .failingForOne:
      options.server.hook = { request, point in
        guard request.endpoint == .events, point == .body else { return nil }
        return String(decoding: request.body, as: UTF8.self).contains(#""eventTypeCode":"95""#) ? refusal : nil
      }
    case .lossy:
      options.server.faults.rules = [
        FaultRule(endpoint: .events, occurrence: .nth([1]), point: .applied, action: .close)
      ]
    case .slow:
      options.server.faults.rules = [
        FaultRule(endpoint: .events, occurrence: .nth([1]), action: .delay(milliseconds: 2000))
      ]
    }
    options.organization.recipients = [
      .init(id: 900_000_000_303, values: ["customer_id": "c-known", "Mobile User Id": "W-3"]),
      .init(id: 900_000_000_304, values: ["customer_id": "c-chain", "Merged Recipient Id": "900000000305"]),
      .init(id: 900_000_000_305, values: ["Merged Recipient Id": "900000000306"]),
      .init(id: 900_000_000_306, values: ["Mobile User Id": "W-6"]),
    ]
    return options
  }

  /// The nightly job with a table, routes of which two fit, a link of the web, a shared device, two known customers on one, and a
  /// chain; one call after another, so that the service gives out its ids in one order.
  private static let files = [
    "job.json": """
    {"name": "probe", "configuration": ["configs/EngageConfig.plist"], "identity": true, "asOf": "2026-01-16T00:00:00Z",
     "inputs": {"events": ["samples/events/*.ndjson", "events.ndjson"], "notifications": ["samples/notifications/*"],
                "deepLinks": ["samples/deep-links/*", "links.ndjson"]},
     "deepLinkRoutes": "routes.json", "store": "var/probe.sqlite", "reports": "var/reports",
     "settings": {"Networking": {"retryDelay": "0s", "maxRetryDelay": "0s"},
                  "Upload": {"concurrency": 1},
                  "AuditRecord": {"mergeHistoryInAuditRecordTable": true, "auditRecordListId": "50002"},
                  "Augmentation": {"lookupTables": [{"file": "samples/weather/weather.csv", "keyAttribute": "Location Name",
                                                     "columns": {"Weather": "Current Weather"}}]}}}
    """,
    "routes.json": """
    {"logging": "false", "defaultRoute": {}, "routes": {
      "campaign/:CurrentCampaign": {"handlers": ["postSilverpop"]},
      "two/:any": {"handlers": ["postSilverpop"]}, "two/one": {"handlers": ["postSilverpop"]},
      "product/:product": {"handlers": ["postSilverpop"]}}}
    """,
    "links.ndjson": """
    {"deviceId":"p-1","timestamp":"2026-01-15T09:00:00Z","url":"app://two/one"}
    {"deviceId":"p-1","timestamp":"2026-01-15T09:10:00Z","url":"https://www.shop.example/product/5?utm_source=mail"}
    """,
    "events.ndjson": """
    {"deviceId":"p-2","timestamp":"2026-01-15T09:00:00Z","type":"identify","mobileUserId":"P-2","ids":{"customer_id":"c-first"}}
    {"deviceId":"p-2","timestamp":"2026-01-15T09:00:01Z","type":"identify","ids":{"customer_id":"c-second"}}
    {"deviceId":"p-3","timestamp":"2026-01-15T09:00:00Z","type":"identify","mobileUserId":"P-3","ids":{"customer_id":"c-third"}}
    {"deviceId":"p-3","timestamp":"2026-01-15T09:00:01Z","type":"identify","ids":{"customer_id":"c-known"}}
    {"deviceId":"p-4","timestamp":"2026-01-15T09:00:00Z","type":"identify","mobileUserId":"P-4","ids":{"customer_id":"c-chain"}}
    {"deviceId":"p-4","timestamp":"2026-01-15T09:00:01Z","type":"namedEvent","name":"after"}
    """,
  ]
}
