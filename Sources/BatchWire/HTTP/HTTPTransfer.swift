import CCurl

/// The state of one attempt, which libcurl's callbacks read and write.
@safe
final class HTTPTransfer {
  /// Of the answer, as far as it came.
  private(set) var head = HTTPAnswerHead()
  /// Why a callback ended the attempt; nil if none did.
  private(set) var stopped: HTTPFault.Kind?
  /// Whether libcurl was given leave to send the request.
  private(set) var hasStarted = false

  private let request: HTTPRequest
  private let handle: UnsafeMutableRawPointer
  private let watch: SocketWatch
  private let cancellation: HTTPCancellation?
  private let answerLimit: Int
  private let headLimit: Int
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
    headLimit = settings.headLimit
  }

  /// The transfer that was handed to libcurl as context; it outlives the call that uses it.
  static func from(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
    // It was set together with the callback; without it there is nothing to answer to.
    guard let context = unsafe context else { preconditionFailure("libcurl lost its context") }
    return unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  }

  /// Called when a connection is there and nothing of the request has been sent on it.
  ///
  /// libcurl by itself sends a request again when a connection it used again dies without an answer. It comes past here a
  /// second time then, and that is refused unless not one byte has left so far (reference guarantees 1.1).
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

  /// Hands out the next part of the request's body.
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

  /// Takes a part of the answer's body. Any other result than `count` ends the attempt.
  func receive(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard body.count + count <= answerLimit else {
      stopped = .tooLarge
      return 0
    }
    unsafe body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
    return count
  }

  /// Takes one line of the answer's head, interim answers and trailers included.
  func receiveHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    headBytes += count
    guard headBytes <= headLimit else {
      stopped = .tooLarge
      return 0
    }
    head.take(unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self))
    return count
  }

  /// Whether anything of an answer came.
  var hasAnswerBytes: Bool { headBytes > 0 }

  /// Why an answer that libcurl takes for whole is none; nil if it is one.
  var flaw: HTTPFault.Kind? { head.flaw(bodyOf: body.count) }

  /// The answer; nil unless it is whole.
  func answer(reusedConnection: Bool) -> HTTPAnswer? {
    guard flaw == nil, let status = head.status else { return nil }
    return HTTPAnswer(
      status: status, contentType: head["content-type"], contentEncoding: head["content-encoding"],
      retryAfter: head["retry-after"], date: head["date"], location: head["location"], body: body,
      reusedConnection: reusedConnection)
  }
}
