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
    one.string.isIdentical(to: other.string)
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
  public func isIdentical(to other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let fast = unsafe utf8.withContiguousStorageIfAvailable { ours in
      unsafe other.utf8.withContiguousStorageIfAvailable { theirs in
        guard let ours = ours.baseAddress, let theirs = theirs.baseAddress else { return true }
        return unsafe compareBytes(ours, theirs, other.utf8.count) == 0
      }
    }
    return fast.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
  }
}
