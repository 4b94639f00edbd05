import BatchFoundation

/// The settings of the deltaDNA destination (reference deltadna-service 5.6). The defaults are the documented ones;
/// `configs/DeltaDNA-5.0.2.json` has those of the SDKs' code.
extension SettingsSchema {
  static let deltaDNARows: [Setting] = rows(
    .deltaDNA,
    [
      .optionalText(
        "collectURL", .bareEndpoint, \.deltaDNA.collectURL, aka: ["collectUrl"],
        "Collect endpoint, such as `https://collect0000example.deltadna.net/collect/api`."
      ).from("DELTADNA_COLLECT_URL"),
      .optionalText(
        "engageURL", .bareEndpoint, \.deltaDNA.engageURL, aka: ["engageUrl"],
        "Engage endpoint."
      ).from("DELTADNA_ENGAGE_URL"),
      .secret(
        "environmentKey", \.deltaDNA.environmentKey, "Key of the environment."
      ).from("DELTADNA_ENVIRONMENT_KEY"),
      .secret(
        "hashSecret", \.deltaDNA.hashSecret,
        "Secret for the hashes of requests; without it, requests carry none."
      ).from("DELTADNA_HASH_SECRET"),
      .optionalText(
        "eventSchema", .file, \.deltaDNA.eventSchema,
        "Event schema against which events are checked before they are sent."),
      .optionalText("clientVersion", .any, \.deltaDNA.clientVersion, "Version of the game, for `gameStarted`."),
      .optionalText(
        "platform", .any, \.deltaDNA.platform,
        "Platform of events whose device does not name one, such as `IOS` or `ANDROID`."),
      .number(
        "maxEventsPerRequest", 200, in: 1...10_000, unit: "events", \.deltaDNA.maxEventsPerRequest,
        "Maximum number of events in a bulk request."),
      .bytes(
        "maxBytesPerRequest", 1 << 20, in: 1...5_000_000, \.deltaDNA.maxBytesPerRequest,
        "Maximum size of a bulk request; the service refuses 5 MB."),
      .duration(
        "oldestEvent", "32 days", \.deltaDNA.oldestEvent, "Age beyond which the service drops events on arrival."),
      .duration(
        "furthestAhead", "48 hours", \.deltaDNA.furthestAhead,
        "Time in the future beyond which the service drops events on arrival."),
      .text(
        "sdkVersion", "engage-batch", .name, \.deltaDNA.sdkVersion, "Parameter `sdkVersion` of every event."),
      .choice(
        "environment", Settings.DeltaDNA.Environment.live, \.deltaDNA.environment,
        "Environment whose events of the schema are allowed: with `DEV`, unpublished ones too."),
      .choice(
        "onInvalid", Settings.DeltaDNA.InvalidEvents.quarantine, \.deltaDNA.onInvalid,
        "What happens to an event with findings: `quarantine` holds it back, `send` sends it anyway."),
      .flag(
        "dropEmpty", false, \.deltaDNA.dropsEmpty,
        "Whether members with an empty string are dropped like those with null."),
      .flag(
        "fillSessionID", true, \.deltaDNA.fillsSessionID,
        "Whether a stored event without `sessionID` gets that of the session."),
      .optionalText(
        "deepLinkEventName", .any, \.deltaDNA.deepLinkEventName,
        "Name of the event that a deep link becomes, with the parameter `url`; without it, links are ignored."),
      .optionalText(
        "sessionConfiguration", .file, \.deltaDNA.sessionConfiguration,
        "Saved answer of Engage to the decision point `config`: whitelists and triggers."),
      .number(
        "concurrency", 1, in: 1...8, unit: "requests", \.deltaDNA.concurrency,
        "Maximum number of concurrent requests; with 1, each is sent after the answer to the previous one."),
      .flag(
        "onFirstRunSendNewPlayerEvent", true, \.deltaDNA.sendsNewPlayer,
        "Whether the first event of a new player is preceded by `newPlayer`."),
      .flag(
        "onStartSendClientDeviceEvent", true, \.deltaDNA.sendsClientDevice, aka: ["onInitSendClientDeviceEvent"],
        "Whether a start sends `clientDevice`."),
      .flag(
        "onStartSendGameStartedEvent", true, \.deltaDNA.sendsGameStarted, aka: ["onInitSendGameStartedEvent"],
        "Whether a start sends `gameStarted`."),
      .seconds("httpRequestRetryDelaySeconds", 2, \.deltaDNA.retryDelay, "Pause before a request is repeated."),
      .number(
        "httpRequestMaxTries", 5, in: 0...1000, unit: "requests", \.deltaDNA.maxRetries, aka: ["httpRequestMaxRetries"],
        "Maximum number of repetitions of a request."),
      .seconds(
        "httpRequestCollectTimeoutSeconds", 20, \.deltaDNA.collectTimeout, aka: ["httpRequestTimeoutSeconds"],
        "Timeout of a Collect request."),
      .seconds(
        "httpRequestEngageTimeoutSeconds", 5, \.deltaDNA.engageTimeout, "Timeout of an Engage request."),
      .unused(
        "httpRequestConfigTimeout", 30, .integer(0...31_536_000), unit: "seconds",
        "Timeout of the session configuration request."),
      .unused(
        "httpRequestConfigRetryDelayFactor", 5, .integer(0...31_536_000), unit: "seconds",
        "First pause before the configuration request is repeated; it doubles each time."),
      .unused(
        "httpRequestConfigMaxRetries", 5, .integer(0...1000), unit: "requests",
        "Maximum number of repetitions of the configuration request."),
      .seconds(
        "sessionTimeoutSeconds", 300, \.deltaDNA.sessionTimeout,
        "Background time after which a player's session ends; 0 never ends one."),
      .seconds(
        "engageCacheExpirySeconds", 43_200, \.deltaDNA.engageCacheLifespan,
        "How long an Engage answer may replace one that failed; 0 disables the cache."),
      .flag(
        "multipleActionsForEventTriggerEnabled", false, \.deltaDNA.runsAllTriggeredActions,
        "Whether all campaigns that an event triggers act, or only the first."),
      .unused(
        "automaticallyGenerateTransactionForAudiencePinpointer", true, .boolean,
        "Whether a purchase signal also records a `transaction`."),
      .unused("backgroundEventUpload", true, .boolean, "Whether a phone uploads by a timer."),
      .unused(
        "backgroundEventUploadStartDelaySeconds", 0, .integer(0...31_536_000), unit: "seconds",
        "When a phone's timer starts."),
      .unused(
        "backgroundEventUploadRepeatRateSeconds", 60, .integer(0...31_536_000), unit: "seconds",
        "How often a phone's timer fires."),
      .unused("useEventStore", true, .boolean, "Whether a phone keeps events in a file."),
      .unused("debugMode", false, .boolean, "Whether a phone logs what it does."),
    ]
  )
}
