import BatchFoundation

/// Reads the numbers and strings of a block in order. Numbers have a variable length, as `ByteBuffer.append(varint:)`
/// writes them. Known items are referred to by numbers from 1; a 0 announces a new item.
///
/// Every number is checked against the block, so functions throw ``StoreError/damagedBlock`` instead of reading out of
/// bounds.
struct BlockCursor: ~Copyable {
  private var source: ByteBuffer
  private var at = 0
  /// The strings read so far. Their memory is readable for some bytes beyond their end and lives as long as the cursor.
  private(set) var strings: [Text] = []

  init(_ block: UnsafeBufferPointer<UInt8>) {
    source = ByteBuffer(capacity: block.count)
    unsafe source.append(block)
  }

  init(_ block: [UInt8]) {
    source = ByteBuffer(capacity: block.count)
    unsafe block.withUnsafeBufferPointer { unsafe source.append($0) }
  }

  private var damage: any Error { StoreError.damagedBlock }

  var remaining: Int { source.count - at }

  mutating func reserveStrings(_ count: Int) { strings.reserveCapacity(count) }

  /// The start of every block.
  struct Head {
    var events: Int
    /// The instant to which the first event's stored time difference is added.
    var first: Instant
    /// The size of the whole request body in bytes.
    var bodyBytes: Int
  }

  /// Reads the start of a block, which must have this format version.
  mutating func head(version: UInt8) throws -> Head {
    guard try byte() == version else { throw damage }
    let events = try number()
    let first = try instant(after: Instant(milliseconds: 0))
    let bodyBytes = try number()
    guard events <= UInt64(source.count), bodyBytes < 1 << 40 else { throw damage }
    return Head(events: Int(events), first: first, bodyBytes: Int(bodyBytes))
  }

  mutating func byte() throws -> UInt8 {
    guard at < source.count else { throw damage }
    defer { at += 1 }
    return unsafe source.base[at]
  }

  /// Reads eight bytes, big-endian.
  mutating func word() throws -> UInt64 {
    guard remaining >= 8 else { throw damage }
    defer { at += 8 }
    return unsafe UInt64(bigEndian: UnsafeRawPointer(source.base + at).loadUnaligned(as: UInt64.self))
  }

  @inline(__always)
  mutating func number() throws -> UInt64 {
    guard at < source.count else { throw damage }
    let first = unsafe source.base[at]
    at += 1
    return first < 0x80 ? UInt64(first) : try longNumber(first)
  }

  private mutating func longNumber(_ first: UInt8) throws -> UInt64 {
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while at < source.count, shift < 64 {
      let byte = unsafe source.base[at]
      at += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw damage
  }

  /// Returns the index of the known item with this number. Known items are numbered from 1.
  @inline(__always)
  func index(_ number: UInt64, of count: Int) throws -> Int {
    guard number <= UInt64(count) else { throw damage }
    return Int(number) - 1
  }

  /// Reads a count of items that have at least one byte each.
  mutating func byteBoundCount() throws -> Int {
    let count = try number()
    guard count <= UInt64(remaining) else { throw damage }
    return Int(count)
  }

  /// Reads a number of milliseconds and returns the instant that much later than `last`.
  mutating func instant(after last: Instant) throws -> Instant {
    let (stamp, overflow) = last.milliseconds.addingReportingOverflow(Int64(bitPattern: try number()))
    guard !overflow, stamp >= 0, stamp <= Instant.last.milliseconds else { throw damage }
    return Instant(milliseconds: stamp)
  }

  /// Reads a known or a new string and returns its index in ``strings``.
  @inline(__always)
  mutating func string() throws -> Int {
    let number = try number()
    return number == 0 ? try newString() : try index(number, of: strings.count)
  }

  /// Reads a new string and returns its index in ``strings``.
  mutating func newString() throws -> Int {
    strings.append(try text())
    return strings.count - 1
  }

  /// Reads a length and the text that follows it, which gets no index.
  mutating func text() throws -> Text {
    let length = try byteBoundCount()
    defer { at += length }
    return unsafe Text(base: source.base + at, count: length)
  }
}

/// The checksums of a pack's blocks, by offset. They are verified before a block is decoded, to detect changes
/// by a disk fault or a person.
struct BlockSums {
  /// The size of an entry in bytes: the block's offset and its checksum, both little-endian.
  private static let entry = 4 + 8

  private(set) var bytes: [UInt8] = []

  /// - Parameter offset: the block's offset in its pack.
  mutating func add(_ block: UnsafeRawBufferPointer, at offset: Int) {
    unsafe withUnsafeBytes(of: UInt32(truncatingIfNeeded: offset).littleEndian) { unsafe bytes += $0 }
    unsafe withUnsafeBytes(of: Self.sum(of: block).littleEndian) { unsafe bytes += $0 }
  }

  /// Returns whether the block has the checksum that was stored for the offset.
  static func confirm(_ block: Text, at offset: Int, by sums: [UInt8]) -> Bool {
    unsafe sums.withUnsafeBytes { sums in
      for start in stride(from: 0, to: sums.count - entry + 1, by: entry) {
        guard unsafe UInt32(littleEndian: sums.loadUnaligned(fromByteOffset: start, as: UInt32.self)) == offset else {
          continue
        }
        let sum = unsafe UInt64(littleEndian: sums.loadUnaligned(fromByteOffset: start + 4, as: UInt64.self))
        return ByteMix.oneLane(block) == sum
      }
      return false
    }
  }

  static func sum(of block: UnsafeRawBufferPointer) -> UInt64 {
    let bytes = unsafe block.assumingMemoryBound(to: UInt8.self)
    guard let base = bytes.baseAddress else { return 0 }
    return unsafe ByteMix.oneLane(Text(base: base, count: bytes.count))
  }
}

/// The sources of a block's events. Each is stored as the difference from the previous one, which takes a byte or two
/// for nearby lines.
///
///     source = zigzag line delta << 1 | has file, [file]
///
/// The writer and the reader each start a new trail with every block. Reading throws ``StoreError/damagedBlock``.
struct SourceTrail {
  private var last = StoredSource.unknown

  @inline(__always)
  mutating func append(_ source: StoredSource, to body: inout ByteBuffer) {
    let delta = Int64(bitPattern: source.line &- last.line)
    let isOtherFile = source.file != last.file
    body.append(varint: UInt64(bitPattern: delta << 1 ^ delta >> 63) << 1 | (isOtherFile ? 1 : 0))
    if isOtherFile { body.append(varint: UInt64(source.file)) }
    last = source
  }

  @inline(__always)
  mutating func next(from block: inout BlockCursor) throws -> StoredSource {
    let head = try block.number()
    let zigzag = head >> 1
    last.line &+= zigzag >> 1 ^ (0 &- zigzag & 1)
    if head & 1 != 0 { last.file = UInt32(truncatingIfNeeded: try block.number()) }
    return last
  }
}
