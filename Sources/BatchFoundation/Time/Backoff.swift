/// The pauses before retries. Each is a random part of a span that doubles each time ("full jitter"), so that callers
/// that failed together do not retry together (`Networking.retryDelay`, `Networking.maxRetryDelay`).
public struct Backoff: Sendable, Equatable {
  public var first: Milliseconds
  /// The upper limit of the span.
  public var longest: Milliseconds

  public init(first: Milliseconds, longest: Milliseconds) {
    self.first = first
    self.longest = longest
  }

  /// - Parameter repetition: counted from 1.
  public func pause(before repetition: Int, using random: inout some RandomNumberGenerator) -> Milliseconds {
    let doubled = first.count.multipliedReportingOverflow(by: 1 << Int64(min(max(repetition, 1) - 1, 20)))
    let span = max(0, doubled.overflow ? longest.count : min(doubled.partialValue, longest.count))
    return Milliseconds(Int64.random(in: 0...span, using: &random))
  }

  /// Returns the pause before checking whether a service is available again. It is at least a second, so that an outage
  /// of minutes does not use up the repetitions within seconds.
  public func pauseInOutage(before repetition: Int, using random: inout some RandomNumberGenerator) -> Milliseconds {
    max(pause(before: repetition, using: &random), Milliseconds(1000))
  }
}

/// A small deterministic generator: equal seeds give equal numbers.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  /// The increment of the state for each number.
  public static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mix(state)
  }

  /// Scrambles a number with the generator's finalizer.
  public static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
