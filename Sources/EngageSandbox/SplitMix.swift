/// A small generator whose numbers depend on the seed alone, so that a run of the sandbox can be repeated.
struct SplitMix: RandomNumberGenerator, Sendable {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mix(state)
  }

  /// The finaliser alone: a fixed scramble of one number.
  static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number in 0..<1 that belongs to the seed, the rule and the count of its matches, whatever else was drawn before.
  static func unit(seed: UInt64, rule: Int, count: Int) -> Double {
    let number = mix(mix(seed &+ UInt64(rule) &* 0x9E37_79B9_7F4A_7C15) &+ UInt64(count))
    return Double(number >> 11) / Double(1 << 53)
  }
}

/// FNV-1a with 64 bits: what the ledger calls a digest. It tells bodies apart; it protects against nothing.
package struct BodyDigest: Hashable, Sendable {
  package var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package init(_ bytes: some Sequence<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ update(UnsafeRawBufferPointer($0)) }) == nil {
      for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var mixed = value
    for byte in bytes { mixed = (mixed ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    value = mixed
  }

  /// Sixteen lower-case hexadecimal digits.
  package var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
