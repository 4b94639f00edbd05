/// A 128-bit digest of an input line, used to find duplicates within a run and across runs.
///
/// It guards against accidental collisions, not against an attacker. It consists of two independent multiply-and-fold
/// lanes with fixed seeds, which never change and are the same on every machine, because stores contain digests. Among
/// 10^12 lines the odds of one false match are about 1 in 10^15.
public struct LineDigest: Hashable, Comparable, Sendable {
  public var high: UInt64
  public var low: UInt64

  @inlinable
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// - Parameter line: the line's bytes, without white space at either end.
  /// - Parameter kind: equal lines of different input kinds are different records (reference formats 3.8).
  @inlinable
  public init(line: Text, kind: InputKind) {
    (high, low) = ByteMix.twoLanes(line, seed: UInt64(kind.rawValue) &+ 1)
  }

  @inlinable
  public static func < (one: LineDigest, other: LineDigest) -> Bool {
    one.high != other.high ? one.high < other.high : one.low < other.low
  }
}

/// A 64-bit hash of a device id that never changes. Its top byte is the device's bucket, in memory and in the store.
public struct DeviceHash: Hashable, Sendable {
  public var value: UInt64

  @inlinable
  public init(_ device: Text) { value = ByteMix.oneLane(device) }

  /// The bucket, 0 to 255.
  @inlinable
  public var bucket: Int { Int(value >> 56) }

  public static let bucketCount = 256
}

/// The mixing steps of ``LineDigest`` and ``DeviceHash``. They must never change, because stores depend on the results.
public enum ByteMix {
  @inlinable public static var s0: UInt64 { 0xA076_1D64_78BD_642F }
  @inlinable public static var s1: UInt64 { 0xE703_7ED1_A0B4_28DB }
  @inlinable public static var s2: UInt64 { 0x8EBC_6AF0_9C88_C6E3 }
  @inlinable public static var s3: UInt64 { 0x5899_65CC_7537_4CC3 }

  /// Returns the 128-bit product folded to 64 bits.
  @inlinable @inline(__always)
  public static func fold(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let product = one.multipliedFullWidth(by: other)
    return product.high ^ product.low
  }

  @inlinable @inline(__always)
  public static func word(_ base: UnsafePointer<UInt8>, _ at: Int) -> UInt64 {
    unsafe UInt64(littleEndian: UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self))
  }

  /// Returns the last sixteen bytes as two words. If the text is shorter, the words overlap; if it has fewer than eight
  /// bytes, the second word is 0.
  @inlinable @inline(__always)
  public static func tail(_ text: Text) -> (UInt64, UInt64) {
    if text.count >= 16 { return unsafe (word(text.base, text.count - 16), word(text.base, text.count - 8)) }
    if text.count >= 8 { return unsafe (word(text.base, 0), word(text.base, text.count - 8)) }
    var packed: UInt64 = 0
    var index = 0
    while index < text.count {
      packed = packed << 8 | UInt64(text[index])
      index += 1
    }
    return (packed, 0)
  }

  @inlinable
  public static func oneLane(_ text: Text) -> UInt64 {
    var state = s0
    var at = 0
    while at + 16 < text.count {
      let first = unsafe word(text.base, at)
      state = unsafe fold(first ^ s1, word(text.base, at + 8) ^ state) ^ first
      at += 16
    }
    let last = tail(text)
    return fold(s2 ^ UInt64(text.count), fold(last.0 ^ s1, last.1 ^ state) ^ last.0)
  }

  @inlinable
  public static func twoLanes(_ text: Text, seed: UInt64) -> (UInt64, UInt64) {
    var one = s0 ^ seed &* s3
    var two = s2 ^ seed &* s1
    var at = 0
    while at + 16 < text.count {
      let first = unsafe word(text.base, at)
      let second = unsafe word(text.base, at + 8)
      one = fold(first ^ s1, second ^ one) ^ first
      two = fold(first ^ two, second ^ s3) ^ second
      at += 16
    }
    let last = tail(text)
    let length = UInt64(text.count)
    return (
      fold(s2 ^ length, fold(last.0 ^ s1, last.1 ^ one) ^ last.0),
      fold(s0 ^ length, fold(last.0 ^ two, last.1 ^ s3) ^ last.1)
    )
  }
}
