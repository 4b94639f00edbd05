import BatchFoundation

/// The settings of the deltaDNA destination (reference deltadna-service 5.6). The defaults are the documented ones;
/// `configs/DeltaDNA-5.0.2.json` has those in the SDKs' code.
extension SettingsSchema {
  static let deltaDNARows = rows(
    .deltaDNA,
    .optionalText(
      "collectURL", .bareEndpoint, \.deltaDNA.collectURL, aka: ["collectUrl"],
      "Collect endpoint, such as `https://collect0000example.deltadna.net/collect/api`."
    ).from("DELTADNA_COLLECT_URL"),
    .optionalText(
      "engageURL", .bareEndpoint, \.deltaDNA.engageURL, aka: ["engageUrl"],
      "Engage endpoint."
    ).from("DELTADNA_ENGAGE_URL"),
    .secret(
      "environmentKey", \.deltaDNA.environmentKey, "Environment key."
    ).from("DELTADNA_ENVIRONMENT_KEY"),
    .secret(
      "hashSecret", \.deltaDNA.hashSecret,
      "Secret for request hashes; without it, requests have no hash."
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
      "Maximum size of a bulk request; the service refuses requests of more than 5 MB."),
    .duration(
      "oldestEvent", "32 days", \.deltaDNA.oldestEvent,
      "Age beyond which events are not sent (`EXPIRED`), because the service would drop them on arrival."),
    .duration(
      "furthestAhead", "48 hours", \.deltaDNA.furthestAhead,
      "How far in the future an event's time may be; later events are not sent (`EXPIRED`), because the service would drop them on arrival."
    ),
    .text(
      "sdkVersion", "engage-batch", .name, \.deltaDNA.sdkVersion,
      "Value of the parameter `sdkVersion` in every event."),
    .choice(
      "environment", GameEnvironment.live, \.deltaDNA.environment,
      "Environment for which events are checked against the schema; `DEV` also allows unpublished events."),
    .choice(
      "onInvalid", Settings.DeltaDNA.InvalidEvents.quarantine, \.deltaDNA.onInvalid,
      "Handling of events with findings: `quarantine` sets them aside, `send` sends them anyway."),
    .flag(
      "dropEmpty", false, \.deltaDNA.dropsEmpty,
      "Whether members with an empty string are dropped like those with null."),
    .flag(
      "fillSessionID", true, \.deltaDNA.fillsSessionID,
      "Whether a stored event without `sessionID` gets the id of its session."),
    .optionalText(
      "deepLinkEventName", .any, \.deltaDNA.deepLinkEventName,
      "Name of the event, with the parameter `url`, that is recorded for a deep link; if empty, links are ignored."),
    .optionalText(
      "sessionConfiguration", .file, \.deltaDNA.sessionConfiguration,
      "File with Engage's response for the decision point `config`: whitelists and triggers."),
    .number(
      "concurrency", 1, in: 1...8, unit: "requests", \.deltaDNA.concurrency,
      "Maximum number of concurrent requests; with 1, each is sent after the response to the previous one."),
    .flag(
      "onFirstRunSendNewPlayerEvent", true, \.deltaDNA.sendsNewPlayer,
      "Whether the first event of a new player is preceded by `newPlayer`."),
    .flag(
      "onStartSendClientDeviceEvent", true, \.deltaDNA.sendsClientDevice, aka: ["onInitSendClientDeviceEvent"],
      "Whether `clientDevice` is sent at each start."),
    .flag(
      "onStartSendGameStartedEvent", true, \.deltaDNA.sendsGameStarted, aka: ["onInitSendGameStartedEvent"],
      "Whether `gameStarted` is sent at each start."),
    .seconds("httpRequestRetryDelaySeconds", 2, \.deltaDNA.retryDelay, "Pause before a request is retried."),
    .number(
      "httpRequestMaxTries", 5, in: 0...1000, unit: "retries", \.deltaDNA.maxRetries, aka: ["httpRequestMaxRetries"],
      "Maximum number of retries of a request."),
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
      "Pause before the first retry of the configuration request; the pause doubles with each retry."),
    .unused(
      "httpRequestConfigMaxRetries", 5, .integer(0...1000), unit: "retries",
      "Maximum number of retries of the configuration request."),
    .seconds(
      "sessionTimeoutSeconds", 300, \.deltaDNA.sessionTimeout,
      "Time in the background after which a player's session ends; with 0, sessions never end."),
    .seconds(
      "engageCacheExpirySeconds", 43_200, \.deltaDNA.engageCacheLifespan,
      "How long a cached Engage answer may be used when a request fails; 0 disables the cache."),
    .flag(
      "multipleActionsForEventTriggerEnabled", false, \.deltaDNA.runsAllTriggeredActions,
      "Whether an event runs all campaigns that it triggers, or only the first one."),
    .unused(
      "automaticallyGenerateTransactionForAudiencePinpointer", true, .boolean,
      "Whether a purchase signal also records a `transaction`."),
    .unused("backgroundEventUpload", true, .boolean, "Whether a phone uploads on a timer."),
    .unused(
      "backgroundEventUploadStartDelaySeconds", 0, .integer(0...31_536_000), unit: "seconds",
      "Delay before a phone's upload timer starts."),
    .unused(
      "backgroundEventUploadRepeatRateSeconds", 60, .integer(0...31_536_000), unit: "seconds",
      "Interval of a phone's upload timer."),
    .unused("useEventStore", true, .boolean, "Whether a phone keeps events in a file."),
    .unused("debugMode", false, .boolean, "Whether a phone writes a debug log."))
}
