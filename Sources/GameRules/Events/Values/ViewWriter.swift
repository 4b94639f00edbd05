package import BatchFoundation

/// Writes values as ``JSONView``s, one after another, into memory that is known to be large enough. The layout is that
/// of ``JSONView``; a container's length is filled in by ``end(_:)``.
@safe package struct ViewWriter {
  package private(set) var at: UnsafeMutableRawPointer

  package init(at start: UnsafeMutableRawPointer) { unsafe at = unsafe start }

  /// Returns the largest number of bytes that a text of `count` bytes takes as a key or a value.
  @inline(__always)
  package static func bound(_ count: Int) -> Int { count + 6 }

  /// The bytes of an empty object or array.
  package static let container = 5

  @inline(__always)
  package mutating func key(_ text: Text) { put(text) }

  @inline(__always)
  package mutating func string(_ text: Text) {
    put(.string)
    put(text)
  }

  /// Writes a text as a member of an object; nothing if it is nil.
  @inline(__always)
  mutating func member(_ name: Text, _ text: Text?) {
    guard let text else { return }
    key(name)
    string(text)
  }

  /// - Parameter text: a number as JSON writes it.
  @inline(__always)
  package mutating func number(_ text: Text) {
    put(.number)
    put(text)
  }

  @inline(__always)
  package mutating func bool(_ value: Bool) { put(value ? .yes : .no) }

  /// Copies a value with everything inside.
  @inline(__always)
  package mutating func copy(_ view: JSONView) {
    let size = view.size
    unsafe copyBytes(view.start, to: at, size)
    unsafe at += size
  }

  /// Starts an object or an array; returns the argument for ``end(_:)``.
  @inline(__always)
  package mutating func begin(_ kind: JSONView.Kind) -> UnsafeMutableRawPointer {
    put(kind)
    let place = unsafe at
    unsafe at += 4
    return unsafe place
  }

  @inline(__always)
  package mutating func end(_ place: UnsafeMutableRawPointer) {
    unsafe place.storeBytes(of: UInt32(truncatingIfNeeded: at - place - 4), as: UInt32.self)
  }

  @inline(__always)
  private mutating func put(_ kind: JSONView.Kind) {
    unsafe at.storeBytes(of: kind.rawValue, as: UInt8.self)
    unsafe at += 1
  }

  @inline(__always)
  private mutating func put(_ text: Text) { unsafe at = text.writeShort(to: at) }
}
