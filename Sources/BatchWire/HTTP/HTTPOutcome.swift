package import BatchFoundation

/// The outcome of one attempt. It says whether the request may have reached the service, and so whether it may be sent
/// again (reference guarantees 3).
package enum HTTPOutcome: Sendable {
  /// A complete response with any status, including redirects, which are never followed.
  case answer(HTTPAnswer)
  /// No byte of the request was sent.
  case notSent(HTTPFault)
  /// Bytes of the request were sent, but no complete response arrived: the service may or may not have acted on it.
  case noAnswer(HTTPFault)
}

package struct HTTPAnswer: Sendable, Equatable {
  package var status: Int
  /// The fields that callers need, by their lower-case names.
  package var fields: [String: String]
  package var body: [UInt8]

  package init(status: Int, fields: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  package var contentType: String? { fields["content-type"] }
  package var contentEncoding: String? { fields["content-encoding"] }
  /// The header's value as sent: seconds or an HTTP date.
  package var retryAfter: String? { fields["retry-after"] }
  package var date: String? { fields["date"] }
  package var location: String? { fields["location"] }
}

/// The reason why there is no complete response.
package struct HTTPFault: Sendable, Equatable {
  package enum Kind: String, CaseIterable, Sendable {
    /// A request that cannot be written: a line break in a header, or a target that is not a path.
    case invalidRequest = "invalid request"
    case resolve = "host name not found"
    case connect = "no connection"
    /// A refused certificate or failed TLS negotiation.
    case tls = "TLS refused"
    /// A file of authorities without a readable certificate.
    case authorities = "the file with trusted certificates is unusable"
    /// Also a rate below the minimum for too long.
    case timeout = "timed out"
    /// A connection that ended before the response was complete.
    case cut = "connection lost"
    case tooLarge = "response too large"
    /// A response that violates HTTP.
    case protocolViolation = "not an HTTP response"
    case cancelled = "cancelled"
    case local = "local failure"
  }

  /// Whether the request may be the cause: the connection broke, time ran out, or the response was unusable.
  package var mayBeTheRequest: Bool {
    switch kind {
    case .timeout, .cut, .tooLarge, .protocolViolation: true
    case .invalidRequest, .resolve, .connect, .tls, .authorities, .cancelled, .local: false
    }
  }

  package enum Certificate: String, Sendable {
    case selfSigned = "the certificate is self-signed and not among the trusted ones"
    case unknownAuthority = "the certificate is from an untrusted authority"
    case expired = "the certificate has expired"
    case notYetValid = "the certificate is not valid yet"
    case wrongHost = "the certificate is for another host"
    case other = "the certificate is not valid"

    /// - Parameter verification: OpenSSL's `X509_V_` code. 0 or 1 means that only libcurl's check of the host failed.
    init(verification: Int) {
      switch verification {
      case 0, 1, 62, 64: self = .wrongHost
      case 18, 19: self = .selfSigned
      case 2, 20, 21: self = .unknownAuthority
      case 10: self = .expired
      case 9: self = .notYetValid
      default: self = .other
      }
    }
  }

  package var kind: Kind
  /// The problem with the certificate; nil unless it is the reason for ``Kind/tls``.
  package var certificate: Certificate?
  /// The status received before the response broke off.
  package var status: Int?
  /// libcurl's `CURLcode`; 0 if this program found the fault.
  package var code: Int
  /// The response as far as it arrived; nil unless ``HTTPRequest/keepsPartialAnswer``.
  package var partial: HTTPAnswer?

  package init(_ kind: Kind, status: Int? = nil, code: Int = 0) {
    self.kind = kind
    self.status = status
    self.code = code
  }
}

extension HTTPFault: CustomStringConvertible {
  package var description: String {
    let detail = [certificate?.rawValue, status.map { "after status \($0)" }, code == 0 ? nil : "libcurl \(code)"]
      .compactMap { $0 }
    return detail.isEmpty ? kind.rawValue : "\(kind.rawValue) (\(detail.joined(separator: ", ")))"
  }
}

// The body of a response may contain a token or personal data, so no way of printing a response shows it.
extension HTTPAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "\(status) \(contentType ?? "without content type"), \(body.count) bytes" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension HTTPAnswer {
  /// Whether the body has a content encoding, although none was requested.
  package var isCompressed: Bool { contentEncoding.map { $0.lowercased() != "identity" } ?? false }

  /// A description of the target of a redirect: another host or the same one; nil if the response names no target. The
  /// rest of the URL is left out, because it may be secret.
  package var redirection: String? {
    guard let location else { return nil }
    let parts = location.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count > 2, parts[0].isEmpty || parts[0].hasSuffix(":"), parts[1].isEmpty else {
      return "to the same host"
    }
    let host = parts[2].split(separator: "@").last ?? ""
    return "to \(host.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-.:[]".contains($0)) })"
  }

  /// A description of a body that is a web page rather than the service's response; nil for any other body.
  package var page: String? {
    let start = String(decoding: start.prefix(15), as: UTF8.self).lowercased()
    let isPage = start.hasPrefix("<html") || start.hasPrefix("<!doctype html")
    return isPage ? "the body is a web page, such as a login or maintenance page" : nil
  }

  /// The body without a byte order mark or leading white space.
  private var start: ArraySlice<UInt8> {
    body.dropFirst(body.byteOrderMarkLength).drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
  }

  /// The reason why a response with a 2xx status does not acknowledge the submitted events; nil if it does.
  ///
  /// No service defines the body of such a response. Therefore a 2xx status is an acknowledgement unless the body
  /// reports errors or cannot be the service's, such as a proxy's page (reference guarantees 2.1).
  package var objection: String? {
    if isCompressed { return "the body is compressed" }
    // No service sends UTF-16, in which markup and JSON would not be recognized.
    let marks: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE]]
    if marks.contains(where: body.starts(with:)) || body.prefix(4).contains(0) { return "the body is not UTF-8" }
    guard let first = start.first else { return nil }
    if first == UInt8(ascii: "<") { return page ?? "the body is markup" }
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
    // Only whether it is JSON matters here, not where the error is.
    guard let node = try? JSONNode.parse(body) else { return "the body is not valid JSON" }
    guard Self.errors(node).allSatisfy({ Self.nothing.contains($0.canonicalText) }) else {
      return "the body lists errors"
    }
    return node["success"]?.bool == false ? "the body reports a failure" : nil
  }

  /// Returns the values of those members of a JSON response that report errors.
  package static func errors(_ node: JSONNode) -> [JSONNode] {
    let places = [node, node["meta"]].compactMap(\.self)
    return ["errors", "error", "generalErrors", "fieldErrors"].flatMap { name in places.compactMap { $0[name] } }
  }

  private static let nothing: Set = ["null", "false", "0", "\"\"", "[]", "{}"]
}
