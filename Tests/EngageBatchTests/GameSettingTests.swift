import BatchFoundation
import TestSupport
import Testing

/// Every setting of games that does not say that it is without effect changes what a run does, as `SettingEffectTests` holds it for others.
@Suite("Settings of games") struct GameSettingTests {
  enum Proof: Sendable {
    /// A dry run differs when the setting has this value; `with` goes for both runs.
    case value(String, with: [String] = [])
    /// It matters to requests only; a test of this name shows it.
    case test(String)
  }

  private static let configured = ["--set", "DeltaDNA.sessionConfiguration=configuration.json"]

  private static let proofs: [String: Proof] = [
    "collectURL": .test("addressesAreBuiltAsTheSDKsBuildThem"),
    "engageURL": .test("aQuestionIsSentWithHashAndConsent"),
    "environmentKey": .test("addressesAreBuiltAsTheSDKsBuildThem"),
    "hashSecret": .test("aBulkRequestHasItsHashItsHeadersAndItsBytes"),
    "eventSchema": .value("schema.json"), "clientVersion": .value("9"), "platform": .value("WEB"),
    "maxEventsPerRequest": .test("`blocks give the lines back`"), "maxBytesPerRequest": .value("256"),
    "oldestEvent": .value("1 hour"), "furthestAhead": .value("1 hour", with: ["--as-of", "2026-01-14T12:00:00Z"]),
    "sdkVersion": .value("other"), "environment": .value("DEV", with: ["--set", "DeltaDNA.eventSchema=schema.json"]),
    "onInvalid": .value("send"), "dropEmpty": .value("true"), "fillSessionID": .value("false"),
    "deepLinkEventName": .value("linkOpened"), "sessionConfiguration": .value("configuration.json"),
    "concurrency": .test("withSeveralRequestsAtOnceOthersGoOn"),
    "onFirstRunSendNewPlayerEvent": .value("false"), "onStartSendClientDeviceEvent": .value("false"),
    "onStartSendGameStartedEvent": .value("false"),
    "httpRequestRetryDelaySeconds": .test("aChunkIsTriedAsOftenAsTheDestinationSays"),
    "httpRequestMaxTries": .test("aRequestIsTriedOnceMoreThanItIsRepeated"),
    "httpRequestCollectTimeoutSeconds": .test("aLostAnswerIsNotAMissingConnection"),
    "httpRequestEngageTimeoutSeconds": .test("aQuestionIsAskedOnceEvenIfNoAnswerComes"),
    "sessionTimeoutSeconds": .value("1000"), "engageCacheExpirySeconds": .test("answersAgeByTheEndOfTheKnownTime"),
    "multipleActionsForEventTriggerEnabled": .value("true", with: configured),
  ]

  @Test("Each changes something that can be seen") func everySettingHasAnEffect() throws {
    let tests = try Checkout.files(below: "Tests").filter { $0.hasSuffix(".swift") }.map(Checkout.text).joined()
    let schema = try JSONNode.parse(Checkout.bytes("configs/EngageConfig.schema.json"))
    let settings = schema["properties"]?["DeltaDNA"]?["properties"]?.members ?? []
    let wanted = settings.filter { setting in
      let text = setting.value["description"]?.string ?? ""
      return !text.contains("No effect in a batch run") && !text.hasPrefix("Another spelling of")
    }
    let workspace = try Workspace()
    for (name, text) in Self.files { try workspace.write(name, text) }
    func run(_ arguments: [String]) throws -> String {
      let finished = try workspace.run(
        ["run", "job.json", "--dry-run", "--events-out", "-", "--summary", "s.json"] + arguments)
      #expect(finished.code == 0, "\(finished.messages)")
      let summary = try workspace.read("s.json").split(separator: "\"durationSeconds\"").map(String.init)
      return finished.output + (summary.first ?? "") + (summary.last.map { String($0.drop { $0 != "," }) } ?? "")
    }
    for setting in try Vectors.wanted(wanted.map(\.key), "settings of games") {
      switch Self.proofs[setting] {
      case nil: Issue.record("\(setting): no proof of its effect")
      case .test(let title): #expect(tests.contains("func \(title)("), "\(setting): there is no test '\(title)'")
      case .value(let value, let with):
        #expect(try run(with) != run(with + ["--set", "DeltaDNA.\(setting)=\(value)"]), "\(setting) = \(value)")
      }
    }
  }

  private static let files = [
    "job.json": """
    {"name": "game", "destination": "deltadna", "inputs": {"events": ["game.ndjson"]}, "asOf": "2026-01-16T00:00:00Z"}
    """,
    "game.ndjson": """
    {"deviceId":"g","timestamp":"2026-01-15T09:00:00Z","type":"gameEvent","name":"first","params":{"count":1}}
    {"deviceId":"g","timestamp":"2026-01-15T09:00:01Z","type":"gameEvent","name":"first","params":{"text":""}}
    {"deviceId":"g","timestamp":"2026-01-15T09:08:00Z","type":"gameEvent","name":"second"}
    {"deviceId":"g","timestamp":"2026-01-15T09:08:01Z","type":"deepLink","url":"app://shop"}
    {"eventName":"first","userID":"s","eventTimestamp":"2026-01-15 09:00:00","eventParams":{}}
    """,
    "schema.json": """
    {"events": [{"name": "first", "published": false, "parameters": [{"name": "count", "type": "INTEGER"}]}]}
    """,
    "configuration.json": """
    {"parameters": {"triggers": [
      {"eventName": "first", "campaignID": 1, "variantID": 1, "response": {"parameters": {}}},
      {"eventName": "first", "campaignID": 2, "variantID": 2, "response": {"parameters": {}}}]}}
    """,
  ]
}
