/// The pauses before a request is repeated: a random part of a span that doubles with each repetition ("full jitter"), so that
/// callers that failed together do not come back together (`Networking.retryDelay`, `Networking.maxRetryDelay`).
public struct Backoff: Sendable, Equatable {
  /// The span before the first repetition.
  public var first: Milliseconds
  /// The span grows no further than this.
  public var longest: Milliseconds

  public init(first: Milliseconds, longest: Milliseconds) {
    self.first = first
    self.longest = longest
  }

  /// - Parameters:
  ///   - repetition: counted from 1.
  ///   - random: where the pause's chance comes from.
  public func pause(before repetition: Int, using random: inout some RandomNumberGenerator) -> Milliseconds {
    let doubled = first.count.multipliedReportingOverflow(by: 1 << Int64(min(max(repetition, 1) - 1, 20)))
    let span = max(0, doubled.overflow ? longest.count : min(doubled.partialValue, longest.count))
    return Milliseconds(Int64.random(in: 0...span, using: &random))
  }

  /// The pause before a service is asked whether it takes requests again: as before any repetition, but never less than a second. Whoever is out
  /// is not asked more often, so that a wait of minutes does not spend the budget of repetitions in seconds.
  public func pauseInOutage(before repetition: Int, using random: inout some RandomNumberGenerator) -> Milliseconds {
    max(pause(before: repetition, using: &random), Milliseconds(1000))
  }
}
