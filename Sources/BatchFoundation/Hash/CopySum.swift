/// A 16-byte checksum that shows whether a copy differs from its original (reference formats 5.3). Like ``LineDigest``
/// it guards against accidents, not attackers, and it takes a sixth of the time of SHA-256. The function must never
/// change, because archived folders contain its sums, and other kinds of machines must compute the same ones.
package struct CopySum: HashFunction {
  /// The number of bytes mixed per step: two words for the first two lanes and two for the rest.
  private static let stripe = 32

  private var lanes = (ByteMix.s0, ByteMix.s2, ByteMix.s1, ByteMix.s3)
  /// The bytes of an incomplete stripe, padded with zeros.
  private var rest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  private var count: UInt64 = 0

  package init() {}

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    let held = Int(count % UInt64(Self.stripe))
    count &+= UInt64(bytes.count)
    var bytes = unsafe bytes
    if held > 0 {
      let taken = min(bytes.count, Self.stripe - held)
      unsafe hold(bytes[..<taken], after: held)
      guard held + taken == Self.stripe else { return }
      mixRest()
      unsafe bytes = UnsafeRawBufferPointer(rebasing: bytes[taken...])
    }
    let whole = bytes.count / Self.stripe * Self.stripe
    if let base = bytes.baseAddress { unsafe mix(base, whole) }
    unsafe hold(bytes[whole...], after: 0)
  }

  package consuming func finalize() -> Digest {
    if count % UInt64(Self.stripe) > 0 { mixRest() }
    let words = (
      Self.join(lanes.0, lanes.2, count, ByteMix.s2, ByteMix.s1),
      Self.join(lanes.1, lanes.3, count, ByteMix.s0, ByteMix.s3)
    )
    return unsafe Digest(count: 16) { target in
      guard let target = UnsafeMutableRawPointer(target) else { return }
      unsafe target.storeBytes(of: words.0.bigEndian, as: UInt64.self)
      unsafe target.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
  }

  private static func join(_ one: UInt64, _ other: UInt64, _ count: UInt64, _ a: UInt64, _ b: UInt64) -> UInt64 {
    ByteMix.fold(one ^ a ^ count, ByteMix.fold(other ^ b, one ^ a) ^ other)
  }

  private mutating func hold(_ bytes: Slice<UnsafeRawBufferPointer>, after held: Int) {
    unsafe withUnsafeMutableBytes(of: &rest) { rest in
      unsafe UnsafeMutableRawBufferPointer(rebasing: rest[held...]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: bytes))
    }
  }

  private mutating func mixRest() {
    unsafe withUnsafeBytes(of: rest) { if let base = $0.baseAddress { unsafe mix(base, Self.stripe) } }
    rest = (0, 0, 0, 0)
  }

  /// - Parameter count: the number of bytes, a multiple of the stripe.
  private mutating func mix(_ base: UnsafeRawPointer, _ count: Int) {
    let bytes = unsafe base.assumingMemoryBound(to: UInt8.self)
    var (one, two, three, four) = lanes
    var at = 0
    while at < count {
      let words = unsafe (ByteMix.word(bytes, at), ByteMix.word(bytes, at + 8))
      let others = unsafe (ByteMix.word(bytes, at + 16), ByteMix.word(bytes, at + 24))
      // Adding the old value carries it into the new one for any input.
      one = (ByteMix.fold(words.0 ^ ByteMix.s1, words.1 ^ one) ^ words.0) &+ one
      two = (ByteMix.fold(words.0 ^ two, words.1 ^ ByteMix.s3) ^ words.1) &+ two
      three = (ByteMix.fold(others.0 ^ ByteMix.s1, others.1 ^ three) ^ others.0) &+ three
      four = (ByteMix.fold(others.0 ^ four, others.1 ^ ByteMix.s3) ^ others.1) &+ four
      at += Self.stripe
    }
    lanes = (one, two, three, four)
  }
}
