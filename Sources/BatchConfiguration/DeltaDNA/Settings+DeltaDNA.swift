package import BatchFoundation

extension Settings {
  package struct DeltaDNA: Sendable, Hashable {
    package var collectURL: String?
    package var engageURL: String?
    package var environmentKey: Secret?
    package var hashSecret: Secret?
    /// The Event Manager's schema for checking events.
    package var eventSchema: String?
    package var clientVersion: String?
    package var platform: String?
    package var maxEventsPerRequest = 0
    package var maxBytesPerRequest = 0
    /// The age at the time of the run beyond which the service refuses events; `furthestAhead` is for future ones.
    package var oldestEvent = Milliseconds.zero
    package var furthestAhead = Milliseconds.zero
    package var sendsNewPlayer = false
    package var sendsGameStarted = false
    package var sendsClientDevice = false
    package var runsAllTriggeredActions = false
    /// Zero never ends a session.
    package var sessionTimeout = Milliseconds.zero
    /// Zero disables the cache.
    package var engageCacheLifespan = Milliseconds.zero
    package var maxRetries = 0
    package var retryDelay = Milliseconds.zero
    package var collectTimeout = Milliseconds.zero
    package var engageTimeout = Milliseconds.zero
    /// The parameter `sdkVersion` of every event; not empty.
    package var sdkVersion = ""
    package var environment = Environment.live
    package var onInvalid = InvalidEvents.quarantine
    /// Whether members with empty text are dropped like those with null.
    package var dropsEmpty = false
    /// Whether emptied members are dropped. Not a setting: services that accept nothing empty require it.
    package var dropsEmptied = false
    /// Whether stored events without a session get the current one.
    package var fillsSessionID = false
    /// The event that links become; nil for none.
    package var deepLinkEventName: String?
    /// A saved answer of Engage to `config`.
    package var sessionConfiguration: String?
    /// The number of concurrent Collect requests.
    package var concurrency = 0

    package enum Environment: String, CaseIterable, Sendable {
      case live = "LIVE"
      case development = "DEV"
    }

    /// The treatment of events with findings.
    package enum InvalidEvents: String, CaseIterable, Sendable {
      case quarantine, send
    }
  }
}
