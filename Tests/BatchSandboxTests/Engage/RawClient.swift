import Glibc

/// One TCP connection to the sandbox, byte by byte: what a client library would hide is what these tests look at.
final class RawClient {
  struct Answer: Equatable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String]
    var body: String
    /// Whether as many bytes came as were announced.
    var isComplete: Bool
  }
  enum Failure: Error, Equatable {
    case closed
    case reset
    case timeout
    case system(Int32)
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(port: Int, timeoutSeconds: Int = 5) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result != 0 { throw Failure.system(errno) }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) throws {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress.map { $0 + offset }, $0.count - offset, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { throw Failure.reset }
      offset += count
    }
  }

  func sendRequest(
    _ method: String = "POST", _ path: String, token: String? = nil, type: String = "application/json",
    body: String = "",
    headers: [String: String] = [:]
  ) throws {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n"
    if !body.utf8.isEmpty { head += "Content-Type: \(type)\r\n" }
    if let token { head += "Authorization: Bearer \(token)\r\n" }
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    try send(Array((head + "\r\n" + body).utf8))
  }

  /// Sends a request and reads its answer, all of it or as much as comes.
  func request(
    _ method: String = "POST", _ path: String, token: String? = nil, type: String = "application/json",
    body: String = "",
    headers: [String: String] = [:]
  ) throws -> Answer {
    try sendRequest(method, path, token: token, type: type, body: body, headers: headers)
    return try readAnswer()
  }

  /// - Throws: ``Failure`` if the connection ends before the head of an answer is complete.
  func readAnswer() throws -> Answer {
    var end: Int?
    repeat {
      end = firstEmptyLine()
      if end == nil { try receive() }
    } while end == nil
    let headEnd = end ?? 0
    let lines = String(decoding: buffer[..<headEnd], as: UTF8.self).split(separator: "\r\n")
    buffer.removeFirst(headEnd + 4)
    let status = Int(lines[0].split(separator: " ")[1]) ?? 0
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    let length = Int(headers["content-length"] ?? "") ?? 0
    var isComplete = true
    while buffer.count < length {
      do {
        try receive()
      } catch {
        isComplete = false
        break
      }
    }
    let body = buffer.prefix(length)
    buffer.removeFirst(body.count)
    return Answer(status: status, headers: headers, body: String(decoding: body, as: UTF8.self), isComplete: isComplete)
  }

  private func firstEmptyLine() -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    guard buffer.count >= 4 else { return nil }
    return (0...(buffer.count - 4)).first { buffer[$0] == 13 && buffer[$0..<$0 + 4].elementsEqual(mark) }
  }

  private func receive() throws(Failure) {
    var block = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &block, block.count, 0)
    if count == 0 { throw .closed }
    if count < 0 { throw errno == ECONNRESET ? .reset : errno == EAGAIN ? .timeout : .system(errno) }
    buffer.append(contentsOf: block[..<count])
  }

  // MARK: - Calls

  func token(
    id: String = "cid-example", secret: String = "sec%2Fret%2Bexample%3D", refresh: String = "ref-example"
  ) throws -> Answer {
    try request(
      "POST", "/oauth/token", type: "application/x-www-form-urlencoded",
      body: "grant_type=refresh_token&client_id=\(id)&client_secret=\(secret)&refresh_token=\(refresh)")
  }

  /// A fresh, or the current, access token.
  func accessToken() throws -> String {
    String(try token().body.split(separator: "\"")[3])
  }

  /// Sends operations as a raw XML body and returns what stands inside the Body of the answer.
  func xml(_ operations: String, token: String) throws -> String {
    let answer = try request(
      "POST", "/XMLAPI", token: token, type: "text/xml;charset=UTF-8",
      body: "<Envelope><Body>\(operations)</Body></Envelope>")
    guard answer.body.hasPrefix("<Envelope><Body>"), answer.body.hasSuffix("</Body></Envelope>") else {
      return answer.body
    }
    return String(answer.body.dropFirst("<Envelope><Body>".count).dropLast("</Body></Envelope>".count))
  }
}
