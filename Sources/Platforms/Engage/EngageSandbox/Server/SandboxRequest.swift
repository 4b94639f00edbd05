import BatchFoundation
import NIOCore

/// A request as a fault hook sees it. What is not known yet at a point is empty.
package struct SandboxRequest: Sendable {
  /// From 1 over the life of the server.
  package let sequence: Int
  package let connection: Int
  package let nthOnConnection: Int
  package let method: String
  /// Without the query.
  package let path: String
  /// Without the question mark.
  package let query: String
  package let endpoint: SandboxEndpoint
  package let authorization: String?
  package let contentType: String
  /// Names of the XMLAPI operations in order; known from ``FaultPoint/body`` on.
  package internal(set) var operations: [String] = []
  /// More requests were being worked on at its arrival than the service allows.
  var isOverTheGate = false
  var buffer = ByteBuffer()

  /// What of the body has arrived.
  package var body: [UInt8] { Array(buffer.readableBytesView) }

  /// The token of `Authorization: Bearer`; nil without one.
  var bearer: Substring? {
    guard let authorization else { return nil }
    let parts = authorization.split(separator: " ", maxSplits: 1)
    return parts.count == 2 && parts[0].lowercased() == "bearer" ? parts[1] : nil
  }

  /// The session of `/XMLAPI;jsessionid=…`.
  var session: Substring? {
    let parts = path.split(separator: ";", maxSplits: 1)
    return parts.count == 2 && parts[1].hasPrefix("jsessionid=") ? parts[1].dropFirst("jsessionid=".count) : nil
  }

  var queryItems: [(name: String, value: String)] { parseForm(Array(query.utf8)) ?? [] }
}

extension SandboxEndpoint {
  init(path: String) {
    let plain = path.split(separator: ";", maxSplits: 1).first.map(String.init) ?? path
    switch plain {
    case "/oauth/token": self = .token
    case "/XMLAPI", "/xmlapi": self = .xmlapi
    case "/rest/events/submission": self = .events
    case "/rest/events/errors": self = .eventErrors
    default:
      if plain.hasPrefix("/rest/") {
        self = .rest
      } else if plain.hasPrefix("/sandbox/files/") {
        self = .files
      } else if plain.hasPrefix("/sandbox/") {
        self = .sandbox
      } else {
        self = .unknown
      }
    }
  }

  /// Whether the endpoint needs a token and counts for the limit of requests at once.
  var isAuthenticated: Bool {
    switch self {
    case .xmlapi, .events, .eventErrors, .rest: true
    case .token, .files, .sandbox, .unknown: false
    }
  }
}

/// An answer before it is sent.
struct SandboxAnswer: Sendable, Equatable {
  var status: Int
  var contentType: String?
  var headers: [String: String] = [:]
  var body: [UInt8] = []

  static func json(_ status: Int, _ body: String) -> SandboxAnswer {
    SandboxAnswer(status: status, contentType: "application/json", body: Array(body.utf8))
  }
  static func xml(_ body: String) -> SandboxAnswer {
    SandboxAnswer(status: 200, contentType: "text/xml;charset=UTF-8", body: Array(body.utf8))
  }
  static func html(_ status: Int) -> SandboxAnswer {
    let page =
      "<html><head><title>\(status)</title></head><body><h1>Something went wrong</h1><p>&nbsp;<br></body></html>\n"
    return SandboxAnswer(status: status, contentType: "text/html", body: Array(page.utf8))
  }
  /// The form of the service's REST answers (specification section 6.1).
  static func rest(_ status: Int, error: String) -> SandboxAnswer {
    json(
      status,
      "{\"meta\":{\"generalErrors\":[{\"message\":\(JSONString.quoted(error))}],\"fieldErrors\":{}},\"data\":null}")
  }
}

/// The fields of a form or query, decoded; nil for broken escapes or text that is not UTF-8.
func parseForm(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
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
      guard index + 2 < bytes.endIndex, let high = hexDigit(bytes[index + 1]), let low = hexDigit(bytes[index + 2])
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

private func hexDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
