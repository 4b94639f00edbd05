package import BatchFoundation

/// Consecutive lines in canonical form (reference decisions 46): members are sorted by the UTF-8 bytes of their names,
/// there is no white space, strings have the fewest possible escapes, and numbers are as written.
///
/// Each line's parsed values are kept next to it, so that it need not be parsed again.
package struct CanonicalLines: ~Copyable {
  struct Line {
    fileprivate var bytes: Range<Int>
    /// The start of the line's parsed values; nil if the line must be parsed.
    fileprivate var values: Int?
  }

  package struct Place {
    fileprivate var bytes: Int
    fileprivate var values: Int
  }

  private var bytes = ByteBuffer(capacity: 64)
  private var values = ByteBuffer(capacity: 64)
  private var depth = 0
  /// The greatest depth of the current line.
  private var deepest = 0

  @inline(__always)
  package var end: Place { Place(bytes: bytes.count, values: values.count) }

  /// Removes everything written after a place.
  @inline(__always)
  package mutating func truncate(to place: Place) {
    bytes.truncate(to: place.bytes)
    values.truncate(to: place.values)
  }

  mutating func removeAll() { truncate(to: Place(bytes: 0, values: 0)) }

  mutating func line(from start: Place, isToBeRead: Bool) -> Line {
    let mayBeDeep = deepest > JSONReader.deepest
    deepest = 0
    return Line(bytes: start.bytes..<bytes.count, values: isToBeRead || mayBeDeep ? nil : start.values)
  }

  func bytes(of line: Line) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(rebasing: bytes.bytes[line.bytes])
  }

  /// Returns the parsed values; nil for a line that must be parsed.
  func values(of line: Line) -> JSONView? { line.values.map { unsafe JSONView(at: values.base + $0) } }
}

extension CanonicalLines {
  package mutating func beginObject() -> Place { begin(.object) }

  /// - Parameter isAlwaysThere: whether to write the object even if it has no members.
  /// - Returns: whether the object was written.
  package mutating func endObject(_ start: Place, isAlwaysThere: Bool) -> Bool {
    let isThere = isAlwaysThere || bytes.count > start.bytes
    end(start, UInt8(ascii: "{"), UInt8(ascii: "}"))
    if !isThere { truncate(to: start) }
    return isThere
  }

  /// Appends the name of a member.
  ///
  /// - Parameters:
  ///   - quoted: the name with the comma before and the colon after it.
  ///   - key: the name, preceded by its short length (see ``JSONView``).
  @inline(__always)
  package mutating func append(name quoted: Text, key: Text) {
    bytes.append(quoted)
    values.append(key)
  }

  package mutating func append(name: Text) {
    bytes.append(UInt8(ascii: ","))
    CanonicalJSON.appendString(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    values.append(short: name)
  }

  package mutating func append(string text: Text) {
    CanonicalJSON.appendString(text, to: &bytes)
    values.append(.string, short: text)
  }

  package mutating func append(number text: Text) {
    bytes.append(text)
    values.append(.number, short: text)
  }

  package mutating func append(_ flag: Bool) {
    bytes.append(flag ? "true" : "false")
    values.append((flag ? JSONView.Kind.yes : .no).rawValue)
  }

  /// Appends a value. Null members are omitted, but null elements are kept (reference decisions 69).
  package mutating func append(_ value: JSONView) {
    switch value.kind {
    case .null:
      bytes.append("null")
      values.append(JSONView.Kind.null.rawValue)
    case .no: append(false)
    case .yes: append(true)
    case .number: append(number: value.number ?? .empty)
    case .string: append(string: value.string ?? .empty)
    case .array: append(elements: value.elements)
    case .object:
      let start = begin(.object)
      if Self.hasOrderedMembers(value) {
        var members = value.members
        while let (name, member) = members.next() {
          if member.isNull { continue }
          append(name: name)
          append(member)
        }
      } else {
        for (name, member) in value.members.sorted(by: { $0.key < $1.key }) where !member.isNull {
          append(name: name)
          append(member)
        }
      }
      end(start, UInt8(ascii: "{"), UInt8(ascii: "}"))
    }
  }

  package mutating func append(elements: some Sequence<JSONView>) {
    let start = begin(.array)
    for element in elements {
      bytes.append(UInt8(ascii: ","))
      append(element)
    }
    end(start, UInt8(ascii: "["), UInt8(ascii: "]"))
  }

  private static func hasOrderedMembers(_ object: JSONView) -> Bool {
    var last = Text.empty
    var members = object.members
    while let (name, _) = members.next() {
      if name < last { return false }
      last = name
    }
    return true
  }

  private mutating func begin(_ kind: JSONView.Kind) -> Place {
    let start = end
    depth += 1
    deepest = max(deepest, depth)
    values.append(kind.rawValue)
    // Reserves space for the length.
    unsafe values.append(limit: 4) { _ in 4 }
    return start
  }

  /// Ends an object or array. Each member and element has a leading comma; the bracket overwrites the first one.
  private mutating func end(_ start: Place, _ open: UInt8, _ close: UInt8) {
    depth -= 1
    if bytes.count == start.bytes { bytes.append(open) } else { unsafe bytes.base[start.bytes] = open }
    bytes.append(close)
    let count = UInt32(truncatingIfNeeded: values.count - start.values - 5)
    unsafe UnsafeMutableRawPointer(values.base + start.values + 1).storeBytes(of: count, as: UInt32.self)
  }
}

extension ByteBuffer {
  /// Appends the short length of a text and the text (see ``JSONView``).
  @inline(__always)
  package mutating func append(short text: Text) {
    unsafe append(limit: 5 + text.count) { start in
      unsafe text.writeShort(to: start) - UnsafeMutableRawPointer(start)
    }
  }

  @inline(__always)
  fileprivate mutating func append(_ kind: JSONView.Kind, short text: Text) {
    unsafe append(limit: 6 + text.count) { start in
      unsafe start[0] = kind.rawValue
      return unsafe text.writeShort(to: start + 1) - UnsafeMutableRawPointer(start)
    }
  }
}
