/// A JSON document as a tree, for small inputs that people write: configurations, jobs, routes, fault plans, service answers.
///
/// Members keep their order and their places, so that a message can name the line. Records of devices are read into a
/// ``JSONTape`` instead; the grammar is the same one.
package struct JSONNode: Sendable {
  package enum Value: Sendable {
    case null
    case bool(Bool)
    /// The number as it is written.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([JSONMember])
  }

  package var value: Value
  /// Where the value starts, in bytes from the start of the document.
  package var offset: Int

  package init(_ value: Value, offset: Int = 0) {
    self.value = value
    self.offset = offset
  }

  /// The value of a key of an object, by bytes; the last one if it is repeated. Nil for anything that is not an object.
  package subscript(key: String) -> JSONNode? {
    guard case .object(let members) = value else { return nil }
    return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }

  package var string: String? {
    guard case .string(let text) = value else { return nil }
    return text
  }

  package var bool: Bool? {
    guard case .bool(let flag) = value else { return nil }
    return flag
  }

  /// The integer, when the number is written as one and fits.
  package var integer: Int64? {
    guard case .number(let text) = value else { return nil }
    return Int64(text)
  }

  package var double: Double? {
    guard case .number(let text) = value else { return nil }
    return Double(text)
  }

  package var array: [JSONNode]? {
    guard case .array(let elements) = value else { return nil }
    return elements
  }

  package var members: [JSONMember]? {
    guard case .object(let members) = value else { return nil }
    return members
  }

  /// What a value is called in messages.
  package var kind: String {
    switch value {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

package struct JSONMember: Sendable {
  package var key: String
  package var keyOffset: Int
  package var value: JSONNode

  package init(key: String, keyOffset: Int = 0, value: JSONNode) {
    self.key = key
    self.keyOffset = keyOffset
    self.value = value
  }
}

/// Liberties that a document may take; none by default.
package struct JSONOptions: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// `//` and `/* */` count as white space; ``JSONDocument/commentOffset`` tells where the first one stood.
  package static let comments = JSONOptions(rawValue: 1)
  /// Repeated keys are kept as members of their own; ``JSONDocument/duplicateKeyOffset`` tells where the first one stood.
  package static let duplicateKeys = JSONOptions(rawValue: 2)
  /// A comma behind the last member or element is accepted.
  package static let trailingCommas = JSONOptions(rawValue: 4)
}

/// Why a document was refused, and where.
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

  /// The fault in words, without the place.
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

/// A parsed document with what a linter wants to know about its writing.
package struct JSONDocument {
  package var root: JSONNode
  package var commentOffset: Int?
  package var duplicateKeyOffset: Int?
}

extension JSONNode {
  /// Reads a whole document; a byte order mark at its start is skipped.
  package static func parse(_ bytes: [UInt8], options: JSONOptions = []) throws(JSONError) -> JSONNode {
    try document(bytes, options: options).root
  }

  package static func document(_ bytes: [UInt8], options: JSONOptions = []) throws(JSONError) -> JSONDocument {
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    var result: Result<JSONDocument, JSONError> = .failure(.syntax(offset: 0))
    unsafe bytes.withUnsafeBufferPointer { all in
      result = unsafe read(UnsafeBufferPointer(rebasing: all[mark...]), options, mark)
    }
    return try result.get()
  }

  private static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, _ options: JSONOptions, _ shift: Int
  ) -> Result<JSONDocument, JSONError> {
    if let offset = unsafe firstInvalidUTF8(bytes) { return .failure(.invalidUTF8(offset: offset + shift)) }
    var reader = JSONReader()
    var tree = JSONTreeBuilder(shift: shift)
    let flaws: JSONFlaws
    do {
      flaws = try unsafe reader.read(
        bytes, comments: options.contains(.comments), trailingCommas: options.contains(.trailingCommas), into: &tree)
    } catch {
      return .failure(.syntax(offset: error.offset + shift))
    }
    if let offset = flaws.unpairedSurrogate { return .failure(.invalidUTF8(offset: offset + shift)) }
    if let offset = flaws.tooDeep { return .failure(.tooDeep(offset: offset + shift)) }
    if let offset = flaws.duplicateKey, !options.contains(.duplicateKeys) {
      return .failure(.duplicateKey(offset: offset + shift))
    }
    if let offset = flaws.nulCharacter { return .failure(.nulCharacter(offset: offset + shift)) }
    if let offset = flaws.numberOutOfRange { return .failure(.numberOutOfRange(offset: offset + shift)) }
    return .success(
      JSONDocument(
        root: tree.root, commentOffset: flaws.comment.map { $0 + shift },
        duplicateKeyOffset: flaws.duplicateKey.map { $0 + shift }))
  }
}

/// Line and column of an offset, both from 1; the column counts bytes.
package func linePosition(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
  var line = 1
  var start = 0
  for index in bytes.indices.prefix(offset) where bytes[index] == UInt8(ascii: "\n") {
    line += 1
    start = index + 1
  }
  return (line, offset - start + 1)
}

/// Builds the tree from the reader's reports.
private struct JSONTreeBuilder: JSONSink {
  var root = JSONNode(.null)
  let shift: Int

  private struct Open {
    var start: Int
    var offset: Int
    var key = ""
    var keyOffset = 0
  }
  private var open: [Open] = []
  /// The members of all open containers, innermost last; elements of arrays have no key.
  private var pending: [JSONMember] = []

  init(shift: Int) { self.shift = shift }

  private mutating func add(_ node: JSONNode) {
    guard let container = open.last else {
      root = node
      return
    }
    pending.append(JSONMember(key: container.key, keyOffset: container.keyOffset, value: node))
  }

  private mutating func close(_ value: ([JSONMember]) -> JSONNode.Value) {
    guard let container = open.popLast() else { return }
    let members = Array(pending[container.start...])
    pending.removeSubrange(container.start...)
    add(JSONNode(value(members), offset: container.offset))
  }

  mutating func null(at offset: Int) { add(JSONNode(.null, offset: offset + shift)) }
  mutating func bool(_ value: Bool, at offset: Int) { add(JSONNode(.bool(value), offset: offset + shift)) }
  mutating func number(_ text: Text, at offset: Int) {
    add(JSONNode(.number(text.description), offset: offset + shift))
  }
  mutating func string(_ text: Text, at offset: Int) {
    add(JSONNode(.string(text.description), offset: offset + shift))
  }
  mutating func beginObject(at offset: Int) { open.append(Open(start: pending.count, offset: offset + shift)) }
  mutating func key(_ text: Text, at offset: Int) {
    open[open.count - 1].key = text.description
    open[open.count - 1].keyOffset = offset + shift
  }
  mutating func endObject() { close { .object($0) } }
  mutating func beginArray(at offset: Int) { open.append(Open(start: pending.count, offset: offset + shift)) }
  mutating func endArray() { close { .array($0.map(\.value)) } }
}
