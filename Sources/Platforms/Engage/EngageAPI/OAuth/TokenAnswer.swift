import BatchFoundation
package import BatchHTTP

/// The token call as bytes in and values out (reference identity 1.1 to 1.3).
enum TokenAnswer {
  struct Grant: Equatable {
    var token: Secret
    var seconds: Double
  }

  /// What a token is good for when the answer does not say.
  static let assumedSeconds = 3600.0

  static func body(_ credentials: Credentials) -> [UInt8] {
    FormEncoding.body([
      ("grant_type", Array("refresh_token".utf8)), ("client_id", Array(credentials.clientID.reveal().utf8)),
      ("client_secret", Array(credentials.clientSecret.reveal().utf8)),
      ("refresh_token", Array(credentials.refreshToken.reveal().utf8)),
    ])
  }

  static func read(_ answer: HTTPAnswer, now: Int64) -> Result<Grant, TokenFailure> {
    // No JSON, no fields: the status decides then.
    let node = try? JSONNode.parse(answer.body)
    let retryAfter = RetryAfter.seconds(answer.retryAfter, date: answer.date, now: now)
    switch answer.status {
    case 200..<300:
      guard let node, let token = node["access_token"]?.string, !token.isEmpty,
        token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else { return .failure(.unreadable(status: answer.status)) }
      return .success(Grant(token: Secret(token), seconds: seconds(node["expires_in"])))
    case 300..<400: return .failure(.redirected(status: answer.status))
    case 400..<500:
      let words = answer.body.prefix(4096)
      if answer.status == 429 || ServiceText.saysTokenLimit(words) || ServiceText.saysThrottled(words) {
        return .failure(.throttled(status: answer.status, retryAfter: retryAfter))
      }
      switch answer.status {
      case 404, 405, 410: return .failure(.noSuchService(status: answer.status))
      case 408, 425: return .failure(.unavailable(status: answer.status, retryAfter: retryAfter))
      default: return .failure(.refused(status: answer.status, error: errorCode(node)))
      }
    default: return .failure(.unavailable(status: answer.status, retryAfter: retryAfter))
    }
  }

  /// A number, or a number in quotes, which one client has met.
  private static func seconds(_ node: JSONNode?) -> Double {
    guard let value = node?.double ?? node?.string.flatMap(Double.init), value.isFinite else { return assumedSeconds }
    return min(max(value, 0), 86_400)
  }

  /// OAuth's own error codes only; other text could quote what was sent.
  private static func errorCode(_ node: JSONNode?) -> String? {
    let known = [
      "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope", "invalid_token",
    ]
    return node?["error"]?.string.flatMap { code in known.first { $0 == code } }
  }
}

/// Why there is no token.
package enum TokenFailure: Error, Sendable, Equatable {
  /// The service knows the client, the secret or the refresh token not, or not any more.
  case refused(status: Int, error: String?)
  /// Too many tokens were asked for in this hour.
  case throttled(status: Int, retryAfter: Double?)
  case unavailable(status: Int, retryAfter: Double?)
  case unreadable(status: Int)
  case redirected(status: Int)
  case noSuchService(status: Int)
  case transport(HTTPFault)
}

extension TokenFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .refused(let status, let error):
      "the credentials were refused (status \(status))\(error.map { ": \($0)" } ?? "")"
    case .throttled(let status, _):
      "the account has used up the access tokens it may ask for in an hour, which all programs with its credentials share; ask the "
        + "provider to raise the limit if that happens often (status \(status))"
    case .unavailable(let status, _): "the token service is not available (status \(status))"
    case .unreadable(let status): "the token service's answer is not a token (status \(status))"
    case .redirected(let status): "the token service redirects, which is not followed (status \(status))"
    case .noSuchService(let status): "there is no token service at this address (status \(status))"
    case .transport(let fault): "the token service was not reached: \(fault)"
    }
  }

  package var stop: RunStop? {
    switch self {
    case .refused: .credentials
    case .redirected: .peerProtocol
    case .noSuchService: .configuration
    case .transport(let fault): NotSentReason.transport(fault).stop
    case .throttled, .unavailable, .unreadable: nil
    }
  }

  /// The same for who asks later, when only so many seconds of the wait are left.
  func asking(toWait seconds: Double) -> TokenFailure {
    switch self {
    case .throttled(let status, _): .throttled(status: status, retryAfter: seconds)
    case .unavailable(let status, _): .unavailable(status: status, retryAfter: seconds)
    default: self
    }
  }

  /// The service says that it gives out no token for now.
  package var isForNow: Bool {
    switch self {
    case .throttled: true
    case .unavailable(let status, let retryAfter): RetryAfter.isForNow(status: status, retryAfter)
    default: false
    }
  }

  package var retryAfter: Double? {
    switch self {
    case .throttled(_, let seconds), .unavailable(_, let seconds): seconds
    default: nil
    }
  }
}
