import Crypto
import EngageModel

/// Name-based UUIDs of RFC 9562, section 5.5.
enum NameUUID {
  /// 6ba7b810-9dad-11d1-80b4-00c04fd430c8
  static let dns: [UInt8] = namespace(0x10)
  /// 6ba7b812-9dad-11d1-80b4-00c04fd430c8
  static let oid: [UInt8] = namespace(0x12)

  private static func namespace(_ last: UInt8) -> [UInt8] {
    [0x6B, 0xA7, 0xB8, last, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8]
  }

  static func bytes(of name: String, in namespace: [UInt8]) -> [UInt8] {
    var bytes = Array(Insecure.SHA1.hash(data: namespace + Array(name.utf8)).prefix(16))
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

  /// The mobile user id of a device that has none, the same on every run and machine (contract section 6, decision 6).
  static func mobileUserId(ofDevice device: String) -> String {
    text(bytes(of: device, in: bytes(of: "engage-batch", in: dns))).uppercased()
  }

  /// The key of a merge and of its audit row: the same merge has the same key, so a repeated row replaces itself
  /// (spec engage-identity-xmlapi 5.6).
  static func mergeKey(list: String, loser: String, winner: String, undo: Bool = false) -> String {
    text(bytes(of: "engage-merge|\(list)|\(loser)|\(winner)\(undo ? "|undo" : "")", in: oid))
  }
}
