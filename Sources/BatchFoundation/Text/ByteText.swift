/// Owned text that is equal to another only if its UTF-8 bytes are (reference decisions 11).
///
/// `String` calls differently composed forms of one character equal, the service does not: whoever keys or compares ids and
/// column names goes through this type.
package struct ByteText: Codable, Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }
}

extension ByteText: Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
  package static func == (one: ByteText, other: ByteText) -> Bool {
    one.string.utf8.elementsEqual(other.string.utf8)
  }

  package static func < (one: ByteText, other: ByteText) -> Bool {
    one.string.utf8.lexicographicallyPrecedes(other.string.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  package init(stringLiteral literal: String) { self.init(literal) }

  package var description: String { string }
}

extension String {
  /// Whether both are the same bytes, not merely canonically equivalent.
  package func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
