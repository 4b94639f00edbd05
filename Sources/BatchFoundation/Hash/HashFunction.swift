internal import CCrypto

/// An incremental hash. Because it is a value, a hash in progress can be copied and each copy continued separately.
package protocol HashFunction {
  init()
  mutating func update(_ bytes: UnsafeRawBufferPointer)
  /// Returns the digest of all bytes so far and ends the hash.
  consuming func finalize() -> Digest
}

extension HashFunction {
  package mutating func update(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  package mutating func update(_ text: String) {
    var text = text
    text.withUTF8 { unsafe update(UnsafeRawBufferPointer($0)) }
  }

  package static func hash(_ bytes: [UInt8]) -> Digest {
    var hash = Self()
    hash.update(bytes)
    return hash.finalize()
  }

  package static func hash(_ text: String) -> Digest {
    var hash = Self()
    hash.update(text)
    return hash.finalize()
  }
}

/// SHA-256 of FIPS 180-4, 32 bytes. Like every ``HashFunction`` except ``CopySum``, it is computed by libcrypto.
package struct SHA256: HashFunction {
  private var context = SHA256_CTX()

  package init() { unsafe SHA256_Init(&context) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    unsafe SHA256_Update(&context, bytes.baseAddress, bytes.count)
  }

  package consuming func finalize() -> Digest {
    unsafe Digest(count: 32) { unsafe SHA256_Final($0, &context) }
  }
}

/// SHA-1 of FIPS 180-4, 20 bytes; only for version-5 UUIDs, whose definition requires it.
package struct SHA1: HashFunction {
  private var context = SHA_CTX()

  package init() { unsafe SHA1_Init(&context) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    unsafe SHA1_Update(&context, bytes.baseAddress, bytes.count)
  }

  package consuming func finalize() -> Digest {
    unsafe Digest(count: 20) { unsafe SHA1_Final($0, &context) }
  }

  /// The longest message that ``leadingWords(ofShort:_:)`` accepts, in bytes.
  package static let short = 55

  /// Returns the first sixteen bytes of a short message's digest as two words, hashing its only block directly.
  ///
  /// - Parameter write: writes the message of `count` bytes, at most ``short``.
  package static func leadingWords(ofShort count: Int, _ write: (UnsafeMutableRawPointer) -> Void) -> (UInt64, UInt64) {
    precondition(count <= short)
    var hash = SHA1()
    unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { block in
      guard let start = block.baseAddress else { return }
      unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
      unsafe write(start)
      unsafe start.storeBytes(of: 0x80, toByteOffset: count, as: UInt8.self)
      unsafe start.storeBytes(of: UInt64(count * 8).bigEndian, toByteOffset: 56, as: UInt64.self)
      unsafe SHA1_Transform(&hash.context, start.assumingMemoryBound(to: UInt8.self))
    }
    let context = hash.context
    return (UInt64(context.h0) << 32 | UInt64(context.h1), UInt64(context.h2) << 32 | UInt64(context.h3))
  }
}

/// MD5 of RFC 1321, 16 bytes; only where a service requires it.
package struct MD5: HashFunction {
  private var context = MD5_CTX()

  package init() { unsafe MD5_Init(&context) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    unsafe MD5_Update(&context, bytes.baseAddress, bytes.count)
  }

  package consuming func finalize() -> Digest {
    unsafe Digest(count: 16) { unsafe MD5_Final($0, &context) }
  }
}

/// The result of a hash function: 16, 20 or 32 bytes, stored without allocation.
package struct Digest: RandomAccessCollection, Equatable, Sendable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  package let count: Int

  /// - Parameter write: must write `count` bytes.
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

/// HMAC with SHA-256 (RFC 2104): a hash that cannot be computed without the key.
package struct MessageAuthenticationCode: Sendable {
  private let key: [UInt8]

  package init(key: [UInt8]) { self.key = key }

  package func code(for bytes: [UInt8]) -> Digest {
    unsafe Digest(count: 32) { target in
      var count: UInt32 = 32
      unsafe HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, target, &count)
    }
  }
}
