import Foundation

/// One accepted connection, in the hands of its script. Not shared between threads.
package final class LoopbackConnection: @unchecked Sendable {
  /// Counted from 0 in the order of acceptance.
  package let number: Int
  private let server: LoopbackServer
  private var socket: CInt
  private var buffer: [UInt8] = []
  private var place = -1
  private var head = ""
  private var body: [UInt8] = []

  init(socket: CInt, number: Int, server: LoopbackServer) {
    self.socket = socket
    self.number = number
    self.server = server
  }

  /// Reads the next request up to the end of its head; nil if the peer went away before its first byte.
  package func readHead() -> String? {
    place += 1
    body = []
    head = ""
    while true {
      if let end = Data(buffer).range(of: Data("\r\n\r\n".utf8)) {
        head = String(decoding: buffer[..<end.upperBound], as: UTF8.self)
        buffer.removeFirst(end.upperBound)
        note()
        return head
      }
      guard fill() else {
        guard !buffer.isEmpty else { return nil }
        head = String(decoding: buffer, as: UTF8.self)
        note()
        return nil
      }
    }
  }

  /// Reads up to `count` further bytes of the body, or all of it by the head's length.
  @discardableResult
  package func readBody(_ count: Int? = nil) -> [UInt8] {
    let declared =
      head.lowercased().components(separatedBy: "content-length:").dropFirst().first
      .flatMap { Int($0.prefix { $0 != "\r\n" }.trimmingCharacters(in: .whitespaces)) } ?? 0
    let wanted = min(declared, count.map { body.count + $0 } ?? declared)
    while body.count < wanted {
      if buffer.isEmpty, !fill() { break }
      let taken = min(buffer.count, wanted - body.count)
      body += buffer[..<taken]
      buffer.removeFirst(taken)
    }
    note()
    return body
  }

  /// Reads a whole request; nil if the peer went away.
  package func readRequest() -> (head: String, body: [UInt8])? {
    guard let head = readHead() else { return nil }
    return (head, readBody())
  }

  /// What comes first, whatever it is; nothing if the peer went away.
  package func readSome() -> [UInt8] {
    _ = fill()
    return buffer
  }

  package func send(_ text: String) { send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes[sent...].withUnsafeBytes { unsafe Foundation.send(socket, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// A whole answer with its length.
  package func answer(_ status: Int, _ headers: [String] = [], _ body: String = "") {
    answer(status, headers, bytes: Array(body.utf8))
  }

  package func answer(_ status: Int, _ headers: [String] = [], bytes: [UInt8]) {
    let lines = ["HTTP/1.1 \(status) Said", "Content-Length: \(bytes.count)"] + headers
    send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + bytes)
  }

  package func sleep(_ seconds: Double) { Thread.sleep(forTimeInterval: seconds) }

  /// Ends the connection in order (FIN).
  package func close() {
    guard socket >= 0 else { return }
    shutdown(socket, Int32(SHUT_RDWR))
    Foundation.close(socket)
    socket = -1
  }

  /// Ends the connection abruptly (RST).
  package func reset() {
    guard socket >= 0 else { return }
    var option = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    Foundation.close(socket)
    socket = -1
  }

  private func fill() -> Bool {
    guard socket >= 0 else { return false }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe recv(socket, &chunk, chunk.count, 0)
    guard count > 0 else { return false }
    buffer += chunk[..<count]
    return true
  }

  private func note() { server.note(connection: number, place: place, head: head, body: body) }
}
