import BatchFoundation

/// A request as a fault hook sees it. What is not known yet at a point is empty.
package struct SandboxRequest: Sendable {
  /// From 1 over the life of the server.
  package let sequence: Int
  package let connection: Int
  package let nthOnConnection: Int
  private let head: RequestHead
  /// Without the query.
  package let path: String
  /// Without the question mark.
  package let query: String
  package let endpoint: SandboxEndpoint
  /// Whose endpoint it is; nil for the sandbox's own and unknown ones.
  let platform: (any SandboxPlatform)?
  /// Names of the operations in order, where a request has some; known from ``FaultPoint/body`` on.
  package var operations: [String] = []
  /// More requests were being worked on at its arrival than the service allows.
  package internal(set) var isOverTheGate = false
  /// What of the body has arrived.
  package internal(set) var body: [UInt8] = []

  init(
    sequence: Int, connection: Int, nthOnConnection: Int, head: RequestHead, path: String, query: String,
    endpoint: SandboxEndpoint, platform: (any SandboxPlatform)?
  ) {
    self.sequence = sequence
    self.connection = connection
    self.nthOnConnection = nthOnConnection
    self.head = head
    self.path = path
    self.query = query
    self.endpoint = endpoint
    self.platform = platform
  }

  package var method: String { head.method }

  /// The first value of a header; its name is compared without case.
  package func header(_ name: String) -> String? { head[name] }

  package var contentType: String { header("content-type") ?? "" }

  /// Gives the body without copying it.
  package func withBody<Result>(_ read: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body.withUnsafeBytes(read)
  }

  /// Whether query or body hold the text, in a form or as it is.
  func says(_ text: String) -> Bool {
    let fields = queryItems + (contentType.hasPrefix("application/x-www-form-urlencoded") ? parseForm(body) ?? [] : [])
    return fields.contains { $0.value.contains(text) } || String(decoding: body, as: UTF8.self).contains(text)
  }

  /// The fields of the query, decoded.
  package var queryItems: [(name: String, value: String)] { parseForm(Array(query.utf8)) ?? [] }
}

/// The fields of a form or query, decoded; nil for broken escapes or text that is not UTF-8.
package func parseForm(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
  var items: [(name: String, value: String)] = []
  for item in bytes.split(separator: UInt8(ascii: "&")) {
    let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = formText(parts[0]), let value = formText(parts.count == 2 ? parts[1] : []) else { return nil }
    items.append((name, value))
  }
  return items
}

private func formText(_ bytes: ArraySlice<UInt8>) -> String? {
  var decoded: [UInt8] = []
  decoded.reserveCapacity(bytes.count)
  var index = bytes.startIndex
  while index < bytes.endIndex {
    switch bytes[index] {
    case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
    case UInt8(ascii: "%"):
      guard index + 2 < bytes.endIndex, let high = Hexadecimal.value(of: bytes[index + 1]),
        let low = Hexadecimal.value(of: bytes[index + 2])
      else {
        return nil
      }
      decoded.append(high << 4 | low)
      index += 2
    case let byte: decoded.append(byte)
    }
    index += 1
  }
  return String(validating: decoded, as: UTF8.self)
}

/// Whether a request is meant for the sandbox: a page of another site, or a name that was bent to the loopback, is not.
enum OwnHost {
  private static let names = ["localhost", "127.0.0.1", "[::1]"]

  /// By `Host` and `Origin`; one that is not there is none of another.
  static func accepts(_ head: RequestHead) -> Bool {
    let hosts = head.headers.filter { $0.name.lowercased() == "host" }.map { Substring($0.value) }
    let origins = head.headers.filter { $0.name.lowercased() == "origin" }.map { _, origin in
      ["http://", "https://"].first { origin.hasPrefix($0) }.map { origin.dropFirst($0.count) } ?? Substring(origin)
    }
    return (hosts + origins).allSatisfy(isOwn)
  }

  private static func isOwn(_ host: Substring) -> Bool {
    names.contains { name in
      guard host.lowercased().hasPrefix(name) else { return false }
      let port = host.dropFirst(name.count)
      return port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }
  }
}
