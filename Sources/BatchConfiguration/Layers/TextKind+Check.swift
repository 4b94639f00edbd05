import BatchFoundation
import BatchWire

extension TextKind {
  /// The error for a string that does not have the required format; `expected` completes "must be".
  struct Mismatch: Error, Hashable {
    var expected: String
  }

  /// Returns the string in its canonical spelling; relative file names are resolved in `directory`.
  func check(_ text: String, directory: String) throws(Mismatch) -> String {
    switch self {
    case .any:
      return text
    case .name:
      guard !text.utf8.isEmpty, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        throw Mismatch(expected: "a nonempty name without control characters")
      }
      return text
    case .endpoint:
      if text.utf8.isEmpty { return "" }
      guard let address = Self.address(text) else {
        throw Mismatch(
          expected: "an http or https URL without a user name, query or fragment, such as 'https://api1.example.org'")
      }
      guard address.scheme == .https || LoopbackHost.contains(address.host) else {
        throw Mismatch(expected: "an https URL; http is allowed for loopback addresses only")
      }
      var text = text
      while text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
      return text
    case .bareEndpoint:
      guard text.utf8.isEmpty || Self.address(text.contains("://") ? text : "https://" + text) != nil else {
        throw Mismatch(
          expected:
            "an http or https URL without a user name, query or fragment, such as 'https://collect.example.org/collect/api'"
        )
      }
      return text
    case .proxy:
      if text.utf8.isEmpty { return "" }
      guard let address = Self.address(text), address.scheme == .http, address.path.isEmpty, !text.hasSuffix("//")
      else {
        throw Mismatch(
          expected: "an http URL with only a host and a port, such as 'http://proxy.example.org:3128'")
      }
      return text
    case .urlPath:
      guard text.utf8.first == UInt8(ascii: "/"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
        !text.contains("?"), !text.contains("#")
      else { throw Mismatch(expected: "an ASCII path that begins with '/', without spaces, query or fragment") }
      return text
    case .urlSegment:
      let isPlain = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._~".utf8.contains($0) }
      guard isPlain, ![".", ".."].contains(text) else {
        throw Mismatch(
          expected: "one segment of a URL path: letters, digits, '-', '.', '_' and '~', but not '.' or '..'")
      }
      return text
    case .file, .folder:
      return text.utf8.isEmpty ? "" : PathText.resolve(text, in: directory)
    case .datePattern:
      return try datePattern(text)
    case .domain:
      let host = text.lowercased()
      let name = host.hasPrefix("*.") ? String(host.dropFirst(2)) : host
      // Neither a port nor an IPv6 address is part of a name.
      guard Self.address("https://" + name)?.host == name, host.contains("."), !host.contains(":") else {
        throw Mismatch(expected: "a host name such as 'www.example.org' or '*.example.org'")
      }
      return host
    }
  }

  private func datePattern(_ text: String) throws(Mismatch) -> String {
    do {
      return try DatePattern(text).text
    } catch {
      switch error {
      case .empty: throw Mismatch(expected: "a date format")
      case .unclosedQuote: throw Mismatch(expected: "a date format with balanced quotes")
      case .unknownField(let field):
        throw Mismatch(expected: "a date format without '\(field)'; put words in single quotes, as in yyyy'-'MM'-'dd")
      }
    }
  }

  /// Reads an absolute URL of a host; nil if it is invalid.
  private static func address(_ text: String) -> ServiceAddress? {
    // Every invalid address has the same remedy.
    text.contains("://") ? try? ServiceAddress(text, plainHosts: nil) : nil
  }
}
