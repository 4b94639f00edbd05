import BatchFoundation

/// A request as seen by a fault hook. Properties that are not known yet at a point are empty.
package struct SandboxRequest: Sendable {
  /// The number of the request, from 1, over the life of the server.
  package let sequence: Int
  package let connection: Int
  package let nthOnConnection: Int
  let head: RequestHead
  /// The path without the query.
  package let path: String
  /// The query without the question mark.
  package let query: String
  package let endpoint: SandboxEndpoint
  /// The platform of the endpoint; nil for the sandbox's own endpoint and for an unknown one.
  let platform: (any SandboxPlatform)?
  /// The names of the operations in order, if there are any; known from ``FaultPoint/body`` on.
  package var operations: [String] = []
  /// Whether more requests were in progress on arrival than the service allows.
  package internal(set) var isOverTheGate = false
  /// The part of the body received so far.
  package internal(set) var body: [UInt8] = []

  package var method: String { head.method }

  /// Returns the first value of a header, ignoring the case of its name.
  package func header(_ name: String) -> String? { head[name] }

  package var contentType: String { header("content-type") ?? "" }

  /// Calls `read` with the body, without copying it.
  package func withBody<Result>(_ read: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body.withUnsafeBytes(read)
  }

  /// Returns whether the query or the body contains the string, form-encoded or plain.
  func contains(_ text: String) -> Bool {
    let fields = queryItems + (contentType.hasPrefix("application/x-www-form-urlencoded") ? parseForm(body) ?? [] : [])
    return fields.contains { $0.value.contains(text) } || String(decoding: body, as: UTF8.self).contains(text)
  }

  package var queryItems: [(name: String, value: String)] { parseForm(Array(query.utf8)) ?? [] }
}

/// Returns the fields of a form or query, decoded; nil for invalid escapes or invalid UTF-8.
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
  PercentEncoding.decodedForm(bytes).flatMap { String(validating: $0, as: UTF8.self) }
}

/// Rejects requests from web pages of other sites, and requests for foreign host names that resolve to a loopback
/// address.
enum OwnHost {
  private static let names = ["localhost", "127.0.0.1", "[::1]"]

  /// Checks `Host` and `Origin`; missing ones are accepted.
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
