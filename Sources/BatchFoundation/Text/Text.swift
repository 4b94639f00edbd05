/// UTF-8 text in memory that somebody else keeps alive: a record batch, an arena, or a literal of the program.
///
/// The local part of a run looks at a million records a second, so their text is never copied into `String`s. A partition of
/// records owns one block of memory; everything read from it, and everything the rules derive from it, is a `Text` into that
/// memory and dies with it. What has to live longer (device state, stored events) is written out as bytes.
///
/// Equality and order are those of the bytes, never Unicode equivalence (reference decisions 11).
package struct Text: Sendable {
  // Read-only memory whose owner outlives the view; nothing is ever written through it.
  package nonisolated(unsafe) let base: UnsafePointer<UInt8>
  package let count: Int

  @inlinable @inline(__always)
  package init(base: UnsafePointer<UInt8>, count: Int) {
    self.base = base
    self.count = count
  }

  /// The text of a literal, which lives as long as the program.
  @inlinable @inline(__always)
  package init(_ literal: StaticString) {
    self.init(base: literal.utf8Start, count: literal.utf8CodeUnitCount)
  }

  /// Text of no characters; also what a missing id or attribute counts as (reference decisions 3).
  @inlinable @inline(__always) package static var empty: Text { Text("") }

  @inlinable @inline(__always) package var isEmpty: Bool { count == 0 }

  @inlinable @inline(__always)
  package subscript(index: Int) -> UInt8 { base[index] }

  @inlinable @inline(__always) package var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: base, count: count)
  }

  /// The part from `start` up to, not including, `end`, as offsets in bytes.
  @inlinable @inline(__always)
  package func slice(_ start: Int, _ end: Int) -> Text { Text(base: base + start, count: end - start) }
}

extension Text: Equatable, Hashable, Comparable {
  @inlinable @inline(__always)
  package static func == (one: Text, other: Text) -> Bool {
    one.count == other.count && (one.base == other.base || compareBytes(one.base, other.base, one.count) == 0)
  }

  @inlinable @inline(__always)
  package static func < (one: Text, other: Text) -> Bool {
    let order = compareBytes(one.base, other.base, min(one.count, other.count))
    return order == 0 ? one.count < other.count : order < 0
  }

  @inlinable @inline(__always)
  package func hash(into hasher: inout Hasher) { hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
}

extension Text: ExpressibleByStringLiteral, CustomStringConvertible {
  @inlinable @inline(__always)
  package init(stringLiteral literal: StaticString) { self.init(literal) }

  package var description: String { String(decoding: bytes, as: UTF8.self) }
}
