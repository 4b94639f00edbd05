/// A document as a tree, for small JSON files or property lists written by hand and for JSON exchanged with other
/// programs. Members keep their order and position, so that messages can name the line. Device records use a
/// ``JSONTape`` instead, with the same grammar.
package struct JSONNode: Sendable {
  package enum Content: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The number as written; it is an integer only if it is an integer literal.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([JSONMember])
    /// A property list's date as written.
    case date(String)
    /// Already encoded JSON, to be output unchanged.
    case written(String)
  }

  package var value: Content
  /// The start of the value; nil if the value is not from a document.
  package var place: TextPlace?
  /// The environment variables that were expanded in the string.
  package var variables: [NamedVariable] = []

  package init(_ value: Content, at place: TextPlace? = nil) {
    self.value = value
    self.place = place
  }

  /// The line from 1; nil if the value is not from a document but, for example, from the command line.
  package var line: Int? { place?.line }

  /// The value of a key, which is compared by bytes; the last value if the key is repeated. Nil if the key is absent or
  /// this is not an object.
  package subscript(key: String) -> JSONNode? {
    guard case .object(let members) = value else { return nil }
    return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }

  /// Returns the value of a key; nil if it is absent or null.
  package func present(_ key: String) -> JSONNode? { self[key].flatMap { $0.isNull ? nil : $0 } }

  package var isNull: Bool { value == .null }

  /// The string, or the number as written; nil for anything else.
  package var stringOrNumber: String? {
    switch value {
    case .string(let text), .number(let text): text
    default: nil
    }
  }

  /// The string, the number as written, or `true` or `false`; nil for anything else.
  package var scalar: String? {
    switch value {
    case .string(let text), .number(let text): text
    case .bool(let flag): "\(flag)"
    default: nil
    }
  }

  package var string: String? { if case .string(let text) = value { text } else { nil } }
  package var bool: Bool? { if case .bool(let flag) = value { flag } else { nil } }

  /// The integer; nil unless the number is an integer literal that fits 64 bits.
  package var integer: Int64? { if case .number(let text) = value { Int64(text) } else { nil } }
  package var double: Double? { if case .number(let text) = value { Double(text) } else { nil } }
  package var array: [JSONNode]? { if case .array(let elements) = value { elements } else { nil } }
  package var members: [JSONMember]? { if case .object(let members) = value { members } else { nil } }

  /// The name that messages use for the value's kind.
  package var kind: String {
    switch value {
    case .null: "null"
    case .bool: "a boolean"
    case .number(let text): Int64(text) == nil ? "a number" : "an integer"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .date: "a date"
    case .written: "JSON"
    }
  }
}

package struct JSONMember: Sendable {
  package var key: String
  package var place: TextPlace?
  package var value: JSONNode

  package init(key: String, at place: TextPlace? = nil, value: JSONNode) {
    self.key = key
    self.place = place
    self.value = value
  }

  package var line: Int? { place?.line }
}

/// Equality by value, regardless of position.
extension JSONNode: Hashable {
  package static func == (one: JSONNode, other: JSONNode) -> Bool { one.value == other.value }
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// Equality by the bytes of the key and by value, regardless of position.
extension JSONMember: Hashable {
  package static func == (one: JSONMember, other: JSONMember) -> Bool {
    one.key.utf8.elementsEqual(other.key.utf8) && one.value == other.value
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(value)
  }
}

/// An environment variable to which a string in a job or a configuration refers.
package struct NamedVariable: Hashable, Sendable, CustomStringConvertible {
  package var name: String
  /// Whether the default is used because the variable is unset or empty.
  package var usesDefault: Bool

  package init(name: String, usesDefault: Bool) {
    self.name = name
    self.usesDefault = usesDefault
  }

  package var description: String { usesDefault ? "default of \(name)" : "variable \(name)" }
}

/// Permitted deviations from strict JSON; none by default.
package struct JSONOptions: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Treats `//` and `/* */` as white space.
  package static let comments = JSONOptions(rawValue: 1)
  /// Keeps repeated keys as separate members, each with its position.
  package static let duplicateKeys = JSONOptions(rawValue: 2)
  /// Accepts a comma after the last member or element.
  package static let trailingCommas = JSONOptions(rawValue: 4)
  /// Accepts `\u0000`: a link or a table can give an event a value with that character, so what is made of events must
  /// be readable with it.
  package static let nulCharacters = JSONOptions(rawValue: 8)
}

/// The reason a document was refused, with the offset of the problem in bytes.
package enum JSONError: Error, Equatable {
  case invalidUTF8(offset: Int)
  case syntax(offset: Int)
  case tooDeep(offset: Int)
  case duplicateKey(offset: Int)
  case nulCharacter(offset: Int)
  case numberOutOfRange(offset: Int)

  package var offset: Int {
    switch self {
    case .invalidUTF8(let offset), .syntax(let offset), .tooDeep(let offset), .duplicateKey(let offset),
      .nulCharacter(let offset), .numberOutOfRange(let offset):
      offset
    }
  }

  /// The reason in words, without the place.
  package var reason: String {
    switch self {
    case .invalidUTF8: "not valid UTF-8"
    case .syntax: "not valid JSON"
    case .tooDeep: "nested deeper than \(JSONReader.deepest) levels"
    case .duplicateKey: "the same key twice in one object"
    case .nulCharacter: "a NUL character in a string"
    case .numberOutOfRange: "a number beyond the range of a double"
    }
  }
}

extension JSONNode {
  /// Reads a whole document; a byte order mark at its start is skipped.
  ///
  /// - Throws: ``JSONError``; if there are several problems, the most important one.
  package static func parse(_ bytes: [UInt8], options: JSONOptions = []) throws(JSONError) -> JSONNode {
    try document(bytes, options: options).root
  }

  /// - Returns: the root and, for linters, the place of the first comment.
  /// - Throws: ``JSONError``; if there are several problems, the most important one.
  package static func document(
    _ bytes: [UInt8], options: JSONOptions = []
  ) throws(JSONError) -> (root: JSONNode, comment: TextPlace?) {
    let mark = bytes.byteOrderMarkLength
    let lines = LineStarts(bytes)
    return try unsafe bytes.withUnsafeBufferPointer { all throws(JSONError) in
      try unsafe read(UnsafeBufferPointer(rebasing: all[mark...]), options, mark, lines)
    }
  }

  private static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, _ options: JSONOptions, _ shift: Int, _ lines: LineStarts
  ) throws(JSONError) -> (root: JSONNode, comment: TextPlace?) {
    if let offset = unsafe firstInvalidUTF8(bytes) { throw .invalidUTF8(offset: offset + shift) }
    var reader = JSONReader()
    var tree = JSONTreeBuilder(lines: lines, shift: shift)
    let flaws: JSONFlaws
    do {
      flaws = try unsafe reader.read(
        bytes, comments: options.contains(.comments), trailingCommas: options.contains(.trailingCommas), into: &tree)
    } catch {
      throw .syntax(offset: error.offset + shift)
    }
    if let offset = flaws.unpairedSurrogate { throw .invalidUTF8(offset: offset + shift) }
    if let offset = flaws.tooDeep { throw .tooDeep(offset: offset + shift) }
    if let offset = flaws.duplicateKey, !options.contains(.duplicateKeys) {
      throw .duplicateKey(offset: offset + shift)
    }
    if let offset = flaws.nulCharacter, !options.contains(.nulCharacters) {
      throw .nulCharacter(offset: offset + shift)
    }
    if let offset = flaws.numberOutOfRange { throw .numberOutOfRange(offset: offset + shift) }
    return (tree.root, flaws.comment.map { lines.position(of: $0 + shift) })
  }
}

private struct JSONTreeBuilder: JSONSink {
  var root = JSONNode(.null)
  let lines: LineStarts
  let shift: Int

  struct Open {
    var start: Int
    var place: TextPlace
    var key = ""
    var keyPlace: TextPlace?
  }
  var open: [Open] = []
  /// The members of all open containers, innermost last; array elements have an empty key.
  var pending: [JSONMember] = []

  private func place(_ offset: Int) -> TextPlace { lines.position(of: offset + shift) }

  private mutating func add(_ value: JSONNode.Content, _ place: TextPlace) {
    let node = JSONNode(value, at: place)
    guard let container = open.last else {
      root = node
      return
    }
    pending.append(JSONMember(key: container.key, at: container.keyPlace, value: node))
  }

  private mutating func close(_ value: ([JSONMember]) -> JSONNode.Content) {
    guard let container = open.popLast() else { return }
    let members = Array(pending[container.start...])
    pending.removeSubrange(container.start...)
    add(value(members), container.place)
  }

  mutating func null(at offset: Int) { add(.null, place(offset)) }
  mutating func bool(_ value: Bool, at offset: Int) { add(.bool(value), place(offset)) }
  mutating func number(_ text: Text, at offset: Int) { add(.number(text.description), place(offset)) }
  mutating func string(_ text: Text, at offset: Int) { add(.string(text.description), place(offset)) }
  mutating func beginObject(at offset: Int) { open.append(Open(start: pending.count, place: place(offset))) }
  mutating func key(_ text: Text, at offset: Int) {
    open[open.count - 1].key = text.description
    open[open.count - 1].keyPlace = place(offset)
  }
  mutating func endObject() { close { .object($0) } }
  mutating func beginArray(at offset: Int) { open.append(Open(start: pending.count, place: place(offset))) }
  mutating func endArray() { close { .array($0.map(\.value)) } }
}

/// A place in a document: line and column, both from 1; the column counts bytes.
package struct TextPlace: Hashable, Comparable, Sendable {
  // 32 bits each are enough for any document, and they save memory because a document may have millions of nodes.
  private let lineNumber: UInt32
  private let columnNumber: UInt32

  package init(line: Int, column: Int = 1) {
    lineNumber = UInt32(clamping: line)
    columnNumber = UInt32(clamping: column)
  }

  package var line: Int { Int(lineNumber) }
  package var column: Int { Int(columnNumber) }

  package static func < (one: TextPlace, other: TextPlace) -> Bool {
    (one.line, one.column) < (other.line, other.column)
  }
}

package struct LineStarts: Sendable {
  private let starts: [Int]

  package init(_ bytes: [UInt8]) {
    starts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  package func position(of offset: Int) -> TextPlace {
    let line = starts.place { $0 <= offset }
    return TextPlace(line: line, column: offset - starts[line - 1] + 1)
  }
}
