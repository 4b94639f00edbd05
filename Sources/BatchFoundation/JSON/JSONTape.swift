/// Memory to which values are appended in the format of ``JSONView``, without an allocation for each.
@safe package struct JSONTape: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  package private(set) var count = 0
  /// The offset of the length field of the innermost open container. Until the container is closed, that field holds
  /// the offset of the enclosing container's length field.
  private var innermost = Self.none

  private static let none = UInt32.max

  package init(capacity: Int = 1 << 16) {
    self.capacity = capacity
    unsafe memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  package var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: memory, count: count) }

  /// Drops all bytes from offset `count` on.
  package mutating func truncate(to count: Int) {
    self.count = count
    innermost = Self.none
  }

  /// Drops everything and releases any memory beyond `ordinary` bytes.
  package mutating func reset(keeping ordinary: Int) {
    truncate(to: 0)
    guard capacity > ordinary else { return }
    unsafe memory.deallocate()
    unsafe memory = .allocate(byteCount: ordinary, alignment: 16)
    capacity = ordinary
  }

  /// Returns the value at `offset` bytes from the start, valid until the tape grows or ends.
  package func view(at offset: Int) -> JSONView { unsafe JSONView(at: memory + offset) }

  @inline(__always)
  private mutating func reserve(_ more: Int) -> UnsafeMutableRawPointer {
    if count + more > capacity { grow(more) }
    return unsafe memory + count
  }

  private mutating func grow(_ more: Int) {
    capacity = max(capacity * 2, count + more)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    unsafe larger.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = larger
  }

  /// Appends what `body` writes to memory for `most` bytes, and returns true; appends nothing if `body` returns a
  /// negative number instead of that of its bytes.
  @inline(__always)
  mutating func append(atMost most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) -> Bool {
    let written = unsafe body(reserve(most).assumingMemoryBound(to: UInt8.self))
    guard written >= 0 else { return false }
    count += written
    return true
  }

  @inline(__always)
  private mutating func put(_ kind: JSONView.Kind) {
    unsafe reserve(1).storeBytes(of: kind.rawValue, as: UInt8.self)
    count += 1
  }

  /// Appends a kind and a text with its short length (see ``JSONView``).
  @inline(__always)
  private mutating func put(_ kind: JSONView.Kind, _ text: Text) {
    let target = unsafe reserve(6 + text.count)
    unsafe target.storeBytes(of: kind.rawValue, as: UInt8.self)
    unsafe count += text.writeShort(to: target + 1) - target
  }

  @inline(__always)
  private mutating func begin(_ kind: JSONView.Kind) {
    let target = unsafe reserve(5)
    unsafe target.storeBytes(of: kind.rawValue, as: UInt8.self)
    unsafe (target + 1).storeBytes(of: innermost, as: UInt32.self)
    innermost = UInt32(truncatingIfNeeded: count + 1)
    count += 5
  }

  @inline(__always)
  private mutating func end() {
    guard innermost != Self.none else { return }
    let start = Int(innermost)
    innermost = unsafe (memory + start).loadUnaligned(as: UInt32.self)
    unsafe (memory + start).storeBytes(of: UInt32(truncatingIfNeeded: count - start - 4), as: UInt32.self)
  }
}

extension JSONTape: JSONSink {
  package mutating func null(at offset: Int) { put(.null) }
  package mutating func bool(_ value: Bool, at offset: Int) { put(value ? .yes : .no) }
  package mutating func number(_ text: Text, at offset: Int) { put(.number, text) }
  package mutating func string(_ text: Text, at offset: Int) { put(.string, text) }
  package mutating func beginObject(at offset: Int) { begin(.object) }
  package mutating func key(_ text: Text, at offset: Int) {
    let target = unsafe reserve(5 + text.count)
    unsafe count += text.writeShort(to: target) - target
  }
  package mutating func endObject() { end() }
  package mutating func beginArray(at offset: Int) { begin(.array) }
  package mutating func endArray() { end() }

  package static var writesBytes: Bool { true }
  package func bytes(from start: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: memory + start, count: count - start)
  }
  package mutating func put(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    unsafe reserve(bytes.count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }
}

extension JSONReader {
  /// Reads the value in `text` onto the tape and returns the flaws found.
  ///
  /// - Parameter text: valid UTF-8 (``firstInvalidUTF8(_:)``).
  /// - Throws: ``JSONSyntaxError``; the tape is then unchanged.
  package mutating func read(
    _ text: UnsafeBufferPointer<UInt8>, onto tape: inout JSONTape
  ) throws(JSONSyntaxError) -> JSONFlaws {
    if unsafe shapes.read(text, onto: &tape) { return JSONFlaws() }
    let start = tape.count
    do {
      let flaws = try unsafe read(text, into: &tape)
      if !flaws.hasAny { unsafe shapes.learn(text) }
      return flaws
    } catch {
      tape.truncate(to: start)
      throw error
    }
  }
}
