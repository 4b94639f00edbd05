import BatchFoundation

/// The OAuth tokens of the organization (specification sections 1.1 and 1.2).
struct AccessTokens: Sendable, Codable {
  struct Token: Sendable, Codable {
    var text: String
    var issued: Int64
    var expires: Int64
  }
  enum Grant: Sendable {
    case token(Token, isNew: Bool, needless: Bool)
    case limitExceeded
  }

  private var tokens: [Token] = []
  private var serial = 0
  /// The times of the last hour's calls, for the hourly limit.
  private var calls: [Int64] = []
  private var lastGranted: Int64?

  /// Returns a token issued within the last `tokenReissueSeconds`, or a new one; old ones stay valid until they expire.
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

  /// Invalidates all tokens, like an administrator who revokes access: the next call issues a new one.
  mutating func expireAll() {
    tokens = []
    lastGranted = nil
  }
}
