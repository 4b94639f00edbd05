import Glibc

/// A cache of small objects that recur from line to line, such as device blocks, which are then compared
/// instead of parsed. An object is recognized by its bytes up to the first closing brace, so objects with
/// nested objects are not kept. ``LineShapes`` recognizes whole lines.
@safe struct KnownObjects: ~Copyable {
  private static let slots = 256
  /// The maximum length in bytes of a cached object, and of its encoding.
  private static let longest = 512
  private static let stride = 2 * longest
  /// The number by which misses must exceed hits before objects under one key are no longer looked up.
  private static let patience: Int32 = 512

  private struct Entry {
    var hash: UInt64 = 0
    var textCount = 0
    var resultCount = 0
  }

  /// Nil until an object is cached.
  private var memory: UnsafeMutableRawPointer?
  private var entries: [Entry] = []
  /// The remaining ``patience`` for each key; some keys share an entry.
  private var scores = InlineArray<64, Int32>(repeating: patience)

  deinit { unsafe memory?.deallocate() }

  /// Returns whether objects under that key are still looked up.
  @inline(__always)
  func looks(for key: UInt64) -> Bool { scores[Self.score(of: key)] > 0 }

  @inline(__always)
  private static func score(of key: UInt64) -> Int { Int((key &* 0x9E37_79B9_7F4A_7C15) &>> 58) }

  /// Looks up the object that starts at `text`, where `limit` bytes are readable.
  ///
  /// - Parameters:
  ///   - key: the fingerprint of the object's key.
  ///   - depth: the nesting level; the same bytes may be too deep at another level, so it is part of the object's
  ///     identity.
  /// - Returns: the object's length and encoding; nil if it is not cached.
  mutating func find(
    _ text: UnsafePointer<UInt8>, limit: Int, key: UInt64, _ depth: Int
  ) -> (count: Int, result: UnsafeRawBufferPointer)? {
    guard let memory = unsafe memory, let count = unsafe Self.count(text, limit) else { return nil }
    let hash = unsafe Self.hash(text, count, depth)
    let slot = Int(hash >> 32) & (Self.slots - 1)
    let entry = entries[slot]
    let place = unsafe memory + slot * Self.stride
    guard entry.hash == hash, entry.textCount == count, unsafe memcmp(place, text, count) == 0 else {
      scores[Self.score(of: key)] -= 1
      return nil
    }
    scores[Self.score(of: key)] = min(scores[Self.score(of: key)] + 1, 2 * Self.patience)
    return unsafe (count, UnsafeRawBufferPointer(start: place + Self.longest, count: entry.resultCount))
  }

  /// Caches a well-formed object if it is short and has no nested object, replacing the object in its slot.
  mutating func keep(_ text: UnsafePointer<UInt8>, count: Int, result: UnsafeRawBufferPointer, _ depth: Int) {
    guard count <= Self.longest, result.count <= Self.longest, let source = result.baseAddress,
      unsafe Self.count(text, count) == count
    else { return }
    if unsafe memory == nil {
      unsafe memory = .allocate(byteCount: Self.slots * Self.stride, alignment: 16)
      entries = Array(repeating: Entry(), count: Self.slots)
    }
    guard let memory = unsafe memory else { return }
    let hash = unsafe Self.hash(text, count, depth)
    let slot = Int(hash >> 32) & (Self.slots - 1)
    let place = unsafe memory + slot * Self.stride
    unsafe place.copyMemory(from: text, byteCount: count)
    unsafe (place + Self.longest).copyMemory(from: source, byteCount: result.count)
    entries[slot] = Entry(hash: hash, textCount: count, resultCount: result.count)
  }

  @inline(__always)
  private static func hash(_ text: UnsafePointer<UInt8>, _ count: Int, _ depth: Int) -> UInt64 {
    unsafe ByteMix.oneLane(Text(base: text, count: count)) &+ UInt64(truncatingIfNeeded: depth)
  }

  /// Returns the number of bytes up to the first closing brace; nil if there is none within the limit.
  @inline(__always)
  private static func count(_ text: UnsafePointer<UInt8>, _ limit: Int) -> Int? {
    guard let close = unsafe memchr(text, Int32(UInt8(ascii: "}")), min(limit, longest)) else { return nil }
    return unsafe UnsafeRawPointer(close) - UnsafeRawPointer(text) + 1
  }
}
