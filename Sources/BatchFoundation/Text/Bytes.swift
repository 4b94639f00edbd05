public import Glibc

/// Compares two byte strings of equal length: negative, zero or positive as in `memcmp`.
@inlinable
public func compareBytes(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Int {
  unsafe Int(memcmp(one, other, count))
}

/// Compares two byte strings of equal length. Most texts are short: two overlapping loads cost less than a call.
@inlinable @inline(__always)
public func equalBytes(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
  let (one, other) = unsafe (UnsafeRawPointer(one), UnsafeRawPointer(other))
  switch count {
  case 33...: return unsafe memcmp(one, other, count) == 0
  case 17...:
    func word(_ at: Int) -> UInt64 {
      unsafe one.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        ^ other.loadUnaligned(fromByteOffset: at, as: UInt64.self)
    }
    return word(0) | word(8) | word(count - 16) | word(count - 8) == 0
  case 8...:
    let first = unsafe one.loadUnaligned(as: UInt64.self) ^ other.loadUnaligned(as: UInt64.self)
    let last =
      unsafe (one + count - 8).loadUnaligned(as: UInt64.self) ^ (other + count - 8).loadUnaligned(as: UInt64.self)
    return first | last == 0
  case 4...:
    let first = unsafe one.loadUnaligned(as: UInt32.self) ^ other.loadUnaligned(as: UInt32.self)
    let last =
      unsafe (one + count - 4).loadUnaligned(as: UInt32.self) ^ (other + count - 4).loadUnaligned(as: UInt32.self)
    return first | last == 0
  case 1...:
    func byte(_ raw: UnsafeRawPointer, _ at: Int) -> UInt8 { unsafe raw.load(fromByteOffset: at, as: UInt8.self) }
    return unsafe byte(one, 0) == byte(other, 0) && byte(one, count / 2) == byte(other, count / 2)
      && byte(one, count - 1) == byte(other, count - 1)
  default: return true
  }
}

/// Copies bytes that do not overlap. Most texts are short: two overlapping words cost less than a call.
@inlinable @inline(__always)
public func copyBytes(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int) {
  switch count {
  case 33...: unsafe target.copyMemory(from: source, byteCount: count)
  case 17...:
    let first = unsafe source.loadUnaligned(as: SIMD16<UInt8>.self)
    let last = unsafe source.loadUnaligned(fromByteOffset: count - 16, as: SIMD16<UInt8>.self)
    unsafe target.storeBytes(of: first, as: SIMD16<UInt8>.self)
    unsafe target.storeBytes(of: last, toByteOffset: count - 16, as: SIMD16<UInt8>.self)
  case 8...:
    let first = unsafe source.loadUnaligned(as: UInt64.self)
    let last = unsafe source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    unsafe target.storeBytes(of: first, as: UInt64.self)
    unsafe target.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
  case 4...:
    let first = unsafe source.loadUnaligned(as: UInt32.self)
    let last = unsafe source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
    unsafe target.storeBytes(of: first, as: UInt32.self)
    unsafe target.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
  case 1...:
    let bytes = unsafe (
      source.load(as: UInt8.self), source.load(fromByteOffset: count / 2, as: UInt8.self),
      source.load(fromByteOffset: count - 1, as: UInt8.self)
    )
    unsafe target.storeBytes(of: bytes.0, as: UInt8.self)
    unsafe target.storeBytes(of: bytes.1, toByteOffset: count / 2, as: UInt8.self)
    unsafe target.storeBytes(of: bytes.2, toByteOffset: count - 1, as: UInt8.self)
  default: break
  }
}
