/// A view of UTF-8 text in memory owned by something else: a partition of records, an arena, or a literal in the
/// program.
///
/// Before delivery, a run processes a million records a second, so their text is never copied into `String`s.
/// A `Text` read from a partition of records points into the partition's memory, and one derived by the rules
/// points into an arena; neither may outlive that memory. Data that lives longer (device states, stored
/// events) is written out as bytes.
///
/// Equality and order are by bytes, never by Unicode equivalence (reference decisions 11).
@safe public struct Text: Sendable {
  // Read-only memory whose owner outlives the view; nothing is ever written through it.
  public nonisolated(unsafe) let base: UnsafePointer<UInt8>
  public let count: Int

  @inlinable @inline(__always)
  public init(base: UnsafePointer<UInt8>, count: Int) {
    unsafe self.base = base
    self.count = count
  }

  /// Creates a view of a buffer; without memory, it is empty.
  @inlinable @inline(__always)
  public init(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let base = bytes.baseAddress else {
      self = .empty
      return
    }
    unsafe self.init(base: base, count: bytes.count)
  }

  /// Creates a view of a literal, which lives as long as the program.
  @inlinable @inline(__always)
  public init(_ literal: StaticString) {
    unsafe self.init(base: literal.utf8Start, count: literal.utf8CodeUnitCount)
  }

  /// Makes a copy that is never freed, for names that the program creates once.
  public init(permanent string: String) {
    var string = string
    self = string.withUTF8 { bytes in
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
      if let base = bytes.baseAddress { unsafe copy.update(from: base, count: bytes.count) }
      return unsafe Text(base: copy, count: bytes.count)
    }
  }

  /// The empty text, which is also the value of a missing id or attribute (reference decisions 3).
  @inlinable @inline(__always) public static var empty: Text { Text("") }

  @inlinable @inline(__always) public var isEmpty: Bool { count == 0 }

  @inlinable @inline(__always)
  public subscript(index: Int) -> UInt8 {
    assert(index >= 0 && index < count)
    return unsafe base[index]
  }

  @inlinable @inline(__always) public var bytes: UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: base, count: count)
  }

  /// Returns the bytes from `start` up to but not including `end`.
  @inlinable @inline(__always)
  public func slice(_ start: Int, _ end: Int) -> Text {
    assert(start >= 0 && start <= end && end <= count)
    return unsafe Text(base: base + start, count: end - start)
  }
}

extension Text: Sequence {
  @safe public struct Iterator: IteratorProtocol {
    @usableFromInline var at: UnsafePointer<UInt8>
    @usableFromInline let end: UnsafePointer<UInt8>

    @inlinable @inline(__always)
    init(_ text: Text) {
      unsafe at = text.base
      unsafe end = text.base + text.count
    }

    @inlinable @inline(__always)
    public mutating func next() -> UInt8? {
      guard unsafe at < end else { return nil }
      defer { unsafe at += 1 }
      return unsafe at.pointee
    }
  }

  @inlinable @inline(__always) public var underestimatedCount: Int { count }

  @inlinable @inline(__always) public func makeIterator() -> Iterator { Iterator(self) }
}

extension Text: Equatable, Hashable, Comparable {
  @inlinable @inline(__always)
  public static func == (one: Text, other: Text) -> Bool {
    unsafe one.count == other.count && (one.base == other.base || equalBytes(one.base, other.base, one.count))
  }

  /// Returns whether both refer to the same memory; false for equal texts in different places.
  @inlinable @inline(__always)
  public func isSameMemory(as other: Text) -> Bool { unsafe base == other.base && count == other.count }

  @inlinable @inline(__always)
  public static func < (one: Text, other: Text) -> Bool {
    // Names usually differ in their first byte, and comparing it costs less than a call.
    if one.count > 0, other.count > 0, one[0] != other[0] { return one[0] < other[0] }
    let order = unsafe compareBytes(one.base, other.base, Swift.min(one.count, other.count))
    return order == 0 ? one.count < other.count : order < 0
  }

  @inlinable @inline(__always)
  public func hash(into hasher: inout Hasher) { unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
}

extension Text: ExpressibleByStringLiteral, CustomStringConvertible {
  @inlinable @inline(__always)
  public init(stringLiteral literal: StaticString) { self.init(literal) }

  public var description: String { unsafe String(decoding: bytes, as: UTF8.self) }
}

extension String {
  /// Passes the UTF-8 bytes to `body` as a text that must not outlive the call.
  public func withText<Result>(_ body: (Text) throws -> Result) rethrows -> Result {
    var copy = self
    return try copy.withUTF8 { try unsafe body(Text($0)) }
  }
}

extension [UInt8] {
  /// Passes these bytes to `body` as a text that must not outlive the call.
  public func withText<Result>(_ body: (Text) throws -> Result) rethrows -> Result {
    try unsafe withUnsafeBufferPointer { try unsafe body(Text($0)) }
  }
}

extension Text {
  /// Returns whether both have the same bytes, ignoring the case of ASCII letters.
  @inlinable
  public func isEqualIgnoringASCIICase(to other: some Sequence<UInt8>) -> Bool {
    elementsEqual(other) { Self.lowered($0) == Self.lowered($1) }
  }

  @inlinable @inline(__always)
  public static func lowered(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
}

/// A text for comparisons that ignore the case of ASCII letters, and white space at either end.
package struct FoldedText: Hashable, Sendable {
  package let bytes: [UInt8]

  package init(_ text: String) { self.init(Array(text.utf8)) }

  package init(_ text: Text) { self.init(unsafe Array(text.bytes)) }

  private init(_ text: [UInt8]) { bytes = text.trimming(while: \.isASCIIWhitespace).map(Text.lowered) }
}

public struct Attribute {
  public var name: Text
  public var value: Text

  @inlinable
  public init(_ name: Text, _ value: Text) {
    self.name = name
    self.value = value
  }
}
