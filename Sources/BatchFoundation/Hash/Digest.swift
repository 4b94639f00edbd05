/// What a hash function makes of its bytes: 16, 20 or 32 bytes, held without an allocation.
package struct Digest: RandomAccessCollection, Equatable, Sendable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  package let count: Int

  /// - Parameter write: writes `count` bytes.
  init(count: Int, _ write: (UnsafeMutablePointer<UInt8>?) -> Void) {
    self.count = count
    unsafe withUnsafeMutableBytes(of: &words) { unsafe write($0.bindMemory(to: UInt8.self).baseAddress) }
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package subscript(position: Int) -> UInt8 {
    precondition(position >= 0 && position < count)
    return unsafe withUnsafeBytes { unsafe $0[position] }
  }

  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try unsafe Swift.withUnsafeBytes(of: words) { try unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  package static func == (one: Digest, other: Digest) -> Bool {
    one.count == other.count && one.words == other.words
  }
}
