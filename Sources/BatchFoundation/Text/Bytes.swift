public import Glibc

/// Order of two byte strings of equal length: negative, zero or positive as in `memcmp`.
@inlinable
public func compareBytes(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Int {
  unsafe Int(memcmp(one, other, count))
}
