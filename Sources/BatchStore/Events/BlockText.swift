/// A text that a block of events has, in whatever place, if one of its events does.
///
/// Codecs write each string once, behind its length and as JSON would have it (``EventCodec``). So plain text is found in the bytes
/// of a block without decoding it.
package enum BlockText: Sendable {
  /// The whole of a string.
  case whole([UInt8])
  /// A part of one.
  case part([UInt8])
  /// Bytes that a codec writes as they are.
  case bytes([UInt8])

  /// Nil for text that may be written in several ways, and for what is too short to be rare.
  var pattern: BytePattern? {
    switch self {
    case .whole(let text):
      // Lengths up to 127 are one byte.
      Self.isPlain(text) && text.count < 128 ? BytePattern([UInt8(text.count)] + text) : nil
    case .part(let text): Self.isPlain(text) && text.count > 2 ? BytePattern(text) : nil
    case .bytes(let bytes): BytePattern(bytes)
    }
  }

  /// False if one of the texts stands nowhere in the block.
  static func stand(_ texts: [BytePattern], in block: [UInt8]) -> Bool {
    texts.allSatisfy { $0.place(in: block) != nil } || escape.place(in: block) != nil
  }

  /// Behind it any character may be written in another way.
  private static let escape = BytePattern(Array("\\u".utf8))

  /// Letters, digits and what no writer of JSON escapes.
  private static func isPlain(_ text: [UInt8]) -> Bool {
    !text.isEmpty
      && text.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: ","):
          true
        default: false
        }
      }
  }
}
