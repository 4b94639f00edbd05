/// A parsed JSON value in the compact format of a ``JSONTape``: unescaped, without white space, and quick to traverse.
///
/// A value starts with one byte for its kind. For numbers and strings, a short length and the bytes follow; for arrays
/// and objects, the length of the contents in four bytes and the contents. A member of an object is its key (short
/// length, bytes), followed by its value. A short length is one byte, or 255 and four more bytes. Nothing is aligned.
/// Numbers keep their original text. The memory of the tape must outlive the view.
@safe public struct JSONView: Sendable {
  public enum Kind: UInt8, Sendable {
    case null, no, yes, number, string, array, object
  }

  // Read-only memory whose owner outlives the view.
  public nonisolated(unsafe) let start: UnsafeRawPointer

  @inlinable @inline(__always)
  public init(at start: UnsafeRawPointer) { unsafe self.start = unsafe start }

  @inlinable @inline(__always)
  public var kind: Kind { unsafe Kind(rawValue: start.load(as: UInt8.self)) ?? .null }

  /// Reads a text that is preceded by its short length, and returns the text and its end.
  @inlinable @inline(__always)
  public static func shortText(at start: UnsafeRawPointer) -> (text: Text, end: UnsafeRawPointer) {
    var count = unsafe Int(start.load(as: UInt8.self))
    var base = unsafe start + 1
    if count == 255 {
      count = unsafe Int(base.loadUnaligned(as: UInt32.self))
      unsafe base += 4
    }
    return unsafe (Text(base: base.assumingMemoryBound(to: UInt8.self), count: count), base + count)
  }

  @inlinable @inline(__always)
  public var end: UnsafeRawPointer {
    switch unsafe start.load(as: UInt8.self) {
    case Kind.null.rawValue, Kind.no.rawValue, Kind.yes.rawValue: unsafe start + 1
    case Kind.number.rawValue, Kind.string.rawValue: unsafe Self.shortText(at: start + 1).end
    default: unsafe start + 5 + Int(start.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
    }
  }

  /// The size of the value on the tape in bytes.
  @inlinable @inline(__always)
  public var size: Int { unsafe end - start }

  /// The text of a string; nil for any other kind.
  @inlinable @inline(__always)
  public var string: Text? { kind == .string ? content : nil }

  /// The number as written; nil for any other kind.
  @inlinable @inline(__always)
  public var number: Text? { kind == .number ? content : nil }

  @inlinable @inline(__always)
  public var bool: Bool? {
    switch kind {
    case .yes: true
    case .no: false
    default: nil
    }
  }

  @inlinable @inline(__always)
  public var isNull: Bool { kind == .null }

  @inlinable @inline(__always)
  var content: Text { unsafe Self.shortText(at: start + 1).text }

  /// The elements of an array, in order; none for any other kind.
  @inlinable @inline(__always)
  public var elements: Elements { unsafe Elements(kind == .array ? (start + 5, end) : (start, start)) }

  /// The members of an object, in the order of the document; none for any other kind.
  @inlinable @inline(__always)
  public var members: Members { unsafe Members(kind == .object ? (start + 5, end) : (start, start)) }

  /// The value of a key; nil if there is none, or if this is not an object.
  @inlinable @inline(__always)
  public subscript(key: Text) -> JSONView? {
    var members = members
    while let member = members.next() {
      if member.key == key { return member.value }
    }
    return nil
  }

  @safe public struct Elements: Sequence, IteratorProtocol {
    @usableFromInline var at: UnsafeRawPointer
    @usableFromInline let end: UnsafeRawPointer

    @inlinable @inline(__always)
    init(_ bounds: (UnsafeRawPointer, UnsafeRawPointer)) { unsafe (at, end) = unsafe bounds }

    @inlinable @inline(__always)
    public mutating func next() -> JSONView? {
      guard unsafe at < end else { return nil }
      let view = unsafe JSONView(at: at)
      unsafe at = view.end
      return view
    }
  }

  @safe public struct Members: Sequence, IteratorProtocol {
    @usableFromInline var at: UnsafeRawPointer
    @usableFromInline let end: UnsafeRawPointer

    @inlinable @inline(__always)
    init(_ bounds: (UnsafeRawPointer, UnsafeRawPointer)) { unsafe (at, end) = unsafe bounds }

    @inlinable @inline(__always)
    public mutating func next() -> (key: Text, value: JSONView)? {
      guard unsafe at < end else { return nil }
      let (key, valueStart) = unsafe JSONView.shortText(at: at)
      let value = unsafe JSONView(at: valueStart)
      unsafe at = value.end
      return (key, value)
    }
  }
}

extension Text {
  /// Writes the text, preceded by its short length of at most five bytes, in the format that
  /// ``JSONView/shortText(at:)`` reads.
  ///
  /// - Returns: the end of the written bytes.
  @inlinable @inline(__always)
  public func writeShort(to start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    var at = unsafe start
    if count < 255 {
      unsafe at.storeBytes(of: UInt8(truncatingIfNeeded: count), as: UInt8.self)
      unsafe at += 1
    } else {
      unsafe at.storeBytes(of: 255, as: UInt8.self)
      unsafe (at + 1).storeBytes(of: UInt32(truncatingIfNeeded: count), as: UInt32.self)
      unsafe at += 5
    }
    unsafe copyBytes(base, to: at, count)
    return unsafe at + count
  }
}
