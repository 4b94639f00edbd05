/// The header that says how long to stay away.
package enum RetryAfter {
  /// Longer than any bound that a caller has on it.
  private static let longest = 31_536_000.0

  /// Seconds from now, a year at most; nil for anything but seconds or an HTTP date. A date that has passed is 0.
  ///
  /// - Parameter date: the answer's own `Date`, so that a wrong clock on this machine does not matter.
  /// - Parameter now: this machine's clock in seconds since 1970, for an answer without a date.
  package static func seconds(_ header: String?, date: String?, now: Int64) -> Double? {
    guard let header, !header.isEmpty else { return nil }
    if header.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(header).map { min($0, longest) } }
    guard let until = HTTPDate.parse(header) else { return nil }
    return min(Double(max(0, until - (date.flatMap(HTTPDate.parse) ?? now))), longest)
  }

  /// Whether a service that failed with this status says that it takes no request for now: it is worth waiting for.
  ///
  /// `CallFault.isForNow` says so, and `Patience` waits.
  package static func isForNow(status: Int, _ seconds: Double?) -> Bool { status == 503 || seconds != nil }
}
