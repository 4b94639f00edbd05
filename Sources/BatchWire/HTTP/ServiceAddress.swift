import BatchFoundation

/// The address of a service: scheme, host, port and base path. Users may write `api-campaign-us-1.goacoustic.com`, with
/// or without `https://` and a final slash (reference identity 1.1, host join). Plain `http` is allowed only for
/// this machine and `plainHosts`, because every call carries a token.
package struct ServiceAddress: Sendable, Equatable {
  package enum Scheme: String, Sendable { case https, http }

  package enum Fault: Error, Equatable, Sendable {
    case empty
    case scheme(String)
    /// Not a host name, an IPv4 address, or an IPv6 address in brackets.
    case host
    case port
    /// A user name, query or fragment, or a character that is not allowed in a path.
    case rest
    /// Plain `http` to another machine.
    case plainText
  }

  package let scheme: Scheme
  /// The host in lower case; an IPv6 address in brackets.
  package let host: String
  /// Nil for the scheme's default.
  package let port: Int?
  /// Empty, or starting with `/` and not ending with it.
  package let path: String

  /// - Parameter plainHosts: further hosts to which plain `http` is allowed; nil allows it to all.
  /// - Throws: ``Fault`` for the first invalid part.
  package init(_ text: String, plainHosts: Set<String>? = []) throws(Fault) {
    var rest = Substring(text)
    guard !rest.isEmpty else { throw .empty }
    var scheme = Scheme.https
    if let mark = rest.utf8.firstRange(of: Array("://".utf8)) {
      let name = rest[..<mark.lowerBound].lowercased()
      guard let known = Scheme(rawValue: name) else { throw .scheme(name) }
      scheme = known
      rest = rest[mark.upperBound...]
    }
    let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    let authority = rest[..<slash]
    (host, port) = try Self.split(authority)
    var path = rest[slash...]
    while path.utf8.last == UInt8(ascii: "/") { path = path.dropLast() }
    guard Self.isTarget(path), !path.utf8.contains(UInt8(ascii: "?")) else { throw .rest }
    self.path = String(path)
    self.scheme = scheme
    guard scheme == .https || LoopbackHost.contains(host) || plainHosts?.contains(host) ?? true else {
      throw .plainText
    }
  }

  /// Returns the URL of a call; `target` is a path with an optional query.
  package func url(_ target: String) -> String {
    "\(origin)\(path)\(target.utf8.first == UInt8(ascii: "/") ? "" : "/")\(target)"
  }

  package var origin: String { "\(scheme.rawValue)://\(host)\(port.map { ":\($0)" } ?? "")" }

  /// Returns whether the string may be part of a request line: printable ASCII without spaces, `#` or `\`.
  static func isTarget(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") }
  }

  private static func split(_ authority: Substring) throws(Fault) -> (host: String, port: Int?) {
    let bytes = authority.utf8
    guard !bytes.contains(UInt8(ascii: "@")), !bytes.contains(UInt8(ascii: "?")) else { throw .rest }
    var host = authority
    var digits: Substring?
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
      let after = authority.index(after: end)
      host = authority[..<after]
      if after < authority.endIndex {
        guard bytes[after] == UInt8(ascii: ":") else { throw .host }
        digits = authority[authority.index(after: after)...]
      }
      let inner = host.utf8.dropFirst().dropLast()
      let isAddress = inner.allSatisfy { Hexadecimal.value(of: $0) != nil || ":.".utf8.contains($0) }
      guard isAddress, inner.contains(UInt8(ascii: ":")) else { throw .host }
    } else {
      if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
        host = authority[..<colon]
        digits = authority[authority.index(after: colon)...]
      }
      let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard host.utf8.count <= 253, labels.allSatisfy({ isLabel(Array($0)) }) else { throw .host }
    }
    guard let digits else { return (host.lowercased(), nil) }
    guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy(\.isASCIIDigit),
      let port = Int(digits), (1...65_535).contains(port)
    else { throw .port }
    return (host.lowercased(), port)
  }

  private static func isLabel(_ label: [UInt8]) -> Bool {
    guard (1...63).contains(label.count), label.first != 0x2D, label.last != 0x2D else { return false }
    return label.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
  }
}

extension ServiceAddress.Fault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .empty: "the address is empty"
    case .scheme(let name): "the scheme '\(name)' is not supported; use https"
    case .host: "the host is not a name or an IP address"
    case .port: "the port is not a number from 1 to 65535"
    case .rest: "the address may only have a scheme, host, port and path"
    case .plainText: "plain http is allowed only for connections to this machine; use https"
    }
  }
}

/// The names and addresses of this machine; connections to them need no TLS.
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
