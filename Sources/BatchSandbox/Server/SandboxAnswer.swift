import BatchFoundation

/// A response before it is sent.
package struct SandboxAnswer: Sendable, Equatable {
  package var status: Int
  package var contentType: String?
  package var headers: [String: String] = [:]
  package var body: [UInt8] = []

  package static func json(_ status: Int, _ body: String) -> SandboxAnswer {
    SandboxAnswer(status: status, contentType: "application/json", body: Array(body.utf8))
  }

  package static func text(_ status: Int, _ body: String) -> SandboxAnswer {
    SandboxAnswer(status: status, contentType: "text/plain; charset=utf-8", body: Array(body.utf8))
  }

  package static func html(_ status: Int) -> SandboxAnswer {
    let page =
      "<html><head><title>\(status)</title></head><body><h1>Something went wrong</h1><p>&nbsp;<br></body></html>\n"
    return SandboxAnswer(status: status, contentType: "text/html", body: Array(page.utf8))
  }

  static func rest(_ status: Int, message: String) -> SandboxAnswer {
    json(status, "{\"message\":\(JSONString.quoted(message))}")
  }

  package static func rest(_ status: Int, error: String) -> SandboxAnswer {
    rest(status, data: "null", errors: "{\"message\":\(JSONString.quoted(error))}")
  }

  /// - Parameters:
  ///   - data: the data in JSON.
  ///   - errors: the elements of the list of errors, in JSON.
  static func rest(_ status: Int = 200, data: String, errors: String = "") -> SandboxAnswer {
    json(status, "{\"meta\":{\"generalErrors\":[\(errors)],\"fieldErrors\":{}},\"data\":\(data)}")
  }
}

extension SandboxAnswer {
  /// Returns the status line and headers. `length` replaces the body's length, unless it is nil.
  func head(date: String, isKeptAlive: Bool, announcing length: Int? = nil) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status) \(Self.reasons[status] ?? "")", "Date: \(date)"]
    if let contentType { lines.append("Content-Type: \(contentType)") }
    let own = isKeptAlive ? Self.own : Self.own.union(["connection"])
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) where !own.contains(name.lowercased()) {
      lines.append("\(name): \(value)")
    }
    // Responses with status 1xx, 204 or 304 have no body (RFC 9110, 6.4.1).
    if status >= 200, status != 204, status != 304 { lines.append("Content-Length: \(length ?? body.count)") }
    if !isKeptAlive { lines.append("Connection: close") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// Headers that the server sets itself.
  private static let own: Set<String> = ["content-length", "transfer-encoding"]

  private static let reasons = [
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found",
    303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
    409: "Conflict", 413: "Content Too Large", 429: "Too Many Requests", 500: "Internal Server Error",
    501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
  ]
}
