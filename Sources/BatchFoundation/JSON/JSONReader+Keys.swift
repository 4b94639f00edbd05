/// Reads keys, and finds those that an object repeats.
extension JSONReader {
  mutating func key<Sink: JSONSink & ~Copyable>(
    _ base: UnsafePointer<UInt8>, _ at: inout Int, _ end: Int, _ comments: Bool, _ flaws: inout JSONFlaws,
    _ depth: Int, _ keyCount: inout Int, _ sink: inout Sink
  ) throws(JSONSyntaxError) {
    guard at < end, unsafe base[at] == UInt8(ascii: "\"") else { throw JSONSyntaxError(offset: at) }
    let start = at
    let text = try unsafe string(base, &at, end, &flaws)
    if depth <= Self.deepest {
      if keyCount == keyCapacity { unsafe Self.grow(&keys, &keyCapacity) }
      let fingerprint = Self.fingerprint(text)
      let bit = Self.bit(fingerprint)
      if unsafe keyBits[depth - 1] & bit != 0, flaws.duplicateKey == nil,
        unsafe isSeen(text, fingerprint, firstKeys[depth - 1], keyCount)
      {
        flaws.duplicateKey = start
      }
      unsafe keyBits[depth - 1] |= bit
      unsafe keys[keyCount] = SeenKey(fingerprint: fingerprint, text: text, offset: start)
      keyCount += 1
      sink.key(text, at: start)
    }
    at = try unsafe skipSpace(base, at, end, comments, &flaws)
    guard at < end, unsafe base[at] == UInt8(ascii: ":") else { throw JSONSyntaxError(offset: at) }
    at += 1
  }

  @inline(__always)
  private static func bit(_ fingerprint: UInt64) -> UInt64 { 1 &<< ((fingerprint &* 0x9E37_79B9_7F4A_7C15) &>> 58) }

  /// The number of keys in an object that are compared pairwise; the rest are left to ``sortedDuplicate(from:to:)``.
  static let pairwise = 32

  @inline(__always)
  private func isSeen(_ text: Text, _ fingerprint: UInt64, _ first: Int, _ count: Int) -> Bool {
    var index = min(count, first + Self.pairwise) - 1
    while index >= first {
      if unsafe keys[index].fingerprint == fingerprint, unsafe keys[index].text == text { return true }
      index -= 1
    }
    return false
  }

  /// Returns the offset of a repeated key in a large, complete object; nil if there is none. Reorders the object's
  /// keys.
  func sortedDuplicate(from first: Int, to count: Int) -> Int? {
    var own = unsafe UnsafeMutableBufferPointer(start: keys + first, count: count - first)
    unsafe own.sort { $0.fingerprint != $1.fingerprint ? $0.fingerprint < $1.fingerprint : $0.text < $1.text }
    for index in own.indices.dropFirst() where unsafe own[index].fingerprint == own[index - 1].fingerprint {
      if unsafe own[index].text == own[index - 1].text { return unsafe own[index].offset }
    }
    return nil
  }

  @inline(__always)
  private static func fingerprint(_ text: Text) -> UInt64 {
    var packed = UInt64(truncatingIfNeeded: text.count) &* 0x9E37_79B9_7F4A_7C15
    var word: UInt64 = 0
    let raw = unsafe UnsafeRawPointer(text.base)
    if text.count >= 8 {
      word = unsafe raw.loadUnaligned(as: UInt64.self)
      unsafe packed ^= raw.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self) &* 0xFF51_AFD7_ED55_8CCD
    } else if text.count >= 4 {
      // Two overlapping loads cover four to seven bytes.
      word = unsafe UInt64(raw.loadUnaligned(as: UInt32.self)) << 32
      unsafe word |= UInt64(raw.loadUnaligned(fromByteOffset: text.count - 4, as: UInt32.self))
    } else if text.count > 0 {
      word = UInt64(text[0]) << 16 | UInt64(text[text.count / 2]) << 8 | UInt64(text[text.count - 1])
    }
    return packed ^ word
  }
}
