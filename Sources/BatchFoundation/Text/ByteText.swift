/// Owned text, compared by its UTF-8 bytes (reference decisions 11); ids and column names are keyed and compared by it.
/// `String` treats canonically equivalent texts as equal, the service does not.
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
  /// Returns whether both have the same bytes, not merely canonical equivalence.
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
