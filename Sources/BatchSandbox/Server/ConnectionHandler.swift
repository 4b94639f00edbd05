/// One connection: reads requests, plays the faults at each point, and sends responses. Everything runs on the loop's
/// thread and never blocks it: latency and delays are scheduled.
final class ConnectionHandler {
  private static let maximumBody = 64 << 20
  /// The maximum number of bytes that a client may send while a response is due.
  private static let mostAhead = 1 << 20

  private let core: SandboxCore
  private let loop: SocketLoop
  private let socket: Socket
  private let connection: Int
  private var reader = RequestReader()
  /// Whether received bytes are being parsed.
  private var isTakingApart = false
  private var count = 0
  private var request: SandboxRequest?
  private var isKeptAlive = true
  private var announcedBytes: Int?
  private var halfWasSeen = false
  /// The milliseconds by which faults delay the request before it is carried out.
  private var delay: Int64 = 0
  /// Whether the last part of the request was read.
  private var hasEnded = false
  /// Whether the request is complete; it will be carried out even if the client disconnects.
  private var isPending = false
  /// Whether the response will be written a second time.
  private var isRepeating = false
  /// Whether the request was answered or met a fault that replaces the response; any rest of it is read and discarded.
  private var isSettled = false

  /// Takes over a new connection and plays the plan's fault for it, if any.
  init(_ socket: Socket, on loop: SocketLoop, core: SandboxCore) {
    self.core = core
    self.loop = loop
    self.socket = socket
    connection = core.connectionOpened()
    socket.owner = self
    switch core.actionAtAccept(connection: connection) {
    case nil: break
    case .reset: socket.reset()
    case .delay(let milliseconds):
      socket.isReading = false
      loop.after(milliseconds: milliseconds) { socket.isReading = true }
    case .stall(let seconds):
      socket.isReading = false
      close(after: seconds)
    default: socket.close()
    }
  }

  /// - Parameter seconds: nil to wait until the client gives up.
  private func close(after seconds: Double?) {
    if let seconds { loop.after(milliseconds: Int64(seconds * 1000)) { self.socket.close() } }
  }

  /// Called when the connection was closed, by either side.
  func closed() {
    if let request, !isPending { core.ended(request.sequence, status: nil, answered: false) }
    request = nil
  }

  func received(_ bytes: UnsafeRawBufferPointer) {
    unsafe reader.append(bytes)
    read()
  }

  /// Reads up to the end of a request. The next request must wait for the response.
  private func read() {
    guard !isTakingApart else { return }
    isTakingApart = true
    defer { isTakingApart = false }
    do throws(RequestError) {
      while socket.isOpen, !isAnswering, let part = try reader.next() {
        switch part {
        case .head(let head): start(head)
        case .body(let piece): append(piece)
        case .end: finish()
        }
      }
      socket.isReading = !isAnswering || reader.unread < Self.mostAhead
    } catch {
      if request == nil { socket.write(Array(Self.refusal.utf8)) }
      socket.close()
    }
  }

  /// Whether a request was read to its end and its response is still due.
  private var isAnswering: Bool { hasEnded && (request != nil || isRepeating) }

  private static let refusal = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

  // MARK: - Reading

  private func start(_ head: RequestHead) {
    count += 1
    isKeptAlive = head.isKeptAlive
    announcedBytes = head["content-length"].flatMap { Int($0) }
    halfWasSeen = false
    delay = 0
    isSettled = false
    hasEnded = false
    let request = core.begin(head, connection: connection, nth: count)
    self.request = request
    guard OwnHost.accepts(head) else {
      isKeptAlive = false
      settle(.rest(421, error: "the sandbox accepts only requests to localhost, 127.0.0.1 and [::1]"))
      return
    }
    if play(.headers) { return }
    if head["expect"]?.lowercased() == "100-continue" { socket.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
  }

  private func append(_ piece: ArraySlice<UInt8>) {
    guard !isSettled, request != nil else { return }
    if let announcedBytes, announcedBytes <= Self.maximumBody, request?.body.isEmpty == true {
      request?.body.reserveCapacity(announcedBytes)
    }
    request?.body += piece
    let bytes = request?.body.count ?? 0
    if bytes > Self.maximumBody {
      isKeptAlive = false
      settle(.html(413))
      return
    }
    if !halfWasSeen, let announcedBytes, bytes * 2 >= announcedBytes {
      halfWasSeen = true
      _ = play(.halfBody)
    }
  }

  /// Plays the fault at a point before the request is carried out; returns true if that settles the request.
  private func play(_ point: FaultPoint) -> Bool {
    guard let request, let action = core.action(request, at: point) else { return false }
    switch action {
    case .delay(let milliseconds):
      delay += milliseconds
      return false
    case .expireToken: return false
    default:
      // While the rest of the body is in transit, the connection cannot be reused.
      if point != .body { isKeptAlive = false }
      isSettled = true
      carryOut(action)
      return true
    }
  }

  private func finish() {
    hasEnded = true
    if isSettled {
      // After an early response, the connection stays open until the client has sent everything and can read the
      // response.
      if request == nil { self.socket.close() }
      return
    }
    guard request != nil else { return }
    guard let work = withRequest({ core.received(&$0) }) else { return }
    if play(.body) { return }
    guard let request else { return }
    isPending = true
    loop.after(milliseconds: delay) {
      self.isPending = false
      self.answer(request, work)
    }
  }

  private func withRequest<Result>(_ body: (inout SandboxRequest) -> Result) -> Result? {
    guard var taken = request else { return nil }
    let result = body(&taken)
    request = taken
    return result
  }

  // MARK: - Answering

  private func answer(_ request: SandboxRequest, _ work: SandboxWork) {
    let answer = core.reply(to: request, work)
    if self.request == nil {
      // The client has disconnected; a real service would not notice before it responds.
      core.ended(request.sequence, status: nil, answered: false)
      return
    }
    let refused = request.isOverTheGate
    var latency = refused || request.endpoint == .sandbox ? 0 : core.latencyMilliseconds
    if !refused, let action = core.action(request, at: .applied) {
      switch action {
      case .delay(let milliseconds): latency += milliseconds
      case .expireToken: break
      default:
        loop.after(milliseconds: latency) { self.carryOut(action) }
        return
      }
    }
    loop.after(milliseconds: latency) {
      guard self.request != nil else { return }
      if let action = self.core.action(request, at: .response) {
        self.sendHalf(answer, action)
      } else {
        self.settle(answer)
      }
    }
  }

  private func carryOut(_ action: FaultAction) {
    guard let request else { return }
    switch action {
    case .fault(let id, let text, let errorClass):
      settle(request.answer(toFault: id, text: text, errorClass: errorClass))
    case .close: socket.close()
    case .reset: socket.reset()
    case .stall(let seconds): close(after: seconds)
    case .status(let status, let headers, let body):
      settle(SandboxAnswer(status: status, contentType: nil, headers: headers, body: Array(body.utf8)))
    case .truncate(let bytes):
      let body = Array(String(repeating: "<Envelope><Body>", count: bytes / 16 + 2).utf8)
      sendPart(SandboxAnswer(status: 200, contentType: "text/xml;charset=UTF-8", body: body), bytes: bytes) {
        self.socket.close()
      }
    case .garbage(let status): settle(.html(status))
    case .empty: settle(SandboxAnswer(status: 200))
    case .redirect(let status, let location):
      settle(SandboxAnswer(status: status, headers: ["Location": location]))
    case .huge(let bytes):
      settle(
        SandboxAnswer(status: 200, contentType: "text/xml", body: Array(repeating: UInt8(ascii: " "), count: bytes)))
    case .stranger(let recipient):
      settle(request.platform?.answer(to: request, about: recipient) ?? .text(500, "Unknown recipient \(recipient)"))
    case .echo(let status):
      let words =
        "refused: \(request.header("authorization") ?? "") \(String(decoding: request.body.prefix(4096), as: UTF8.self))"
      settle(
        status == 200 ? request.answer(toFault: 100, text: words, errorClass: "SP.API") : .rest(status, message: words))
    case .delay, .expireToken, .twice: break
    }
  }

  private func settle(_ answer: SandboxAnswer) {
    guard let request else { return }
    isSettled = true
    self.request = nil
    // This precedes the response: once a client has it, its slot must be free and its request in the ledger.
    core.ended(request.sequence, status: answer.status, answered: true)
    let (core, sequence, socket, closes) = (core, request.sequence, socket, !isKeptAlive && hasEnded)
    socket.write(answer.head(date: core.dateHeader, isKeptAlive: isKeptAlive) + answer.body) { isSent in
      if !isSent { core.answerWasLost(sequence) }
      if closes { self.socket.close() }
    }
    if !closes, hasEnded, let idle = core.idleCloseMilliseconds {
      let answered = count
      loop.after(milliseconds: idle) {
        if self.count == answered { self.socket.close() }
      }
    }
    if !hasEnded { loop.after(milliseconds: 2000) { self.socket.close() } }
    read()
  }

  /// Plays an action in the middle of the response. Actions that break the connection first send the head and
  /// half of the body.
  private func sendHalf(_ answer: SandboxAnswer, _ action: FaultAction) {
    switch action {
    case .expireToken: settle(answer)
    case .delay(let milliseconds):
      loop.after(milliseconds: milliseconds) { self.settle(answer) }
    case .twice(let milliseconds): sendTwice(answer, pause: milliseconds)
    case .truncate(let bytes):
      sendPart(answer, bytes: min(bytes, answer.body.count)) { self.socket.close() }
    case .close: sendPart(answer, bytes: answer.body.count / 2) { self.socket.close() }
    case .reset: sendPart(answer, bytes: answer.body.count / 2) { self.socket.reset() }
    case .stall(let seconds):
      sendPart(answer, bytes: answer.body.count / 2) { self.close(after: seconds) }
    default: carryOut(action)
    }
  }

  /// Sends the response twice, as if it were longer than announced. The next request is read after the second
  /// copy is written.
  private func sendTwice(_ answer: SandboxAnswer, pause: Int64) {
    guard let request else { return }
    isSettled = true
    isRepeating = true
    self.request = nil
    core.ended(request.sequence, status: answer.status, answered: true)
    let bytes = answer.head(date: core.dateHeader, isKeptAlive: isKeptAlive) + answer.body
    socket.write(bytes)
    loop.after(milliseconds: pause) {
      self.socket.write(bytes)
      self.isRepeating = false
      self.read()
    }
  }

  /// Sends a truncated response. If the response has no body, the head announces one byte, which is never sent.
  private func sendPart(_ answer: SandboxAnswer, bytes: Int, then: @escaping () -> Void) {
    let head = answer.head(
      date: core.dateHeader, isKeptAlive: isKeptAlive, announcing: max(answer.body.count, 1))
    socket.write(head + answer.body.prefix(bytes)) { _ in then() }
  }
}

extension SandboxRequest {
  fileprivate func answer(toFault id: Int, text: String?, errorClass: String) -> SandboxAnswer {
    platform?.answer(toFault: id, text: text, errorClass: errorClass) ?? .text(500, text ?? "Error \(id)")
  }
}
