import BatchFoundation
import BatchWire

/// The body of a token request and the interpretation of its response (reference identity 1.1 to 1.3).
enum TokenAnswer {
  struct Grant: Equatable {
    var token: Secret
    var seconds: Double
  }

  /// The lifetime of a token if the response states none.
  static let assumedSeconds = 3600.0

  static func body(_ credentials: Credentials) -> [UInt8] {
    FormEncoding.body([
      ("grant_type", Array("refresh_token".utf8)), ("client_id", Array(credentials.clientID.reveal().utf8)),
      ("client_secret", Array(credentials.clientSecret.reveal().utf8)),
      ("refresh_token", Array(credentials.refreshToken.reveal().utf8)),
    ])
  }

  static func read(_ answer: HTTPAnswer, now: Int64) -> Result<Grant, CallFault> {
    // A body that is not JSON has no fields; then only the status counts.
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
      let text = ServiceText(answer.body, quoting: [])
      if answer.status == 429 || text.saysTokenLimit || text.saysThrottled {
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

  /// Reads a lifetime in seconds, limited to a day. The number may be a JSON string, as one client has observed.
  private static func seconds(_ node: JSONNode?) -> Double {
    guard let value = node?.double ?? node?.string.flatMap(Double.init), value.isFinite else { return assumedSeconds }
    return min(max(value, 0), 86_400)
  }

  /// Returns the error only if it is one of OAuth's own codes; any other value could quote the request.
  private static func errorCode(_ node: JSONNode?) -> String? {
    let known = [
      "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope", "invalid_token",
    ]
    return node?["error"]?.string.flatMap { code in known.first { $0 == code } }
  }
}

extension CallFault {
  /// The service does not accept the client, the secret or the refresh token.
  static func refused(status: Int, error: String?) -> CallFault {
    CallFault("the credentials were refused (status \(status))\(error.map { ": \($0)" } ?? "")", stop: .credentials)
  }

  /// The service's limit on tokens per hour is reached.
  static func throttled(status: Int, retryAfter: Double?) -> CallFault {
    CallFault(
      "the account has used up this hour's access tokens, which are shared by all programs with its credentials; "
        + "if that happens often, ask the provider to raise the limit (status \(status))",
      retryAfter: Milliseconds(seconds: retryAfter), isTemporary: true)
  }

  /// The job's own limit on tokens per hour is reached.
  static func tokensUsedUp(_ wait: Double) -> CallFault {
    CallFault(
      "this hour's access tokens are used up (Upload.maxTokensPerHour)", retryAfter: Milliseconds(seconds: wait),
      isTemporary: true)
  }

  static func unavailable(status: Int, retryAfter: Double?) -> CallFault {
    CallFault(
      "the token service is unavailable (status \(status))", retryAfter: Milliseconds(seconds: retryAfter),
      isTemporary: RetryAfter.isTemporary(status: status, retryAfter))
  }

  static func unreadable(status: Int) -> CallFault {
    CallFault("the token service did not return a token (status \(status))")
  }

  static func redirected(status: Int) -> CallFault {
    CallFault(
      "the token service sent a redirect, which was not followed (status \(status)); check Connection.baseUrl",
      stop: .peerProtocol)
  }

  static func noSuchService(status: Int) -> CallFault {
    CallFault(
      "no token service at this address (status \(status)); check Connection.baseUrl and Connection.oauthPath",
      stop: .configuration)
  }
}

/// The encoding `application/x-www-form-urlencoded`, as HTML forms use it: UTF-8, with spaces as `+`.
enum FormEncoding {
  static let contentType = "application/x-www-form-urlencoded; charset=UTF-8"

  static func body(_ fields: [(name: String, value: [UInt8])]) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(fields.reduce(0) { $0 + $1.value.count * 2 + 32 })
    for (index, field) in fields.enumerated() {
      if index > 0 { body.append(UInt8(ascii: "&")) }
      append(field.name.utf8, to: &body)
      body.append(UInt8(ascii: "="))
      append(field.value, to: &body)
    }
    return body
  }

  /// Percent-encodes a string for a query or path segment, with spaces as `%20`.
  static func component(_ text: String) -> String {
    var bytes: [UInt8] = []
    PercentEncoding.append(text.utf8, keeping: "*", to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(_ text: some Collection<UInt8>, to body: inout [UInt8]) {
    for (index, word) in text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).enumerated() {
      if index > 0 { body.append(UInt8(ascii: "+")) }
      PercentEncoding.append(word, keeping: "*", to: &body)
    }
  }
}
