internal import CCrypto

/// HMAC with SHA-256 (RFC 2104): a hash that nobody can repeat who does not have the key.
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
