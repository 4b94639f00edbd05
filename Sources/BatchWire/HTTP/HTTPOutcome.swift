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
  package var reusedConnection: Bool

  package init(
    status: Int, fields: [String: String] = [:], body: [UInt8] = [], reusedConnection: Bool = false
  ) {
    self.status = status
    self.fields = fields
    self.body = body
    self.reusedConnection = reusedConnection
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
