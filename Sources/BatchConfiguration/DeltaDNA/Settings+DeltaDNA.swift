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
    package var oldestEvent = Milliseconds.zero
    package var furthestAhead = Milliseconds.zero
    package var sendsNewPlayer = false
    package var sendsGameStarted = false
    package var sendsClientDevice = false
    package var runsAllTriggeredActions = false
    package var sessionTimeout = Milliseconds.zero
    package var engageCacheLifespan = Milliseconds.zero
    package var maxRetries = 0
    package var retryDelay = Milliseconds.zero
    package var collectTimeout = Milliseconds.zero
    package var engageTimeout = Milliseconds.zero
    /// The parameter `sdkVersion` of every event; not empty.
    package var sdkVersion = ""
    package var environment = GameEnvironment.live
    package var onInvalid = InvalidEvents.quarantine
    package var dropsEmpty = false
    /// Whether objects and arrays that `dropsEmpty` leaves empty are dropped too. Not a setting: Unity requires it.
    package var dropsEmptied = false
    package var fillsSessionID = false
    /// The name of the event for deep links; nil for no event.
    package var deepLinkEventName: String?
    /// The path of deltaDNA Engage's saved response to `config`; nil for none.
    package var sessionConfiguration: String?
    package var concurrency = 0

    /// The treatment of events with findings.
    package enum InvalidEvents: String, CaseIterable, Sendable {
      case quarantine, send
    }
  }
}
