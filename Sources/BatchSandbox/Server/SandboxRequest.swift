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
