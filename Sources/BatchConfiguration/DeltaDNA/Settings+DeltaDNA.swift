package import BatchFoundation

extension Settings {
  /// What a job for deltaDNA is told.
  package struct DeltaDNA: Sendable, Hashable {
    package var collectURL: String?
    package var engageURL: String?
    package var environmentKey: Secret?
    package var hashSecret: Secret?
    /// The Event Manager's schema that events are checked against.
    package var eventSchema: String?
    package var clientVersion: String?
    package var platform: String?
    package var maxEventsPerRequest = 0
    package var maxBytesPerRequest = 0
    /// Events older than this at the time of the run, or further ahead, are refused by the service.
    package var oldestEvent = Milliseconds.zero
    package var furthestAhead = Milliseconds.zero
    package var sendsNewPlayer = false
    package var sendsGameStarted = false
    package var sendsClientDevice = false
    package var generatesPinpointerTransactions = false
    package var runsAllTriggeredActions = false
    /// Zero never ends a session.
    package var sessionTimeout = Milliseconds.zero
    /// Zero switches the cache off.
    package var engageCacheLifespan = Milliseconds.zero
    package var maxRetries = 0
    package var retryDelay = Milliseconds.zero
    package var collectTimeout = Milliseconds.zero
    package var engageTimeout = Milliseconds.zero
    package var configTimeout = Milliseconds.zero
    package var configRetryDelayFactor = Milliseconds.zero
    package var configMaxRetries = 0
    /// Parameter of every event; not empty.
    package var sdkVersion = ""
    package var environment = Environment.live
    package var onInvalid = InvalidEvents.quarantine
    /// Members with empty text are dropped like those with null.
    package var dropsEmpty = false
    /// No setting: services that take nothing empty ask for it.
    package var dropsEmptied = false
    /// Stored events without session get the one at hand.
    package var fillsSessionID = false
    /// The event that a link becomes; nil for none.
    package var deepLinkEventName: String?
    /// A saved answer of Engage to `config`.
    package var sessionConfiguration: String?
    /// Requests of Collect under way at once.
    package var concurrency = 0

    package enum Environment: String, CaseIterable, Sendable {
      case live = "LIVE"
      case development = "DEV"
    }

    /// What becomes of an event with findings.
    package enum InvalidEvents: String, CaseIterable, Sendable {
      case quarantine, send
    }
  }
}
