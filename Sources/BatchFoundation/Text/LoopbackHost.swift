/// The hosts that are this machine, so that connections to them need no TLS.
public enum LoopbackHost {
  /// - Parameter host: in lower case; an IPv6 address in brackets.
  public static func contains(_ host: some StringProtocol) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    // No leading zeros: some resolvers read them as octal.
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in UInt8(part).map { "\($0)" == part } ?? false }
  }
}
