/// A name-based UUID of RFC 9562, section 5.5 (version 5).
///
/// The hash is the caller's, because this target imports no cryptography: SHA-1 over the namespace's bytes and the name.
package struct NameUUID: Hashable, Sendable {
  package let bytes: [UInt8]

  /// 6ba7b810-9dad-11d1-80b4-00c04fd430c8
  package static let dns = NameUUID(namespace: 0x10)
  /// 6ba7b812-9dad-11d1-80b4-00c04fd430c8
  package static let oid = NameUUID(namespace: 0x12)

  private init(namespace: UInt8) {
    bytes = [0x6B, 0xA7, 0xB8, namespace, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8]
  }

  package init(sha1 digest: some Sequence<UInt8>) {
    var bytes = Array(digest.prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.bytes = bytes
  }

  /// Lower case with hyphens.
  package var text: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
