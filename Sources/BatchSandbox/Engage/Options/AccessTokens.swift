import BatchFoundation

/// The OAuth tokens of the organization (specification sections 1.1 and 1.2).
struct AccessTokens: Sendable, Codable {
  struct Token: Sendable, Codable {
    var text: String
    var issued: Int64
    var expires: Int64
  }
  /// What a token call is answered with.
  enum Grant: Sendable {
    case token(Token, isNew: Bool, needless: Bool)
    case limitExceeded
  }

  private var tokens: [Token] = []
  private var serial = 0
  /// When the calls of the last hour were, for the hourly limit.
  private var calls: [Int64] = []
  private var lastGranted: Int64?

  /// The token of the first three hours again, or a new one; the old one stays valid to its end.
  mutating func grant(at now: Instant, seed: UInt64, switches: SandboxSwitches) -> Grant {
    let time = now.milliseconds
    calls.removeAll { $0 <= time - 3_600_000 }
    if let limit = switches.tokenCallsPerHour, calls.count >= limit { return .limitExceeded }
    if switches.tokenCallsPerHour != nil { calls.append(time) }
    tokens.removeAll { $0.expires <= time }
    if let current = tokens.last, time < current.issued + switches.tokenReissueSeconds * 1000 {
      return .token(current, isNew: false, needless: lastGranted == current.issued)
    }
    serial += 1
    let token = Token(
      text: "T\(serial)-\(BodyDigest("\(seed)/\(serial)".utf8).text)", issued: time,
      expires: time + switches.tokenLifetimeSeconds * 1000)
    tokens.append(token)
    lastGranted = time
    return .token(token, isNew: true, needless: false)
  }

  func isValid(_ text: Substring, at now: Instant) -> Bool {
    tokens.contains { $0.expires > now.milliseconds && $0.text.utf8.elementsEqual(text.utf8) }
  }

  /// As when an administrator revokes the access: the next call issues a new token.
  mutating func expireAll() {
    tokens = []
    lastGranted = nil
  }
}
