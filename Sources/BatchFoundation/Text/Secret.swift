/// A credential that never prints itself; only ``reveal()``, used to build requests, returns the value.
public struct Secret: Hashable, Sendable {
  private var value: ByteText

  public init(_ value: String) {
    self.value = ByteText(value)
    SecretMask.note(self.value)
  }

  public var isEmpty: Bool { value.string.utf8.isEmpty }

  /// Returns the value for a request. Not for logs, errors or reports.
  public func reveal() -> String { value.string }

  /// Returns the text with every occurrence of the secret as a whole word redacted, such as in the path of a URL.
  public func hidden(in text: String) -> String {
    let (secret, bytes) = (Array(value.string.utf8), Array(text.utf8))
    guard !secret.isEmpty, bytes.count >= secret.count else { return text }
    var shown: [UInt8] = []
    var at = 0
    while at < bytes.count {
      let end = at + secret.count
      if end <= bytes.count, bytes[at..<end].elementsEqual(secret), at == 0 || !Self.isOfWord(bytes[at - 1]),
        end == bytes.count || !Self.isOfWord(bytes[end])
      {
        shown += Array(Self.redacted.utf8)
        at = end
      } else {
        shown.append(bytes[at])
        at += 1
      }
    }
    return String(decoding: shown, as: UTF8.self)
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
      true
    default: false
    }
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The replacement for secrets wherever settings are shown (reference formats 2.4).
  public static var redacted: String { "<redacted>" }

  public var description: String { Self.redacted }
  public var debugDescription: String { Self.redacted }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
