internal import CCrypto

/// A hash of bytes that come piece by piece, computed by libcrypto; a value, so that a started one may be copied and continued twice.
package protocol HashFunction {
  init()
  mutating func update(_ bytes: UnsafeRawBufferPointer)
  /// The digest of all bytes so far; the hash itself cannot be continued afterwards.
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

/// FIPS 180-4, 32 bytes.
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

/// FIPS 180-4, 20 bytes. Only for UUIDs of version 5, which are defined by it.
package struct SHA1: HashFunction {
  private var context = SHA_CTX()

  package init() { unsafe SHA1_Init(&context) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    unsafe SHA1_Update(&context, bytes.baseAddress, bytes.count)
  }

  package consuming func finalize() -> Digest {
    unsafe Digest(count: 20) { unsafe SHA1_Final($0, &context) }
  }
}

/// RFC 1321, 16 bytes. Only where a service prescribes it.
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
