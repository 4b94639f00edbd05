/// A growing byte buffer for bodies, blocks and the lines of an events file. The 32 bytes after the last one are always
/// writable, so that short texts can be copied in whole words.
@safe public struct ByteBuffer: ~Copyable {
  @usableFromInline var memory: UnsafeMutablePointer<UInt8>
  @usableFromInline var used = 0
  @usableFromInline var capacity: Int

  @usableFromInline static var slack: Int { 32 }

  @inlinable @inline(__always) public var base: UnsafeMutablePointer<UInt8> { unsafe memory }

  @inlinable @inline(__always) public var count: Int { used }

  public init(capacity: Int = 4096) {
    self.capacity = max(capacity, 64)
    unsafe memory = UnsafeMutablePointer<UInt8>.allocate(capacity: self.capacity + Self.slack)
  }

  deinit { unsafe base.deallocate() }

  @inlinable
  public var bytes: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: base, count: count) }

  public var array: [UInt8] { unsafe Array(bytes) }

  public mutating func removeAll() { used = 0 }

  public mutating func truncate(to count: Int) { used = min(count, self.count) }

  @inlinable @inline(__always)
  public mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(more) }
  }

  @inline(never)
  @usableFromInline
  mutating func grow(_ more: Int) {
    let larger = max(count + more, capacity * 2)
    let fresh = UnsafeMutablePointer<UInt8>.allocate(capacity: larger + Self.slack)
    unsafe fresh.update(from: base, count: count)
    unsafe base.deallocate()
    unsafe memory = fresh
    capacity = larger
  }

  @inlinable @inline(__always)
  public mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe base[count] = byte
    used += 1
  }

  @inlinable @inline(__always)
  public mutating func append(_ text: Text) { unsafe append(text.bytes) }

  @inlinable @inline(__always)
  public mutating func append(_ source: UnsafeBufferPointer<UInt8>) {
    guard let start = source.baseAddress else { return }
    reserve(source.count)
    unsafe copyBytes(start, to: base + count, source.count)
    used += source.count
  }

  /// Appends `length` bytes; at least `slack` more bytes must be readable after them.
  @inlinable @inline(__always)
  public mutating func append(padded source: UnsafePointer<UInt8>, _ length: Int) {
    reserve(length)
    let target = unsafe UnsafeMutableRawPointer(base + count)
    if length <= 32 {
      let raw = unsafe UnsafeRawPointer(source)
      unsafe target.storeBytes(of: raw.loadUnaligned(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
      if length > 16 {
        unsafe target.storeBytes(
          of: raw.loadUnaligned(fromByteOffset: 16, as: SIMD16<UInt8>.self), toByteOffset: 16, as: SIMD16<UInt8>.self)
      }
    } else {
      unsafe target.copyMemory(from: source, byteCount: length)
    }
    used += length
  }

  /// Appends a number in groups of seven bits, lowest first; the top bit of a byte is set if another byte follows.
  @inlinable @inline(__always)
  public mutating func append(varint value: UInt64) {
    reserve(10)
    var rest = value
    while rest >= 0x80 {
      unsafe base[count] = UInt8(truncatingIfNeeded: rest) | 0x80
      used += 1
      rest >>= 7
    }
    unsafe base[count] = UInt8(truncatingIfNeeded: rest)
    used += 1
  }

  /// Lets `body` write up to `limit` bytes at the end and return their number.
  @inlinable @inline(__always)
  public mutating func append(limit: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
    reserve(limit)
    unsafe used += body(base + count)
  }
}
