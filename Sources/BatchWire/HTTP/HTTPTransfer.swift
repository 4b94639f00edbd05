import CCurl
import Glibc
import Synchronization

/// The state of one attempt, shared with libcurl's callbacks.
@safe
final class HTTPTransfer {
  /// The response's head, as far as it was received.
  private(set) var head = HTTPAnswerHead()
  /// The reason a callback ended the attempt; nil if none did.
  private(set) var stopped: HTTPFault.Kind?
  /// Whether libcurl was allowed to send the request.
  private(set) var hasStarted = false

  private let request: HTTPRequest
  private let handle: UnsafeMutableRawPointer
  private let watch: SocketWatch
  private let cancellation: HTTPCancellation?
  private let answerLimit: Int
  /// The maximum size of a response's head in bytes, including interim responses.
  private static let headLimit = 64 << 10
  private var provided = 0
  private var headBytes = 0
  private var body: [UInt8] = []

  init(
    _ request: HTTPRequest, settings: HTTPSettings, handle: UnsafeMutableRawPointer, watch: SocketWatch,
    cancellation: HTTPCancellation?
  ) {
    self.request = request
    self.watch = watch
    unsafe self.handle = handle
    self.cancellation = cancellation
    answerLimit = request.answerLimit ?? settings.answerLimit
  }

  /// Returns the transfer to which a callback's context refers; the transfer outlives the call to libcurl.
  static func from(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
    // The context is set together with the callback.
    guard let context = unsafe context else { preconditionFailure("libcurl lost its context") }
    return unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  }

  /// Called when a connection is established and no part of the request has been sent on it.
  ///
  /// When a reused connection dies without a response, libcurl resends the request, but calls this function
  /// first. The resend is refused unless no byte has been sent so far (reference guarantees 1.1).
  func mayStart() -> CInt {
    var sent = 0
    let known = unsafe engage_curl_get_long(handle, CURLINFO_REQUEST_SIZE, &sent) == CURLE_OK
    if hasStarted, !known || sent > 0 || provided > 0 {
      stopped = .cut
      return engage_curl_prerequest_stop
    }
    hasStarted = true
    watch.begin()
    return engage_curl_prerequest_go
  }

  var shouldStop: Bool {
    guard let cancellation, cancellation.isCancelled else { return false }
    stopped = .cancelled
    return true
  }

  func provide(_ target: UnsafeMutablePointer<CChar>?, _ capacity: Int) -> Int {
    guard let target = unsafe target else { return 0 }
    let count = min(capacity, request.body.count - provided)
    guard count > 0 else { return 0 }
    unsafe request.body.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(start: target, count: count).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: bytes[provided..<provided + count]))
    }
    provided += count
    return count
  }

  /// Receives a part of the response's body. Any result other than `count` ends the attempt.
  func receive(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard body.count + count <= answerLimit else {
      stopped = .tooLarge
      return 0
    }
    if body.isEmpty { body.reserveCapacity(min(head.expectedBytes, answerLimit)) }
    unsafe body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
    return count
  }

  /// Receives one line of the response's head, including interim responses and trailers.
  func receiveHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    headBytes += count
    guard headBytes <= Self.headLimit else {
      stopped = .tooLarge
      return 0
    }
    head.take(unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self))
    return count
  }

  var hasAnswerBytes: Bool { headBytes > 0 }

  /// The reason why a response is incomplete although libcurl considers it complete; nil if it is complete.
  var flaw: HTTPFault.Kind? { head.flaw(bodyOf: body.count) }

  /// The response; nil unless it is complete.
  var answer: HTTPAnswer? { flaw == nil ? received : nil }

  /// The response as far as it arrived; nil if its head is incomplete or partial responses are not kept.
  var partialAnswer: HTTPAnswer? { request.keepsPartialAnswer && head.isWhole ? received : nil }

  private var received: HTTPAnswer? { head.status.map { HTTPAnswer(status: $0, fields: head.fields, body: body) } }
}

/// Ends attempts from another thread, within about a second. Several attempts may share one; cancelling is final.
package final class HTTPCancellation: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package func cancel() { flag.store(true, ordering: .relaxed) }

  package var isCancelled: Bool { flag.load(ordering: .relaxed) }
}

/// Detects that a reused connection was closed by its peer before a byte of the request reached it.
///
/// A server may close an idle connection at the moment a request is sent. The end of the stream then arrives without a
/// TCP acknowledgement of the request's bytes. The server's program cannot have seen them, and its system answers with
/// a reset.
@safe
final class SocketWatch {
  private var socket: curl_socket_t = -1
  private var acknowledged: Int64 = -1
  private var isSending = false
  /// Whether the connection's last request did not reach the peer.
  private(set) var wasUnheard = false
  private let handle: UnsafeMutableRawPointer

  init(_ handle: UnsafeMutableRawPointer) { unsafe self.handle = unsafe handle }

  static func from(_ context: UnsafeMutableRawPointer?) -> SocketWatch? {
    unsafe context.map { unsafe Unmanaged<SocketWatch>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Begins watching the socket of a reused connection, -1 for none, before a request.
  func watch(_ socket: curl_socket_t) {
    self.socket = socket
    acknowledged = socket >= 0 ? engage_tcp_bytes_acknowledged(socket) : -1
    isSending = false
    wasUnheard = false
  }

  /// Notes that the request is about to be sent, on the watched connection or another one.
  func begin() { isSending = true }

  /// Closes a socket after checking whether the peer closed the connection before the request arrived.
  func close(_ socket: curl_socket_t) -> CInt {
    if socket == self.socket {
      if isSending { wasUnheard = closedUnheard() }
      self.socket = -1
    }
    return Glibc.close(socket)
  }

  private func closedUnheard() -> Bool {
    var error = 0
    // After a reset it is unknown what the peer read. A reset after the end of the stream (EPIPE) does not matter.
    guard acknowledged >= 0, unsafe engage_curl_get_long(handle, CURLINFO_OS_ERRNO, &error) == CURLE_OK,
      error == 0 || error == Int(EPIPE)
    else { return false }
    var byte: UInt8 = 0
    return unsafe recv(socket, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 0
      && engage_tcp_bytes_acknowledged(socket) == acknowledged
  }
}
