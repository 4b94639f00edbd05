/// Sentences of the service that carry meaning because nothing else does (spec 1.3, 4 and 7). Case is not looked at.
enum ServiceText {
  /// The organisation's limit of requests at the same time.
  static func saysThrottled(_ bytes: some Collection<UInt8>) -> Bool {
    contains(bytes, "max number of concurrent")
  }

  static func saysTokenLimit(_ bytes: some Collection<UInt8>) -> Bool {
    contains(bytes, "token limits exceeded") || contains(bytes, "token limit exceeded")
  }

  static func saysExpired(_ bytes: some Collection<UInt8>) -> Bool {
    contains(bytes, "access token has expired") || contains(bytes, "session has expired or is invalid")
      || contains(bytes, "session is invalid or has expired")
  }

  /// `phrase` is in lower case.
  private static func contains(_ bytes: some Collection<UInt8>, _ phrase: StaticString) -> Bool {
    let wanted = phrase.withUTF8Buffer { Array($0) }
    let text = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    guard text.count >= wanted.count else { return false }
    return (0...text.count - wanted.count).contains { start in
      text[start] == wanted[0] && text[start..<start + wanted.count].elementsEqual(wanted)
    }
  }
}
