extension Refusal: CustomStringConvertible {
  package var description: String {
    let words =
      switch kind {
      case .credentials: "the credentials were refused"
      case .forbidden: "access is forbidden"
      case .throttled: "too many requests"
      case .redirected: "redirected, which is not followed"
      case .noSuchService: "no such service at this address"
      case .failing: "the service failed"
      }
    let wait = retryAfter.map { ", retry after \(Int($0))s" } ?? ""
    return "\(words) (status \(status)\(wait))\(self.words.map { ": \($0)" } ?? "")"
  }
}

extension NotSentReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .transport(let fault): "not sent: \(fault)"
    case .noToken(let failure): "not sent: \(failure)"
    case .unwritable(let why): "not sent: \(why)"
    }
  }
}

extension UnknownReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .transport(let fault): "outcome unknown: \(fault)"
    case .status(let status, _, let words): "outcome unknown: status \(status)\(words.map { ": \($0)" } ?? "")"
    case .unreadable(let status, let why): "outcome unknown: status \(status), but \(why)"
    }
  }
}

extension Rejection: CustomStringConvertible {
  // Without the message, which may quote the events.
  package var description: String { "rejected with status \(status)" }
}
