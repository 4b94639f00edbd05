import BatchFoundation

/// Bytes in which much comes again, such as the nights of devices: what stood before is referred to.
///
///     bytes    = count of all as varint, pieces of 65,535 bytes of which the last may be shorter
///     piece    = (head, literals, distance of two bytes, more of the length)..., head, literals
///     head     = count of literals in the upper half, length - 8 of the match in the lower; 15 and the bytes after it, to the first
///                that is not 255, are added up
///
/// A match stands in its own piece. It is fast before it is small: each night writes some megabytes, and few of them are read again. Fixed
/// places and one byte for two numbers are what makes it fast, because a processor cannot foresee how long a number is.
enum RepeatedBytes {
  private static let pieceSize = 65_535
  private static let shortest = 8
  private static let hashBits = 13
  /// How much is copied at once, if need be more than there is.
  private static let copied = 16

  static func packed(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var start = ByteBuffer(capacity: 16)
    start.append(varint: UInt64(bytes.count))
    // A match is longer than what stands for it, so only counts of literals come on top.
    let most = start.count + bytes.count + bytes.count / 255 + (bytes.count / pieceSize + 1) * 2 + 2 * copied
    return unsafe [UInt8](unsafeUninitializedCapacity: most) { packed, filled in
      guard let target = packed.baseAddress else { return }
      unsafe target.update(from: start.base, count: start.count)
      var end = unsafe target + start.count
      unsafe withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 1 << hashBits) { table in
        for piece in stride(from: 0, to: bytes.count, by: pieceSize) {
          let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[piece..<min(bytes.count, piece + pieceSize)])
          unsafe pack(rest, table, to: &end)
        }
      }
      filled = unsafe end - target
    }
  }

  private static func pack(
    _ piece: UnsafeRawBufferPointer, _ table: UnsafeMutableBufferPointer<UInt16>,
    to end: inout UnsafeMutablePointer<UInt8>
  ) {
    guard let start = piece.baseAddress else { return }
    unsafe table.update(repeating: 0)
    // The first byte is the place that the table has for what was not seen yet.
    var (at, done) = (1, 0)
    while at + copied <= piece.count {
      let word = unsafe start.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      let slot = Int((word &* 0x9E37_79B1_85EB_CA87) >> UInt64(64 - hashBits))
      let earlier = unsafe Int(table[slot])
      unsafe table[slot] = UInt16(truncatingIfNeeded: at)
      guard unsafe start.loadUnaligned(fromByteOffset: earlier, as: UInt64.self) == word else {
        // What does not repeat is passed over faster and faster.
        at += 1 + ((at - done) >> 6)
        continue
      }
      let length = unsafe matchLength(start, earlier, at, piece.count)
      let (literals, more) = (at - done, length - shortest)
      unsafe end.pointee = UInt8(min(literals, 15) << 4 | min(more, 15))
      unsafe end += 1
      unsafe put(literals, from: start + done, to: &end)
      let distance = at - earlier
      unsafe end[0] = UInt8(truncatingIfNeeded: distance)
      unsafe end[1] = UInt8(truncatingIfNeeded: distance >> 8)
      unsafe end += 2
      if more >= 15 { unsafe put(rest: more - 15, to: &end) }
      at += length
      done = at
    }
    unsafe end.pointee = UInt8(min(piece.count - done, 15) << 4)
    unsafe end += 1
    let literals = piece.count - done
    if literals >= 15 { unsafe put(rest: literals - 15, to: &end) }
    unsafe UnsafeMutableRawPointer(end).copyMemory(from: start + done, byteCount: literals)
    unsafe end += literals
  }

  /// - Parameter source: of which at least ``copied`` bytes are there.
  private static func put(_ literals: Int, from source: UnsafeRawPointer, to end: inout UnsafeMutablePointer<UInt8>) {
    if literals >= 15 {
      unsafe put(rest: literals - 15, to: &end)
      unsafe UnsafeMutableRawPointer(end).copyMemory(from: source, byteCount: literals)
    } else {
      unsafe UnsafeMutableRawPointer(end).copyMemory(from: source, byteCount: copied)
    }
    unsafe end += literals
  }

  private static func put(rest count: Int, to end: inout UnsafeMutablePointer<UInt8>) {
    var rest = count
    while rest >= 255 {
      unsafe end.pointee = 255
      unsafe end += 1
      rest -= 255
    }
    unsafe end.pointee = UInt8(rest)
    unsafe end += 1
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

  /// More than this no bucket has of a run.
  private static let longest = 1 << 30

  /// - Throws: ``StoreError/damagedBlock`` for anything that ``packed(_:)`` does not write.
  static func unpacked(_ packed: [UInt8]) throws -> [UInt8] {
    try unsafe packed.withUnsafeBufferPointer { packed in
      var reader = unsafe Reader(packed: packed)
      let count = try reader.varint()
      // A byte stands for at most as many as it can say.
      guard count <= min(longest, packed.count * 256) else { throw StoreError.damagedBlock }
      return try unsafe [UInt8](unsafeUninitializedCapacity: count + copied) { bytes, filled in
        while filled < count {
          try unsafe reader.piece(into: bytes, from: filled, to: min(count, filled + pieceSize))
          filled = min(count, filled + pieceSize)
        }
        guard reader.isAtEnd else { throw StoreError.damagedBlock }
      }
    }
  }

  @safe private struct Reader {
    private let packed: UnsafeBufferPointer<UInt8>
    private var at = 0

    init(packed: UnsafeBufferPointer<UInt8>) { unsafe self.packed = unsafe packed }

    var isAtEnd: Bool { unsafe at == packed.count }

    mutating func byte() throws -> Int {
      guard unsafe at < packed.count else { throw StoreError.damagedBlock }
      defer { at += 1 }
      return unsafe Int(packed[at])
    }

    mutating func varint() throws -> Int {
      var (value, shift) = (0, 0)
      while shift < 42 {
        let byte = try byte()
        value |= (byte & 0x7F) << shift
        if byte & 0x80 == 0 { return value }
        shift += 7
      }
      throw StoreError.damagedBlock
    }

    /// A number of which the head has this much.
    private mutating func number(_ head: Int) throws -> Int {
      guard head == 15 else { return head }
      var (value, byte) = (head, 255)
      while byte == 255 {
        byte = try self.byte()
        value += byte
      }
      return value
    }

    /// - Parameter bytes: which have ``RepeatedBytes/copied`` more than all pieces.
    mutating func piece(into bytes: UnsafeMutableBufferPointer<UInt8>, from start: Int, to end: Int) throws {
      var filled = start
      while true {
        let head = try byte()
        let literals = try number(head >> 4)
        guard unsafe literals <= packed.count - at, literals <= end - filled, let base = bytes.baseAddress,
          let source = unsafe packed.baseAddress
        else { throw StoreError.damagedBlock }
        unsafe (base + filled).update(from: source + at, count: literals)
        at += literals
        filled += literals
        if filled == end {
          guard head & 15 == 0 else { throw StoreError.damagedBlock }
          return
        }
        let distance = try byte() | byte() << 8
        let length = try number(head & 15) + shortest
        guard distance > 0, distance <= filled - start, length <= end - filled else { throw StoreError.damagedBlock }
        unsafe Self.repeat(base + filled, distance, length)
        filled += length
      }
    }

    /// Copies forwards in strides, as far as what is copied stands there already.
    private static func `repeat`(_ target: UnsafeMutablePointer<UInt8>, _ distance: Int, _ length: Int) {
      let (target, source) = unsafe (UnsafeMutableRawPointer(target), UnsafeRawPointer(target - distance))
      if distance >= copied {
        for place in stride(from: 0, to: length, by: copied) {
          unsafe (target + place).copyMemory(from: source + place, byteCount: copied)
        }
      } else {
        for place in 0..<length {
          let byte = unsafe source.load(fromByteOffset: place, as: UInt8.self)
          unsafe target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
        }
      }
    }
  }
}
