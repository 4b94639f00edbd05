import BatchFoundation

/// Sentences of the service that carry meaning because nothing else does (reference identity 1.3, 4 and 7). Case is not looked at.
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

  /// What the body of a refusal says about the reason, in JSON, as a fault or as one line of text; nil for pages and for nothing.
  static func reason(_ body: [UInt8]) -> ServiceWords? {
    let start = body.prefix(8192)
    guard let first = start.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return nil }
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      // What is not JSON has no reason in it.
      guard let node = try? JSONNode.parse(body) else { return nil }
      let places = ["error_description", "message", "errorMessage", "description", "detail", "error"]
      return places.lazy.compactMap { node[$0]?.string ?? node["error"]?[$0]?.string }.first { !$0.utf8.isEmpty }
        .map { ServiceWords($0) }
    case UInt8(ascii: "<"):
      // A page of a proxy is not an answer of the service.
      guard let results = try? XMLAPIAnswer.parse(body) else { return nil }
      return (results.first?.fault?.message).map { ServiceWords($0) }
    default:
      let line = start.prefix { $0 >= 0x20 }
      return line.count == body.count && line.count <= 200 ? ServiceWords(body) : nil
    }
  }

  /// `phrase` is in lower case.
  private static func contains(_ bytes: some Collection<UInt8>, _ phrase: StaticString) -> Bool {
    let wanted = phrase.withUTF8Buffer { unsafe Array($0) }
    let text = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    guard text.count >= wanted.count else { return false }
    return (0...text.count - wanted.count).contains { start in
      text[start] == wanted[0] && text[start..<start + wanted.count].elementsEqual(wanted)
    }
  }
}
