/// Writes the parts of a record unaligned and back to back, after a 32-bit header that holds flags and says which
/// optional parts are present. Stores keep records in this format (`RecordTimeline`), so a change needs a new version
/// of the platform's store format. It uses the machine's byte order, which is that of all supported machines.
@safe public struct RecordPacker {
  @usableFromInline let start: UnsafeMutableRawPointer
  @usableFromInline var at: UnsafeMutableRawPointer
  @usableFromInline var parts: UInt32 = 0
  @usableFromInline var bit: UInt32 = 1

  /// The size of the header in bytes.
  public static let head = 4

  /// Returns the maximum number of bytes that a text takes.
  @inlinable @inline(__always)
  public static func bound(_ text: Text?) -> Int { (text?.count ?? 0) + 5 }

  @inlinable @inline(__always)
  public init(at start: UnsafeMutableRawPointer) {
    unsafe self.start = unsafe start
    unsafe at = unsafe start + Self.head
  }

  /// Writes a flag, or whether the part that follows is present.
  @inlinable @inline(__always)
  public mutating func put(_ flag: Bool) {
    assert(bit != 0, "a record has at most 32 flags")
    if flag { parts |= bit }
    bit &<<= 1
  }

  @inlinable @inline(__always)
  public mutating func put(_ flag: Bool?) {
    put(flag != nil)
    put(flag ?? false)
  }

  @inlinable @inline(__always)
  public mutating func put(_ text: Text?) {
    put(text != nil)
    if let text { unsafe at = text.writeShort(to: at) }
  }

  @inlinable @inline(__always)
  public mutating func put(_ view: JSONView?) {
    put(view != nil)
    guard let view else { return }
    let size = view.size
    unsafe copyBytes(view.start, to: at, size)
    unsafe at += size
  }

  @inlinable @inline(__always)
  public mutating func put(bits: UInt64) {
    unsafe at.storeBytes(of: bits, as: UInt64.self)
    unsafe at += 8
  }

  /// Writes texts that were packed before.
  @inlinable @inline(__always)
  public mutating func put(_ texts: PackedTexts) {
    assert(bit.trailingZeroBitCount + texts.count <= 32, "a record has at most 32 flags")
    parts |= texts.parts &* bit
    bit &<<= UInt32(texts.count)
    unsafe copyBytes(texts.bytes.base, to: at, texts.bytes.count)
    unsafe at += texts.bytes.count
  }

  /// What was written so far, which must be optional texts alone; valid as long as the memory.
  public var texts: PackedTexts {
    let bytes = unsafe UnsafeRawPointer(start + Self.head).assumingMemoryBound(to: UInt8.self)
    return unsafe PackedTexts(
      parts: parts, count: bit.trailingZeroBitCount, bytes: Text(base: bytes, count: at - start - Self.head))
  }

  /// - Returns: the number of bytes written.
  @inlinable @inline(__always)
  public func end() -> Int {
    unsafe start.storeBytes(of: parts, as: UInt32.self)
    return unsafe at - start
  }
}

/// Optional texts as in a record: their bytes, and which of them are present.
public struct PackedTexts {
  @usableFromInline let parts: UInt32
  @usableFromInline let count: Int
  public let bytes: Text

  @usableFromInline
  init(parts: UInt32, count: Int, bytes: Text) { (self.parts, self.count, self.bytes) = (parts, count, bytes) }
}

/// Reads the parts of a record in the order in which they were written. Texts and views refer to the record's memory.
@safe public struct RecordUnpacker {
  @usableFromInline var at: UnsafeRawPointer
  @usableFromInline var parts: UInt32

  @inlinable @inline(__always)
  public init(at start: UnsafeRawPointer) {
    parts = unsafe start.loadUnaligned(as: UInt32.self)
    unsafe at = unsafe start + RecordPacker.head
  }

  @inlinable @inline(__always)
  public mutating func flag() -> Bool {
    defer { parts &>>= 1 }
    return parts & 1 != 0
  }

  @inlinable @inline(__always)
  public mutating func optionalFlag() -> Bool? {
    let (isThere, value) = (flag(), flag())
    return isThere ? value : nil
  }

  @inlinable @inline(__always)
  public mutating func text() -> Text? {
    guard flag() else { return nil }
    let (text, end) = unsafe JSONView.shortText(at: at)
    unsafe at = end
    return text
  }

  @inlinable @inline(__always)
  public mutating func view() -> JSONView? {
    guard flag() else { return nil }
    let view = unsafe JSONView(at: at)
    unsafe at = view.end
    return view
  }

  @inlinable @inline(__always)
  public mutating func bits() -> UInt64 {
    defer { unsafe at += 8 }
    return unsafe at.loadUnaligned(as: UInt64.self)
  }
}
