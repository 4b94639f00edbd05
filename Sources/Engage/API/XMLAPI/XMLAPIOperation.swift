import BatchWire
package import EngageRules

/// A typed request to the XMLAPI, with the function that reads its response (reference identity 3).
package struct XMLAPIOperation<Answer: Sendable>: Sendable {
  package let call: OperationCall
  /// Reads a successful result; throws if a field that the next step needs is missing.
  let read: @Sendable (XMLAPIResult) throws(MissingField) -> Answer

  init(
    _ name: String, _ fields: [OperationField], isRepeatable: Bool,
    read: @escaping @Sendable (XMLAPIResult) throws(MissingField) -> Answer
  ) {
    call = OperationCall(name, fields, isRepeatable: isRepeatable)
    self.read = read
  }
}

extension XMLAPIOperation<Void> {
  init(_ name: String, _ fields: [OperationField], isRepeatable: Bool) {
    self.init(name, fields, isRepeatable: isRepeatable) { _ in }
  }
}

/// The error thrown when a successful response lacks a required field; the operation may have been applied.
package struct MissingField: Error, Equatable, Sendable {
  package var name: String

  package init(_ name: String) { self.name = name }
}

package struct OperationCall: Sendable, Hashable {
  package var name: String
  package var fields: [OperationField]
  /// Whether repeating the operation has no further effect. If false, it is not repeated after an empty response, which
  /// may mean a lost session (reference identity 1.3) or an operation that was applied.
  package var isRepeatable: Bool

  package init(_ name: String, _ fields: [OperationField], isRepeatable: Bool) {
    self.name = name
    self.fields = fields
    self.isRepeatable = isRepeatable
  }
}

package indirect enum OperationField: Sendable, Hashable {
  /// Escaped text.
  case text(String, String)
  /// Text in a CDATA section, for values entered by people.
  case value(String, String)
  /// An element with a `name` attribute and a CDATA section, as required in rows of relational tables.
  case named(String, name: String, String)
  /// `<NAME/>`.
  case flag(String)
  case group(String, [OperationField])

  package static func columns(_ columns: [ColumnValue]) -> [OperationField] {
    columns.map { .group("COLUMN", [.text("NAME", $0.name), .value("VALUE", $0.value)]) }
  }

  /// Returns a document with this field as its root.
  ///
  /// - Throws: ``XMLError`` for a character that XML cannot represent.
  package func document() throws -> [UInt8] {
    var writer = XMLWriter()
    try write(to: &writer)
    return writer.bytes
  }

  private func write(to writer: inout XMLWriter) throws {
    switch self {
    case .text(let name, let text): try writer.element(name, text: text)
    case .value(let name, let text): try writer.element(name, cdata: text)
    case .named(let element, let name, let text):
      try writer.element(element, attributes: [XMLAttribute(name: "name", value: name)], cdata: text)
    case .flag(let name): writer.empty(name)
    case .group(let name, let fields):
      try writer.element(name) { inner in
        for field in fields { try field.write(to: &inner) }
      }
    }
  }
}

package enum Envelope {
  /// Returns an envelope with these operations in order.
  ///
  /// - Throws: ``XMLError`` for a character that XML cannot represent.
  package static func bytes(_ calls: [OperationCall]) throws -> [UInt8] {
    let operations = calls.map { $0.fields.isEmpty ? OperationField.flag($0.name) : .group($0.name, $0.fields) }
    return try OperationField.group("Envelope", [.group("Body", operations)]).document()
  }
}
