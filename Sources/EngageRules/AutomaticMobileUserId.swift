import Crypto
package import EngageModel

/// The mobile user id of a device that has none: UUIDv5 of the device id, upper case, the same on every run and machine
/// (contract section 6, decision 6).
package enum AutomaticMobileUserId {
  /// UUIDv5 of "engage-batch" in the DNS namespace.
  static let namespace = UUIDv5.bytes(of: Array("engage-batch".utf8), in: UUIDv5.dns)

  package static func id(of device: Text) -> String {
    UUIDv5.text(UUIDv5.bytes(of: Array(device.bytes), in: namespace)).uppercased()
  }
}

/// Name-based UUIDs of RFC 9562, section 5.5.
enum UUIDv5 {
  /// 6ba7b810-9dad-11d1-80b4-00c04fd430c8
  static let dns: [UInt8] = [
    0x6B, 0xA7, 0xB8, 0x10, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
  ]

  static func bytes(of name: [UInt8], in namespace: [UInt8]) -> [UInt8] {
    var bytes = Array(Insecure.SHA1.hash(data: namespace + name).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes
  }

  /// Lower case with hyphens.
  static func text(_ bytes: [UInt8]) -> String {
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
