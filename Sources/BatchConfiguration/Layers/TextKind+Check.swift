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
      return try endpoint(text)
    case .bareEndpoint:
      if text.utf8.isEmpty { return "" }
      guard let url = PlainURL(text.contains("://") ? text : "https://" + text), url.isHTTP, url.hasNoExtras else {
        throw Mismatch(
          expected:
            "an http or https URL without a user name, query or fragment, such as 'https://collect.example.org/collect/api'"
        )
      }
      return text
    case .proxy:
      if text.utf8.isEmpty { return "" }
      guard let url = PlainURL(text), url.scheme == "http", url.hasNoExtras, url.path.isEmpty || url.path == "/" else {
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
      let isPlain = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: "-._~".utf8.contains(byte)
        }
      }
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
      guard PlainURL.isHostName(host.hasPrefix("*.") ? String(host.dropFirst(2)) : host), host.contains(".") else {
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

  private func endpoint(_ text: String) throws(Mismatch) -> String {
    if text.utf8.isEmpty { return "" }
    guard let url = PlainURL(text), url.isHTTP, url.hasNoExtras else {
      throw Mismatch(
        expected: "an http or https URL without a user name, query or fragment, such as 'https://api1.example.org'")
    }
    guard url.scheme == "https" || url.isLoopback else {
      throw Mismatch(expected: "an https URL; http is allowed for loopback addresses only")
    }
    var text = text
    while text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
    return text
  }
}

/// The parts of a URL that settings need.
struct PlainURL {
  var scheme: String
  var host: String
  var path: String
  /// Whether there is no user, query or fragment.
  var hasNoExtras: Bool

  var isHTTP: Bool { scheme == "http" || scheme == "https" }

  var isLoopback: Bool { LoopbackHost.contains(host) }

  /// Returns nil unless the string is an absolute URL with a host and, optionally, a port from 1 to 65535.
  init?(_ text: String) {
    let scheme = text.prefix { $0.isASCII && $0.isLetter }
    let mark = "://"
    guard !scheme.isEmpty, text[scheme.endIndex...].hasPrefix(mark), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    self.scheme = scheme.lowercased()
    let rest = text[scheme.endIndex...].dropFirst(mark.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let tail = rest[authority.endIndex...]
    path = String(tail.prefix { $0 != "?" && $0 != "#" })
    hasNoExtras = !authority.contains("@") && !tail.contains("?") && !tail.contains("#")
    let address = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
    var name = address
    if address.first == "[" {
      guard let close = address.firstIndex(of: "]") else { return nil }
      name = address[...close]
      host = name.lowercased()
    } else {
      name = address.prefix { $0 != ":" }
      host = name.lowercased()
      guard Self.isHostName(host) else { return nil }
    }
    let port = address[name.endIndex...]
    if !port.isEmpty {
      guard port.first == ":", let number = UInt16(port.dropFirst()), number > 0 else { return nil }
    }
  }

  static func isHostName(_ host: String) -> Bool {
    !host.utf8.isEmpty && host.utf8.count <= 253
      && host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        !label.isEmpty && label.utf8.count <= 63 && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
              UInt8(ascii: "_"):
              true
            default: false
            }
          }
      }
  }
}
