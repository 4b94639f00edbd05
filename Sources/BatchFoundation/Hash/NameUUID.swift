/// A name-based UUID of RFC 9562, section 5.5 (version 5).
package struct NameUUID: Hashable, Sendable {
  package let bytes: [UInt8]

  /// The DNS namespace, `6ba7b810-9dad-11d1-80b4-00c04fd430c8`.
  package static let dns = NameUUID(namespace: 0x10)
  /// The OID namespace, `6ba7b812-9dad-11d1-80b4-00c04fd430c8`.
  package static let oid = NameUUID(namespace: 0x12)
  /// The namespace of all names made by this program: `engage-batch` in the DNS namespace.
  package static let program = NameUUID(of: "engage-batch", in: .dns)

  private init(namespace: UInt8) {
    bytes = [0x6B, 0xA7, 0xB8, namespace, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8]
  }

  package init(of name: [UInt8], in namespace: NameUUID) {
    var bytes = Array(SHA1.hash(namespace.bytes + name).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.bytes = bytes
  }

  package init(of name: String, in namespace: NameUUID) { self.init(of: Array(name.utf8), in: namespace) }

  /// The UUID in lower case with hyphens.
  package var text: String {
    let digits = Hexadecimal.text(of: bytes)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index == 8 || index == 12 || index == 16 || index == 20 { text.append("-") }
      text.append(digit)
    }
    return text
  }
}
