package import BatchFoundation
import Crypto

/// What proves to the service that a body comes from someone who knows the environment's secret: the MD5 of the bytes on the
/// wire followed by the secret (reference deltadna-service 3.2).
package struct BodyHash: Sendable, Equatable {
  /// 32 hexadecimal digits in lower case, as the iOS SDK writes them.
  package let text: String

  package init(of body: [UInt8], secret: Secret) {
    // The service prescribes MD5; nothing else here rests on it.
    var hash = Insecure.MD5()
    hash.update(data: body)
    hash.update(data: Array(secret.reveal().utf8))
    let digits = Array("0123456789abcdef".utf8)
    text = String(
      decoding: hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Whether a request that came with this text is genuine; Android and Unity write upper case.
  package func matches(_ given: some StringProtocol) -> Bool { given.lowercased().utf8.elementsEqual(text.utf8) }
}
