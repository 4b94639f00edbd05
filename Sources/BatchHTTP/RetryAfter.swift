/// The header that says how long to stay away.
package enum RetryAfter {
  /// Seconds from now; nil for anything but seconds or an HTTP date. A date that has passed is 0; how far ahead one may lie
  /// is for the caller to bound.
  ///
  /// - Parameter date: the answer's own `Date`, so that a wrong clock on this machine does not matter.
  /// - Parameter now: this machine's clock in seconds since 1970, for an answer without a date.
  package static func seconds(_ header: String?, date: String?, now: Int64) -> Double? {
    guard let header, !header.isEmpty else { return nil }
    if header.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(header) }
    guard let until = HTTPDate.parse(header) else { return nil }
    return Double(max(0, until - (date.flatMap(HTTPDate.parse) ?? now)))
  }
}
