import BatchFoundation

/// The AWS Signature Version 4 of a request. It covers the method, path, query, given headers and body hash.
struct RequestSignature: Sendable {
  var region: String
  var service: String
  var credentials: StorageCredentials

  /// Returns the value of the `Authorization` header.
  ///
  /// - Parameters:
  ///   - path: percent-encoded as on the wire.
  ///   - query: percent-encoded names and values, in any order.
  ///   - headers: all headers to sign, with `host` and `x-amz-date`.
  ///   - bodyHash: the value of `x-amz-content-sha256`, or the SHA-256 of the body in hexadecimal.
  ///   - time: as in `x-amz-date`, such as `20150830T123600Z`.
  func authorization(
    _ method: String, path: String, query: [(String, String)], headers: [(String, String)], bodyHash: String,
    time: String
  ) -> String {
    // Spaces around a value are not signed, and those within are signed as one.
    let headers = headers.map { name, value in
      (name.lowercased(), value.split { $0 == " " || $0 == "\t" }.joined(separator: " "))
    }.sorted { $0.0 < $1.0 }
    let names = headers.map(\.0).joined(separator: ";")
    let canonical = [
      method, path.isEmpty ? "/" : path, Self.text(of: query),
      headers.map { "\($0):\($1)\n" }.joined(), names, bodyHash,
    ].joined(separator: "\n")
    let day = String(time.prefix(8))
    let scope = "\(day)/\(region)/\(service)/aws4_request"
    let signed = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Hexadecimal.text(of: SHA256.hash(canonical)))"
    let key = [day, region, service, "aws4_request", signed].reduce(
      Array("AWS4\(credentials.secret.reveal())".utf8)
    ) { key, part in Array(MessageAuthenticationCode(key: key).code(for: Array(part.utf8))) }
    return "AWS4-HMAC-SHA256 Credential=\(credentials.id)/\(scope), SignedHeaders=\(names), "
      + "Signature=\(Hexadecimal.text(of: key))"
  }

  /// Returns a query in the order in which it is signed, and in which it must be sent.
  static func text(of query: [(String, String)]) -> String {
    query.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { "\($0)=\($1)" }.joined(separator: "&")
  }

  /// Percent-encodes every byte of the text except letters, digits, `-._~` and those in `kept`.
  static func encoded(_ text: String, keeping kept: String = "") -> String {
    var bytes: [UInt8] = []
    PercentEncoding.append(text.utf8, keeping: "~\(kept)", to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The credentials that sign requests. The secret and the token are never printed.
struct StorageCredentials: Sendable, Equatable {
  var id: String
  var secret: Secret
  /// The token of temporary credentials; nil for permanent ones.
  var token: Secret?
  /// The time when temporary credentials expire; nil if they do not.
  var expires: Instant?
}
