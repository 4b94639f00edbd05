import Glibc

/// Small objects that one line after another repeats, such as what a device tells of itself, beside what was read of them: the next
/// time their bytes are compared instead of read.
///
/// An object is known by its bytes from its first bracket to the first closing one. Bytes that were once a whole object are the same
/// object wherever they stand, whatever follows, so objects with others inside are not kept.
@safe struct KnownObjects: ~Copyable {
  private static let slots = 256
  /// The longest object that is kept, in bytes, and the most that it may become.
  private static let longest = 512
  private static let stride = 2 * longest
  /// Objects of one key that differ this many times more than they repeat are not looked up any more.
  private static let patience: Int32 = 512

  private struct Entry {
    var hash: UInt64 = 0
    var textCount = 0
    var resultCount = 0
  }

  /// Nil until an object is kept.
  private var memory: UnsafeMutableRawPointer?
  private var entries: [Entry] = []
  /// By key, as far as keys differ in their fingerprints.
  private var scores = InlineArray<64, Int32>(repeating: patience)

  deinit { unsafe memory?.deallocate() }

  /// Whether objects of that key are worth a look.
  @inline(__always)
  func looks(for key: UInt64) -> Bool { scores[Self.score(of: key)] > 0 }

  @inline(__always)
  private static func score(of key: UInt64) -> Int { Int((key &* 0x9E37_79B9_7F4A_7C15) &>> 58) }

  /// Finds the object that starts at `text`.
  ///
  /// - Parameters:
  ///   - limit: bytes that can be read there.
  ///   - key: the fingerprint of the object's key.
  ///   - depth: levels around it: deeper down the same bytes may be too deep.
  /// - Returns: its length, and what was read of it; nil for one that is not known.
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

  /// Keeps an object without faults in place of another one, if it is short and has none inside.
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

  /// Bytes up to the first closing bracket; nil if there is none near enough.
  @inline(__always)
  private static func count(_ text: UnsafePointer<UInt8>, _ limit: Int) -> Int? {
    guard let close = unsafe memchr(text, Int32(UInt8(ascii: "}")), min(limit, longest)) else { return nil }
    return unsafe UnsafeRawPointer(close) - UnsafeRawPointer(text) + 1
  }
}
