/// A configuration or job document, whether it was JSON or a property list: values with the lines they stand in.
package struct DocumentNode: Sendable {
  package enum Value: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number as it is written; only an integer literal is an integer.
    case number(String)
    case string(String)
    case array([DocumentNode])
    case dictionary([DocumentMember])
    /// A property list's date, as it is written.
    case date(String)
    /// A property list's bytes; no setting takes any.
    case data
  }

  package var value: Value
  /// Counted from 1; nil where there is no document, as on the command line.
  package var line: Int?
  /// Variables of the environment that its text was made with.
  package var variables: [NamedVariable] = []

  package init(_ value: Value, line: Int? = nil) {
    self.value = value
    self.line = line
  }

  /// The variables of the value and of all within it.
  var allVariables: [NamedVariable] {
    switch value {
    case .array(let elements): elements.flatMap(\.allVariables)
    case .dictionary(let members): members.flatMap(\.node.allVariables)
    default: variables
    }
  }

  /// The text as a boolean, where a variable stands in the place of one.
  var variableFlag: Bool? {
    guard !variables.isEmpty, case .string(let text) = value else { return nil }
    return text == "true" ? true : text == "false" ? false : nil
  }

  /// What a value is called in messages.
  package var kind: String {
    switch value {
    case .null: "null"
    case .boolean: "a boolean"
    case .number(let text): Int64(text) == nil ? "a number" : "an integer"
    case .string: "a string"
    case .array: "an array"
    case .dictionary: "a dictionary"
    case .date: "a date"
    case .data: "data"
    }
  }
}

package struct DocumentMember: Sendable {
  package var key: String
  /// The line of the key.
  package var line: Int?
  package var node: DocumentNode

  package init(key: String, line: Int? = nil, node: DocumentNode) {
    self.key = key
    self.line = line
    self.node = node
  }
}

/// Equal by key and value, wherever they stand.
extension DocumentMember: Hashable {
  package static func == (one: DocumentMember, other: DocumentMember) -> Bool {
    one.key.utf8.elementsEqual(other.key.utf8) && one.node == other.node
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(node)
  }
}

/// Equal by value, wherever they stand.
extension DocumentNode: Hashable {
  package static func == (one: DocumentNode, other: DocumentNode) -> Bool { one.value == other.value }
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension DocumentNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral
{
  package init(stringLiteral text: String) { self.init(.string(text)) }
  package init(integerLiteral number: Int64) { self.init(.number(String(number))) }
  package init(booleanLiteral flag: Bool) { self.init(.boolean(flag)) }
  package init(arrayLiteral elements: DocumentNode...) { self.init(.array(elements)) }
}
