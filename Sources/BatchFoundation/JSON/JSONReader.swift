/// The receiver of the values that a ``JSONReader`` reads, in the order of the input. Texts are unescaped and valid
/// only during the call; `offset` is in bytes from the start of the input.
package protocol JSONSink: ~Copyable {
  mutating func null(at offset: Int)
  mutating func bool(_ value: Bool, at offset: Int)
  /// Receives a number exactly as written.
  mutating func number(_ text: Text, at offset: Int)
  mutating func string(_ text: Text, at offset: Int)
  mutating func beginObject(at offset: Int)
  mutating func key(_ text: Text, at offset: Int)
  mutating func endObject()
  mutating func beginArray(at offset: Int)
  mutating func endArray()

  /// Whether the sink writes position-independent bytes, so that the bytes of an object can be reused for an equal one.
  static var writesBytes: Bool { get }
  var count: Int { get }
  func bytes(from start: Int) -> UnsafeRawBufferPointer
  mutating func put(_ bytes: UnsafeRawBufferPointer)
}

extension JSONSink where Self: ~Copyable {
  package static var writesBytes: Bool { false }
  package var count: Int { 0 }
  package func bytes(from start: Int) -> UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
  package mutating func put(_ bytes: UnsafeRawBufferPointer) {}
}

/// The flaws of syntactically valid JSON, each as the offset of its first occurrence. They are collected rather than
/// thrown, because several may occur and the caller ranks them (reference formats 3.7).
package struct JSONFlaws {
  package var unpairedSurrogate: Int?
  package var tooDeep: Int?
  package var duplicateKey: Int?
  package var nulCharacter: Int?
  package var numberOutOfRange: Int?
  package var comment: Int?

  /// Whether there is any flaw; comments do not count.
  @inlinable
  package var hasAny: Bool {
    unpairedSurrogate != nil || tooDeep != nil || duplicateKey != nil || nulCharacter != nil || numberOutOfRange != nil
  }
}

/// A syntax error, with its offset in bytes.
package struct JSONSyntaxError: Error, Equatable {
  package var offset: Int
  /// The offset of the first unpaired surrogate before the error; it takes precedence over the error
  /// (reference formats 3.7).
  package var unpairedSurrogate: Int?
}

/// The only JSON reader: strict RFC 8259 over validated UTF-8. It is iterative, so that nesting takes no stack, and it
/// keeps its memory from line to line.
@safe package struct JSONReader: ~Copyable {
  /// The maximum nesting depth; the outermost object is level 1 (reference decisions 8).
  package static let deepest = 64

  /// Whether each open level is an object rather than an array; one byte per level, because hostile input may
  /// open millions of levels.
  private var kinds: UnsafeMutablePointer<Bool>
  private var kindCapacity = 128
  /// The index in ``keys`` of the first key of each open object, for levels up to ``deepest``.
  let firstKeys: UnsafeMutablePointer<Int>
  /// A bit set of each open object's keys: a key whose bit is clear is new and needs no search.
  let keyBits: UnsafeMutablePointer<UInt64>
  var keys: UnsafeMutablePointer<SeenKey>
  var keyCapacity = 256
  private var known = KnownObjects()
  var shapes = LineShapes()
  let scratch = Arena(blockSize: 1 << 12)
  var scratchUsed = false

  package init() {
    unsafe kinds = .allocate(capacity: kindCapacity)
    unsafe firstKeys = .allocate(capacity: Self.deepest)
    unsafe keyBits = .allocate(capacity: Self.deepest)
    unsafe keys = .allocate(capacity: keyCapacity)
  }

  deinit {
    unsafe kinds.deallocate()
    unsafe firstKeys.deallocate()
    unsafe keyBits.deallocate()
    unsafe keys.deallocate()
  }

  struct SeenKey {
    var fingerprint: UInt64
    var text: Text
    var offset: Int
  }

  /// Reads one value, which only white space may surround.
  ///
  /// Values nested deeper than ``deepest`` are only checked; the sink receives null in their place.
  /// - Parameters:
  ///   - comments: whether to accept `//` and `/* */` as white space, for hand-written files.
  ///   - trailingCommas: whether to accept a comma after the last member or element.
  /// - Throws: ``JSONSyntaxError`` if the input is not JSON; everything passed to the sink must then be discarded.
  mutating func read<Sink: JSONSink & ~Copyable>(
    _ input: UnsafeBufferPointer<UInt8>, comments: Bool = false, trailingCommas: Bool = false, into sink: inout Sink
  ) throws(JSONSyntaxError) -> JSONFlaws {
    var flaws = JSONFlaws()
    do {
      try unsafe read(input, comments, trailingCommas, &flaws, &sink)
    } catch {
      throw JSONSyntaxError(offset: error.offset, unpairedSurrogate: flaws.unpairedSurrogate)
    }
    return flaws
  }

  private mutating func read<Sink: JSONSink & ~Copyable>(
    _ input: UnsafeBufferPointer<UInt8>, _ comments: Bool, _ trailingCommas: Bool, _ flaws: inout JSONFlaws,
    _ sink: inout Sink
  ) throws(JSONSyntaxError) {
    if scratchUsed {
      scratch.reset()
      scratchUsed = false
    }
    if keyCapacity > Self.ordinaryKeys || kindCapacity > Self.ordinaryKeys { shrink() }
    guard let base = input.baseAddress else { throw JSONSyntaxError(offset: 0) }
    let end = input.count
    var at = 0
    var depth = 0
    var keyCount = 0
    // A nested object that may be cached: its start in the input, its start in the sink, and its depth.
    var object = (start: -1, mark: 0, depth: 0)

    values: while true {
      // A value is expected here.
      at = try unsafe skipSpace(base, at, end, comments, &flaws)
      guard at < end else { throw JSONSyntaxError(offset: at) }
      switch unsafe base[at] {
      case UInt8(ascii: "\""):
        let start = at
        let text = try unsafe string(base, &at, end, &flaws)
        if depth <= Self.deepest { sink.string(text, at: start) }
      case UInt8(ascii: "{"):
        if Sink.writesBytes, depth > 0, depth < Self.deepest, unsafe kinds[depth - 1] {
          let name = unsafe keys[keyCount - 1].fingerprint
          if known.looks(for: name) {
            if let (count, result) = unsafe known.find(base + at, limit: end - at, key: name, depth) {
              unsafe sink.put(result)
              at += count
              break
            }
            object = (at, sink.count, depth)
          }
        }
        if open(true, &depth, keyCount, at, &flaws, &sink) { sink.beginObject(at: at) }
        at = try unsafe skipSpace(base, at + 1, end, comments, &flaws)
        if at < end, unsafe base[at] == UInt8(ascii: "}") {
          at += 1
          if depth == object.depth + 1 { object.start = -1 }
          if depth <= Self.deepest { sink.endObject() }
          depth -= 1
        } else {
          try unsafe key(base, &at, end, comments, &flaws, depth, &keyCount, &sink)
          continue values
        }
      case UInt8(ascii: "["):
        if open(false, &depth, keyCount, at, &flaws, &sink) { sink.beginArray(at: at) }
        at = try unsafe skipSpace(base, at + 1, end, comments, &flaws)
        if at < end, unsafe base[at] == UInt8(ascii: "]") {
          at += 1
          if depth <= Self.deepest { sink.endArray() }
          depth -= 1
        } else {
          continue values
        }
      case UInt8(ascii: "t"):
        try unsafe literal("true", base, at, end)
        if depth <= Self.deepest { sink.bool(true, at: at) }
        at += 4
      case UInt8(ascii: "f"):
        try unsafe literal("false", base, at, end)
        if depth <= Self.deepest { sink.bool(false, at: at) }
        at += 5
      case UInt8(ascii: "n"):
        try unsafe literal("null", base, at, end)
        if depth <= Self.deepest { sink.null(at: at) }
        at += 4
      default:
        let start = at
        let text = try unsafe Self.number(base, &at, end, &flaws)
        if depth <= Self.deepest { sink.number(text, at: start) }
      }

      // After a value, a comma leads to the next, a bracket ends the container, and at the top level the input must
      // end.
      while true {
        at = try unsafe skipSpace(base, at, end, comments, &flaws)
        if depth == 0 {
          guard at == end else { throw JSONSyntaxError(offset: at) }
          return
        }
        guard at < end else { throw JSONSyntaxError(offset: at) }
        let inObject = unsafe kinds[depth - 1]
        let close = inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        if unsafe base[at] == UInt8(ascii: ",") {
          at = try unsafe skipSpace(base, at + 1, end, comments, &flaws)
          if unsafe !trailingCommas || at == end || base[at] != close {
            if inObject { try unsafe key(base, &at, end, comments, &flaws, depth, &keyCount, &sink) }
            continue values
          }
        }
        guard unsafe base[at] == close else { throw JSONSyntaxError(offset: at) }
        at += 1
        depth -= 1
        guard depth < Self.deepest else { continue }
        if inObject {
          let first = unsafe firstKeys[depth]
          if keyCount - first > Self.pairwise, flaws.duplicateKey == nil {
            flaws.duplicateKey = sortedDuplicate(from: first, to: keyCount)
          }
          keyCount = first
          sink.endObject()
          if Sink.writesBytes, object.start >= 0, depth == object.depth {
            if !flaws.hasAny, flaws.comment == nil {
              unsafe known.keep(
                base + object.start, count: at - object.start, result: sink.bytes(from: object.mark), depth)
            }
            object.start = -1
          }
        } else {
          sink.endArray()
        }
      }
    }
  }

  @inline(__always)
  private mutating func open<Sink: JSONSink & ~Copyable>(
    _ isObject: Bool, _ depth: inout Int, _ keyCount: Int, _ at: Int, _ flaws: inout JSONFlaws, _ sink: inout Sink
  ) -> Bool {
    if depth == kindCapacity { unsafe Self.grow(&kinds, &kindCapacity) }
    unsafe kinds[depth] = isObject
    depth += 1
    if depth <= Self.deepest {
      unsafe firstKeys[depth - 1] = keyCount
      unsafe keyBits[depth - 1] = 0
      return true
    }
    if flaws.tooDeep == nil { flaws.tooDeep = at }
    if depth == Self.deepest + 1 { sink.null(at: at) }
    return false
  }

  private static let ordinaryKeys = 1 << 15

  /// Releases the memory that one huge value required.
  private mutating func shrink() {
    unsafe kinds.deallocate()
    unsafe keys.deallocate()
    (kindCapacity, keyCapacity) = (128, 256)
    unsafe kinds = .allocate(capacity: kindCapacity)
    unsafe keys = .allocate(capacity: keyCapacity)
  }

  /// Doubles the memory.
  @inline(never)
  static func grow<Element>(_ memory: inout UnsafeMutablePointer<Element>, _ capacity: inout Int) {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    unsafe larger.initialize(from: memory, count: capacity)
    unsafe memory.deallocate()
    unsafe memory = larger
    capacity *= 2
  }

  @inline(__always)
  func skipSpace(
    _ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ comments: Bool, _ flaws: inout JSONFlaws
  ) throws(JSONSyntaxError) -> Int {
    var at = start
    while at < end {
      let byte = unsafe base[at]
      if byte > 0x20 {
        guard comments, byte == UInt8(ascii: "/") else { return at }
        at = try unsafe skipComment(base, at, end, &flaws)
        continue
      }
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return at }
      at += 1
    }
    return at
  }

  private func skipComment(
    _ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ flaws: inout JSONFlaws
  ) throws(JSONSyntaxError) -> Int {
    guard start + 1 < end else { throw JSONSyntaxError(offset: start) }
    if flaws.comment == nil { flaws.comment = start }
    var at = start + 2
    switch unsafe base[start + 1] {
    case UInt8(ascii: "/"):
      while at < end, unsafe base[at] != 0x0A { at += 1 }
      return at
    case UInt8(ascii: "*"):
      while at + 1 < end {
        if unsafe base[at] == UInt8(ascii: "*"), unsafe base[at + 1] == UInt8(ascii: "/") { return at + 2 }
        at += 1
      }
      throw JSONSyntaxError(offset: start)
    default:
      throw JSONSyntaxError(offset: start)
    }
  }

  @inline(__always)
  private func literal(
    _ word: StaticString, _ base: UnsafePointer<UInt8>, _ at: Int, _ end: Int
  ) throws(JSONSyntaxError) {
    let count = word.utf8CodeUnitCount
    guard at + count <= end, unsafe compareBytes(base + at, word.utf8Start, count) == 0 else {
      throw JSONSyntaxError(offset: at)
    }
  }
}
