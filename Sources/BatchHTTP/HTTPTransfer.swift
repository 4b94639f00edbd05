import CCurl

/// The state of one attempt, which libcurl's callbacks read and write.
@safe
final class HTTPTransfer {
  private(set) var status: Int?
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
  private var headers: [String: String] = [:]
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
    let line = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      headers = [:]
      status = line.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) }
    } else if let colon = line.firstIndex(of: ":") {
      let name = line[..<colon].lowercased()
      // The first one holds: nobody sends these twice for a good reason.
      if Self.kept.contains(name), headers[name] == nil {
        headers[name] = String(line[line.index(after: colon)...].trimmingBlanks())
      }
    }
    return count
  }

  private static let kept: Set<String> = ["content-type", "content-encoding", "retry-after", "date", "keep-alive"]

  /// Whether anything of an answer came.
  var hasAnswerBytes: Bool { headBytes > 0 }

  /// Nil if the answer does not say.
  var keepAliveSeconds: Int? {
    let parameters = headers["keep-alive"]?.lowercased().split(separator: ",") ?? []
    return parameters.compactMap { parameter in
      let pair = parameter.split(separator: "=").map { $0.trimmingBlanks() }
      return pair.count == 2 && pair[0] == "timeout" ? Int(pair[1]) : nil
    }.first
  }

  /// The answer, once it is complete; nil if there was no final status line.
  func answer(reusedConnection: Bool) -> HTTPAnswer? {
    guard let status, status >= 200 else { return nil }
    return HTTPAnswer(
      status: status, contentType: headers["content-type"], contentEncoding: headers["content-encoding"],
      retryAfter: headers["retry-after"], date: headers["date"], body: body, reusedConnection: reusedConnection)
  }
}

extension Substring {
  fileprivate func trimmingBlanks() -> Substring {
    drop(while: \.isWhitespace).dropLast(while: \.isWhitespace)
  }

  private func dropLast(while condition: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, condition(last) { rest = rest.dropLast() }
    return rest
  }
}
