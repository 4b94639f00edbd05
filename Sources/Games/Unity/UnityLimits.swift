package import BatchFoundation

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
