/// Text that is compared byte by byte.
///
/// `String` calls differently composed forms of one character equal; the service does not, and neither may the sandbox when it
/// looks recipients up (reference decisions 11).
package struct ExactText: Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }

  package static var empty: ExactText { ExactText("") }

  package var isEmpty: Bool { string.utf8.isEmpty }
}

extension ExactText: Hashable, Comparable {
  package static func == (one: ExactText, other: ExactText) -> Bool {
    one.string.utf8.elementsEqual(other.string.utf8)
  }

  package static func < (one: ExactText, other: ExactText) -> Bool {
    one.string.utf8.lexicographicallyPrecedes(other.string.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension ExactText: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral literal: String) { self.init(literal) }

  package var description: String { string }
}

extension ExactText: Codable, CodingKeyRepresentable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(string)
  }

  package var codingKey: any CodingKey { Key(stringValue: string) }

  package init?<Other: CodingKey>(codingKey: Other) { self.init(codingKey.stringValue) }
}
