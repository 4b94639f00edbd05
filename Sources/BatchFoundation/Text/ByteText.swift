/// Owned text that is equal to another only if its UTF-8 bytes are (reference decisions 11).
///
/// `String` calls differently composed forms of one character equal, the service does not: whoever keys or compares ids and
/// column names goes through this type.
public struct ByteText: Codable, Sendable {
  public let string: String

  public init(_ string: String) { self.string = string }
}

extension ByteText: Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
  public static func == (one: ByteText, other: ByteText) -> Bool {
    one.string.utf8.elementsEqual(other.string.utf8)
  }

  public static func < (one: ByteText, other: ByteText) -> Bool {
    one.string.utf8.lexicographicallyPrecedes(other.string.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  public init(stringLiteral literal: String) { self.init(literal) }

  public var description: String { string }
}

extension String {
  /// Whether both are the same bytes, not merely canonically equivalent.
  public func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
