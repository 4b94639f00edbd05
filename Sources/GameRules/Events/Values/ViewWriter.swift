package import BatchFoundation

/// Writes values in the layout of ``JSONView``, one after another, into memory that is known to be large enough. The
/// length of a container is filled in by ``end(_:)``.
@safe package struct ViewWriter {
  package private(set) var at: UnsafeMutableRawPointer

  package init(at start: UnsafeMutableRawPointer) { unsafe at = unsafe start }

  /// Returns an upper bound for the size in bytes of a text with `count` bytes that is written as a key or a value.
  @inline(__always)
  package static func bound(_ count: Int) -> Int { count + 6 }

  /// The size of an empty object or array in bytes.
  package static let container = 5

  @inline(__always)
  package mutating func key(_ text: Text) { put(text) }

  @inline(__always)
  package mutating func string(_ text: Text) {
    put(.string)
    put(text)
  }

  /// Writes a string member of an object; nothing if the text is nil.
  @inline(__always)
  mutating func member(_ name: Text, _ text: Text?) {
    guard let text else { return }
    key(name)
    string(text)
  }

  /// - Parameter text: the text of a JSON number.
  @inline(__always)
  package mutating func number(_ text: Text) {
    put(.number)
    put(text)
  }

  @inline(__always)
  package mutating func bool(_ value: Bool) { put(value ? .yes : .no) }

  /// Copies a value with all nested values.
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

/// Writes values as events carry them: without dropped members, and with names sorted by bytes at every depth
/// (reference deltadna 2 and 5). Numbers and strings are unchanged. Array elements are kept unless ``dropsEmptied`` is
/// set.
package struct CanonicalView {
  /// Whether members whose value is `""` are dropped, like those with null (`DeltaDNA.dropEmpty`).
  package var dropsEmpty: Bool

  /// Whether values are dropped from arrays too, and containers are dropped if all their values are (reference unity
  /// 4).
  package var dropsEmptied = false

  @inline(__always)
  package func drops(_ value: JSONView) -> Bool {
    switch value.kind {
    case .null: true
    case .string: dropsEmpty && value.string?.isEmpty == true
    case .object, .array: dropsEmptied && hasNothing(value)
    default: false
    }
  }

  private func hasNothing(_ container: JSONView) -> Bool {
    container.elements.allSatisfy { drops($0) } && container.members.allSatisfy { drops($0.value) }
  }

  /// Writes the value; the result has at most as many bytes as the original.
  @inline(__always)
  package func write(_ value: JSONView, to writer: inout ViewWriter) {
    switch value.kind {
    case .object, .array: writeContainer(value, to: &writer)
    default: writer.copy(value)
    }
  }

  private func writeContainer(_ container: JSONView, to writer: inout ViewWriter) {
    let place = unsafe writer.begin(container.kind)
    for element in container.elements where !dropsEmptied || !drops(element) { write(element, to: &writer) }
    let (count, areOrdered) = members(of: container)
    if areOrdered {
      for (key, value) in container.members where !drops(value) {
        writer.key(key)
        write(value, to: &writer)
      }
    } else {
      var kept: [(key: Text, value: JSONView)] = []
      kept.reserveCapacity(count)
      for member in container.members where !drops(member.value) { kept.append(member) }
      kept.sortNearlySorted { $0.key < $1.key }
      for (key, value) in kept {
        writer.key(key)
        write(value, to: &writer)
      }
    }
    unsafe writer.end(place)
  }

  /// Returns the number of members and whether their names are in ascending order, in one pass.
  private func members(of object: JSONView) -> (count: Int, areOrdered: Bool) {
    var (count, areOrdered) = (0, true)
    var last = Text.empty
    for (key, _) in object.members {
      if count > 0, !(last < key) { areOrdered = false }
      last = key
      count += 1
    }
    return (count, areOrdered)
  }
}
