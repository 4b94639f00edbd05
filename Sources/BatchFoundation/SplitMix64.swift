/// A small deterministic generator: equal seeds give equal numbers.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  /// The increment of the state with each number.
  public static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mix(state)
  }

  /// Scrambles one number, as the generator's finalizer does.
  public static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
