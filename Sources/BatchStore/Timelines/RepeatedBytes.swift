import BatchFoundation

/// Bytes in which much comes again, such as the nights of devices: what stood before is referred to.
///
///     bytes = count of all, (literal count, literals, [match length - 4, distance])...
///
/// All numbers are varints. It is fast before it is small: each night writes some megabytes, and few of them are read again.
enum RepeatedBytes {
  private static let shortest = 4
  private static let hashBits = 14

  static func packed(_ bytes: [UInt8]) -> [UInt8] {
    var writer = ByteBuffer(capacity: bytes.count / 2 + 64)
    writer.append(varint: UInt64(bytes.count))
    var table = [Int32](repeating: -1, count: 1 << hashBits)
    unsafe bytes.withUnsafeBufferPointer { all in
      guard let base = all.baseAddress else { return }
      let start = unsafe UnsafeRawPointer(base)
      unsafe table.withUnsafeMutableBufferPointer { table in
        var (at, done) = (0, 0)
        while at + 8 <= all.count {
          let word = unsafe start.loadUnaligned(fromByteOffset: at, as: UInt64.self)
          let hash = (word & 0xFF_FFFF_FFFF) &* 0x9E37_79B1_85EB_CA87
          let slot = Int(hash >> UInt64(64 - hashBits))
          let earlier = unsafe Int(table[slot])
          unsafe table[slot] = Int32(truncatingIfNeeded: at)
          guard earlier >= 0,
            unsafe start.loadUnaligned(fromByteOffset: earlier, as: UInt32.self) == UInt32(truncatingIfNeeded: word)
          else {
            // What does not repeat is passed over faster and faster.
            at += 1 + ((at - done) >> 6)
            continue
          }
          let length = unsafe matchLength(start, earlier, at, all.count)
          writer.append(varint: UInt64(at - done))
          unsafe writer.append(UnsafeBufferPointer(rebasing: all[done..<at]))
          writer.append(varint: UInt64(length - shortest))
          writer.append(varint: UInt64(at - earlier))
          at += length
          done = at
        }
        writer.append(varint: UInt64(all.count - done))
        unsafe writer.append(UnsafeBufferPointer(rebasing: all[done...]))
      }
    }
    return writer.array
  }

  private static func matchLength(_ start: UnsafeRawPointer, _ earlier: Int, _ at: Int, _ end: Int) -> Int {
    var length = shortest
    while at + length + 8 <= end {
      let difference =
        unsafe start.loadUnaligned(fromByteOffset: earlier + length, as: UInt64.self)
        ^ start.loadUnaligned(fromByteOffset: at + length, as: UInt64.self)
      if difference != 0 { return length + difference.trailingZeroBitCount / 8 }
      length += 8
    }
    while at + length < end,
      unsafe start.load(fromByteOffset: earlier + length, as: UInt8.self)
        == start.load(fromByteOffset: at + length, as: UInt8.self)
    { length += 1 }
    return length
  }

  /// More than this no bucket has of a run; a match of any length takes some bytes only.
  private static let longest = 1 << 30

  /// - Throws: ``StoreError/damagedBlock`` for anything that ``packed(_:)`` does not write.
  static func unpacked(_ packed: [UInt8]) throws -> [UInt8] {
    try unsafe packed.withUnsafeBufferPointer { packed in
      var at = 0
      let count = try unsafe number(packed, &at)
      guard count <= longest else { throw StoreError.damagedBlock }
      return try unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
        while at < packed.count {
          let literals = try unsafe number(packed, &at)
          guard literals <= packed.count - at, literals <= count - filled else { throw StoreError.damagedBlock }
          let source = unsafe UnsafeBufferPointer(rebasing: packed[at..<at + literals])
          _ = unsafe UnsafeMutableBufferPointer(rebasing: bytes[filled..<filled + literals]).update(from: source)
          at += literals
          filled += literals
          guard at < packed.count else { break }
          let (length, distance) = unsafe (try number(packed, &at) + shortest, try number(packed, &at))
          guard distance > 0, distance <= filled, length <= count - filled else { throw StoreError.damagedBlock }
          let target = unsafe UnsafeMutableBufferPointer(rebasing: bytes[filled..<filled + length])
          if distance >= length {
            let source = unsafe bytes[filled - distance..<filled - distance + length]
            _ = unsafe target.update(from: UnsafeBufferPointer(rebasing: source))
          } else {
            for index in 0..<length { unsafe target[index] = bytes[filled + index - distance] }
          }
          filled += length
        }
        guard filled == count else { throw StoreError.damagedBlock }
      }
    }
  }

  private static func number(_ packed: UnsafeBufferPointer<UInt8>, _ at: inout Int) throws -> Int {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while at < packed.count, shift < 42 {
      let byte = unsafe packed[at]
      at += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return Int(value) }
      shift += 7
    }
    throw StoreError.damagedBlock
  }
}
