import BatchFoundation

/// An answer before it is sent.
package struct SandboxAnswer: Sendable, Equatable {
  package var status: Int
  package var contentType: String?
  package var headers: [String: String]
  package var body: [UInt8]

  package init(status: Int, contentType: String? = nil, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
  }

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

  /// A JSON object with one message.
  static func rest(_ status: Int, message: String) -> SandboxAnswer {
    json(status, "{\"message\":\(JSONString.quoted(message))}")
  }

  /// A JSON document that says what is wrong.
  package static func rest(_ status: Int, error: String) -> SandboxAnswer {
    json(
      status,
      "{\"meta\":{\"generalErrors\":[{\"message\":\(JSONString.quoted(error))}],\"fieldErrors\":{}},\"data\":null}")
  }
}
