package import BatchFoundation

extension Settings {
  package struct DeltaDNA: Sendable, Hashable {
    package var collectURL: String?
    package var engageURL: String?
    package var environmentKey: Secret?
    package var hashSecret: Secret?
    /// The path of the Event Manager's schema, against which events are validated; nil to skip validation.
    package var eventSchema: String?
    package var clientVersion: String?
    package var platform: String?
    package var maxEventsPerRequest = 0
    package var maxBytesPerRequest = 0
    /// The age, at the time of the run, beyond which the service refuses events; `furthestAhead` is the limit for
    /// future events.
    package var oldestEvent = Milliseconds.zero
    package var furthestAhead = Milliseconds.zero
    package var sendsNewPlayer = false
    package var sendsGameStarted = false
    package var sendsClientDevice = false
    package var runsAllTriggeredActions = false
    /// The period of inactivity that ends a session; zero for none.
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
    /// Whether members with an empty string are dropped, like those with null.
    package var dropsEmpty = false
    /// Whether objects and arrays that this leaves empty are dropped too. Not a setting: Unity requires it.
    package var dropsEmptied = false
    /// Whether stored events without a session get the current session or a new one.
    package var fillsSessionID = false
    /// The name of the event for deep links; nil for no event.
    package var deepLinkEventName: String?
    /// The path of Engage's saved response to `config`; nil for none.
    package var sessionConfiguration: String?
    /// The maximum number of concurrent Collect requests.
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
