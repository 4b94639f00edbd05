/// A JSON value that has been read, in the compact form of a tape: unescaped, without white space, and quick to walk.
///
/// Layout of a value: one byte for its kind, then for numbers and strings the length and the bytes, for arrays and objects the
/// length of what is inside. A member of an object is its key (length, bytes) and its value. Lengths are four bytes, unaligned.
/// Numbers keep the text they were written as. The view lives as long as the tape's memory.
package struct JSONView: Sendable {
  package enum Kind: UInt8, Sendable {
    case null, no, yes, number, string, array, object
  }

  // Read-only memory whose owner outlives the view.
  package nonisolated(unsafe) let start: UnsafeRawPointer

  @inlinable
  package init(at start: UnsafeRawPointer) { self.start = start }

  @inlinable
  package var kind: Kind { Kind(rawValue: start.load(as: UInt8.self)) ?? .null }

  @inlinable
  var length: Int { Int(start.loadUnaligned(fromByteOffset: 1, as: UInt32.self)) }

  /// Bytes that the value takes on the tape.
  @inlinable
  package var size: Int { kind.rawValue < Kind.number.rawValue ? 1 : 5 + length }

  /// The text of a string; nil for any other kind.
  @inlinable
  package var string: Text? { kind == .string ? content : nil }

  /// A number as it was written; nil for any other kind.
  @inlinable
  package var number: Text? { kind == .number ? content : nil }

  @inlinable
  package var bool: Bool? {
    switch kind {
    case .yes: true
    case .no: false
    default: nil
    }
  }

  @inlinable
  package var isNull: Bool { kind == .null }

  @inlinable
  var content: Text { Text(base: (start + 5).assumingMemoryBound(to: UInt8.self), count: length) }

  /// The elements of an array, in order; none for any other kind.
  @inlinable
  package var elements: Elements { Elements(kind == .array ? (start + 5, start + 5 + length) : (start, start)) }

  /// The members of an object, in the order of the text; none for any other kind.
  @inlinable
  package var members: Members { Members(kind == .object ? (start + 5, start + 5 + length) : (start, start)) }

  /// The value of a key of an object; nil if there is none.
  @inlinable
  package subscript(key: Text) -> JSONView? {
    var members = members
    while let member = members.next() {
      if member.key == key { return member.value }
    }
    return nil
  }

  package struct Elements: Sequence, IteratorProtocol {
    @usableFromInline var at: UnsafeRawPointer
    @usableFromInline let end: UnsafeRawPointer

    @inlinable
    init(_ bounds: (UnsafeRawPointer, UnsafeRawPointer)) { (at, end) = bounds }

    @inlinable
    package mutating func next() -> JSONView? {
      guard at < end else { return nil }
      let view = JSONView(at: at)
      at += view.size
      return view
    }
  }

  package struct Members: Sequence, IteratorProtocol {
    @usableFromInline var at: UnsafeRawPointer
    @usableFromInline let end: UnsafeRawPointer

    @inlinable
    init(_ bounds: (UnsafeRawPointer, UnsafeRawPointer)) { (at, end) = bounds }

    @inlinable
    package mutating func next() -> (key: Text, value: JSONView)? {
      guard at < end else { return nil }
      let count = Int(at.loadUnaligned(as: UInt32.self))
      let key = Text(base: (at + 4).assumingMemoryBound(to: UInt8.self), count: count)
      let value = JSONView(at: at + 4 + count)
      at += 4 + count + value.size
      return (key, value)
    }
  }
}
