package import BatchFoundation

/// A block ends or counts otherwise than its numbers say; readers tell it as ``StoreError/damagedBlock``.
package struct BlockDamage: Error {
  @inlinable package init() {}
}

/// Reads the numbers and the strings of a block one after the other.
///
/// Numbers are variable-length, as `ByteBuffer.append(varint:)` writes them; those of known things count from 1, and 0 announces a
/// new one. Every number is checked against what the block has, so a damaged block ends as an error and never as a wild read.
package struct BlockCursor: ~Copyable {
  @usableFromInline var source: ByteBuffer
  @usableFromInline var at = 0
  /// The strings that were met so far, in memory that may be read some bytes beyond their end and lives as long as the cursor.
  package private(set) var strings: [Text] = []

  package init(_ block: UnsafeBufferPointer<UInt8>) {
    source = ByteBuffer(capacity: block.count)
    unsafe source.append(block)
  }

  /// Bytes of the block.
  package var count: Int { source.count }

  /// Bytes that were not read yet.
  @inlinable package var remaining: Int { source.count - at }

  /// Makes room for strings, so that the list need not grow.
  package mutating func reserveStrings(_ count: Int) { strings.reserveCapacity(count) }

  package mutating func byte() throws(BlockDamage) -> UInt8 {
    guard at < source.count else { throw BlockDamage() }
    defer { at += 1 }
    return unsafe source.base[at]
  }

  /// Eight bytes, the highest first.
  package mutating func word() throws(BlockDamage) -> UInt64 {
    guard remaining >= 8 else { throw BlockDamage() }
    defer { at += 8 }
    return unsafe UInt64(bigEndian: UnsafeRawPointer(source.base + at).loadUnaligned(as: UInt64.self))
  }

  @inlinable @inline(__always)
  package mutating func number() throws(BlockDamage) -> UInt64 {
    guard at < source.count else { throw BlockDamage() }
    let first = unsafe source.base[at]
    at += 1
    return first < 0x80 ? UInt64(first) : try longNumber(first)
  }

  @usableFromInline
  mutating func longNumber(_ first: UInt8) throws(BlockDamage) -> UInt64 {
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while at < source.count, shift < 64 {
      let byte = unsafe source.base[at]
      at += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw BlockDamage()
  }

  /// The index behind the number of a known thing.
  ///
  /// - Parameter count: how many are known.
  @inlinable @inline(__always)
  package func index(_ number: UInt64, of count: Int) throws(BlockDamage) -> Int {
    guard number <= UInt64(count) else { throw BlockDamage() }
    return Int(number) - 1
  }

  /// A count of things that take at least a byte each.
  package mutating func byteBoundCount() throws(BlockDamage) -> Int {
    let count = try number()
    guard count <= UInt64(remaining) else { throw BlockDamage() }
    return Int(count)
  }

  /// The instant so many milliseconds behind `last` as the next number says.
  @inlinable
  package mutating func instant(after last: Instant) throws(BlockDamage) -> Instant {
    let (stamp, overflow) = last.milliseconds.addingReportingOverflow(Int64(bitPattern: try number()))
    guard !overflow, stamp >= 0, stamp <= Instant.last.milliseconds else { throw BlockDamage() }
    return Instant(milliseconds: stamp)
  }

  /// A known string or a new one, as an index of ``strings``.
  @inlinable @inline(__always)
  package mutating func string() throws(BlockDamage) -> Int {
    let number = try number()
    return number == 0 ? try newString() : try index(number, of: strings.count)
  }

  /// A string that was not met before, as an index of ``strings``.
  package mutating func newString() throws(BlockDamage) -> Int {
    strings.append(try text())
    return strings.count - 1
  }

  /// A text of its own, behind its length.
  package mutating func text() throws(BlockDamage) -> Text {
    let length = try byteBoundCount()
    defer { at += length }
    return unsafe Text(base: source.base + at, count: length)
  }
}
