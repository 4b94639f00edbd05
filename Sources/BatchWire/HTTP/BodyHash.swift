package import BatchFoundation

/// The proof that a body comes from someone who knows the environment's secret: the MD5 of the bytes on the wire
/// followed by the secret (reference deltadna-service 3.2).
package struct BodyHash: Sendable, Equatable {
  /// 32 hexadecimal digits in lower case, as the iOS SDK writes them.
  package let text: String

  package init(of body: [UInt8], secret: Secret) {
    // The service prescribes MD5; nothing else here relies on it.
    var hash = MD5()
    hash.update(body)
    hash.update(secret.reveal())
    text = Hexadecimal.text(of: hash.finalize())
  }

  /// Returns whether a request with this text is genuine; Android and Unity write upper case.
  package func matches(_ given: some StringProtocol) -> Bool { given.lowercased().utf8.elementsEqual(text.utf8) }
}
