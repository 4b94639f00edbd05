package import BatchConfiguration
package import BatchFoundation
import BatchPlatform
package import DeltaDNAPlatform

extension Settings {
  /// The settings by which the game's rules decide events for Unity Analytics: those of `DeltaDNA`, within the limits of the service
  /// (reference unity 4).
  package var forUnity: Settings {
    var settings = self
    settings.deltaDNA.oldestEvent = min(deltaDNA.oldestEvent, UnityLimits.oldestEvent)
    settings.deltaDNA.furthestAhead = min(deltaDNA.furthestAhead, UnityLimits.furthestAhead)
    settings.deltaDNA.maxBytesPerRequest = min(deltaDNA.maxBytesPerRequest, UnityLimits.bytesPerRequest)
    settings.deltaDNA.dropsEmpty = true
    settings.deltaDNA.dropsEmptied = true
    // Decisions are a service of deltaDNA; nobody is asked.
    settings.deltaDNA.engageURL = nil
    return settings
  }
}

extension RunContext {
  /// The same run with ``Settings/forUnity``.
  var asGame: RunContext {
    var run = self
    run.settings = settings.forUnity
    return run
  }
}

/// What the service takes, by its documentation (reference unity 4).
///
/// It takes the edges of its time too, where deltaDNA's rules take only what is between them: hence a millisecond more, the resolution of times.
package enum UnityLimits {
  package static let oldestEvent = Milliseconds(31 * 86_400_000 + 1)
  package static let furthestAhead = Milliseconds(24 * 3_600_000 + 1)
  /// Requests have to be smaller than 5 MB.
  package static let bytesPerRequest = 4_999_999

  package static let times = ServiceTimes(
    service: "Unity Analytics", oldest: oldestEvent, "31 days",
    setting: "31 days back and 24 hours ahead, or less by DeltaDNA.oldestEvent and furthestAhead",
    legacy:
      "deltaDNA loaded older data on request; for Unity Analytics ask Unity's support (docs/reference/unity.md, section 5)"
  )
}
