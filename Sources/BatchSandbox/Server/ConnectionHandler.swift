import BatchThreads
import Glibc
import NIOCore
import NIOHTTP1

/// One connection: collects a request, plays the faults at its points, sends the answer.
///
/// Everything happens on the connection's event loop, which is never blocked: latency and delays are scheduled.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private static let maximumBody = 64 << 20

  private let core: SandboxCore
  private var connection = 0
  private var count = 0
  private var request: SandboxRequest?
  private var isKeptAlive = true
  private var announcedBytes: Int?
  private var halfWasSeen = false
  /// Delays from faults before the request is carried out.
  private var delay: Int64 = 0
  /// The last part of the request was read.
  private var hasEnded = false
  /// The request is complete and will be carried out, whether or not the client waits for it.
  private var isPending = false
  /// The request was dealt with before its end; the rest of it is read and forgotten.
  private var isSettled = false

  init(core: SandboxCore) { self.core = core }

  func channelActive(context: ChannelHandlerContext) {
    connection = core.connectionOpened()
    if let action = core.actionAtAccept(connection: connection) {
      switch action {
      case .reset: reset(context)
      case .delay(let milliseconds): pauseReading(context, milliseconds: milliseconds, thenClose: false)
      case .stall(let seconds): pauseReading(context, milliseconds: seconds.map { Int64($0 * 1000) }, thenClose: true)
      default: context.close(promise: nil)
      }
    }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    if let request, !isPending { core.ended(request.sequence, status: nil, answered: false) }
    request = nil
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): start(context, head)
    case .body(var part): append(context, &part)
    case .end: finish(context)
    }
  }

  // MARK: - Reading

  private func start(_ context: ChannelHandlerContext, _ head: HTTPRequestHead) {
    count += 1
    isKeptAlive = head.isKeepAlive
    announcedBytes = head.headers.first(name: "content-length").flatMap { Int($0) }
    halfWasSeen = false
    delay = 0
    isSettled = false
    hasEnded = false
    let request = core.begin(head, connection: connection, nth: count)
    self.request = request
    guard OwnHost.accepts(head.headers) else {
      isKeptAlive = false
      settle(context, .rest(421, error: "the sandbox answers to localhost, 127.0.0.1 and [::1] only"))
      return
    }
    if play(context, .headers) { return }
    if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
      context.writeAndFlush(
        wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
    }
  }

  private func append(_ context: ChannelHandlerContext, _ part: inout ByteBuffer) {
    guard !isSettled, request != nil else { return }
    if request?.buffer.readableBytes == 0 {
      // The first part is often all there is.
      request?.buffer = part
      if let announcedBytes, announcedBytes <= Self.maximumBody, announcedBytes > part.readableBytes {
        request?.buffer.reserveCapacity(announcedBytes)
      }
    } else {
      request?.buffer.writeBuffer(&part)
    }
    let bytes = request?.buffer.readableBytes ?? 0
    if bytes > Self.maximumBody {
      isKeptAlive = false
      settle(context, .html(413))
      return
    }
    if !halfWasSeen, let announcedBytes, bytes * 2 >= announcedBytes {
      halfWasSeen = true
      _ = play(context, .halfBody)
    }
  }

  /// Plays the fault of a point before the request is carried out; true if the request is settled by it.
  private func play(_ context: ChannelHandlerContext, _ point: FaultPoint) -> Bool {
    guard let request, let action = core.action(request, at: point) else { return false }
    switch action {
    case .delay(let milliseconds):
      delay += milliseconds
      return false
    case .expireToken: return false
    default:
      // While the rest of the body is on its way the connection cannot be used again.
      if point != .body { isKeptAlive = false }
      isSettled = true
      carryOut(context, action)
      return true
    }
  }

  private func finish(_ context: ChannelHandlerContext) {
    hasEnded = true
    if isSettled {
      // An early answer was held open until the client had sent everything, so that it can read it.
      if request == nil { context.close(promise: nil) }
      return
    }
    guard request != nil else { return }
    guard let work = withRequest({ core.received(&$0) }) else { return }
    if play(context, .body) { return }
    guard let request else { return }
    isPending = true
    after(context, milliseconds: delay) {
      self.isPending = false
      self.answer(context, request, work)
    }
  }

  private func withRequest<Result>(_ body: (inout SandboxRequest) -> Result) -> Result? {
    guard var taken = request else { return nil }
    let result = body(&taken)
    request = taken
    return result
  }

  // MARK: - Answering

  private func answer(_ context: ChannelHandlerContext, _ request: SandboxRequest, _ work: SandboxWork) {
    let answer = core.reply(to: request, work)
    if self.request == nil {
      // The client went away meanwhile; the service would not notice before it answers.
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
        after(context, milliseconds: latency) { self.carryOut(context, action) }
        return
      }
    }
    after(context, milliseconds: latency) {
      guard self.request != nil else { return }
      if let action = self.core.action(request, at: .response) {
        self.sendHalf(context, answer, action)
      } else {
        self.settle(context, answer)
      }
    }
  }

  private func carryOut(_ context: ChannelHandlerContext, _ action: FaultAction) {
    guard let request else { return }
    switch action {
    case .fault(let id, let text, let errorClass):
      settle(context, request.answer(toFault: id, text: text, errorClass: errorClass))
    case .close: context.close(promise: nil)
    case .reset: reset(context)
    case .stall(let seconds):
      if let seconds { after(context, milliseconds: Int64(seconds * 1000)) { context.close(promise: nil) } }
    case .status(let status, let headers, let body):
      settle(context, SandboxAnswer(status: status, contentType: nil, headers: headers, body: Array(body.utf8)))
    case .truncate(let bytes):
      let body = Array(String(repeating: "<Envelope><Body>", count: bytes / 16 + 2).utf8)
      sendPart(
        context, SandboxAnswer(status: 200, contentType: "text/xml;charset=UTF-8", body: body), bytes: bytes
      ) {
        context.close(promise: nil)
      }
    case .garbage(let status): settle(context, .html(status))
    case .empty: settle(context, SandboxAnswer(status: 200))
    case .redirect(let status, let location):
      settle(context, SandboxAnswer(status: status, headers: ["Location": location]))
    case .huge(let bytes):
      settle(
        context,
        SandboxAnswer(status: 200, contentType: "text/xml", body: Array(repeating: UInt8(ascii: " "), count: bytes)))
    case .stranger(let recipient):
      settle(
        context, request.platform?.answer(to: request, about: recipient) ?? .text(500, "Nobody is named \(recipient)"))
    case .echo(let status):
      let words =
        "refused: \(request.header("authorization") ?? "") \(String(decoding: request.body.prefix(4096), as: UTF8.self))"
      settle(
        context,
        status == 200
          ? request.answer(toFault: 100, text: words, errorClass: "SP.API") : .rest(status, message: words))
    case .delay, .expireToken, .twice: break
    }
  }

  private func head(_ answer: SandboxAnswer) -> HTTPResponseHead {
    var headers = HTTPHeaders()
    headers.add(name: "Date", value: core.dateHeader)
    if let type = answer.contentType { headers.add(name: "Content-Type", value: type) }
    for (name, value) in answer.headers.sorted(by: { $0.key < $1.key }) { headers.add(name: name, value: value) }
    headers.replaceOrAdd(name: "Content-Length", value: "\(answer.body.count)")
    if !isKeptAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
    return HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
  }

  private func settle(_ context: ChannelHandlerContext, _ answer: SandboxAnswer) {
    guard let request else { return }
    isSettled = true
    self.request = nil
    context.write(wrapOutboundOut(.head(head(answer))), promise: nil)
    if !answer.body.isEmpty {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
    }
    // Before the bytes leave: a client that has its answer must find its place free and its request in the ledger.
    core.ended(request.sequence, status: answer.status, answered: true)
    let promise = context.eventLoop.makePromise(of: Void.self)
    let (core, sequence, channel, closes) = (core, request.sequence, context.channel, !isKeptAlive && hasEnded)
    promise.futureResult.whenComplete { result in
      if case .failure = result { core.answerWasLost(sequence) }
      if closes { channel.close(promise: nil) }
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
    if !closes, hasEnded, let idle = core.idleCloseMilliseconds {
      let answered = count
      after(context, milliseconds: idle) {
        if self.count == answered { context.close(promise: nil) }
      }
    }
    if !hasEnded { after(context, milliseconds: 2000) { context.close(promise: nil) } }
  }

  /// Sends head and half of the body, then what the action says.
  private func sendHalf(_ context: ChannelHandlerContext, _ answer: SandboxAnswer, _ action: FaultAction) {
    switch action {
    case .expireToken: settle(context, answer)
    case .delay(let milliseconds):
      after(context, milliseconds: milliseconds) { self.settle(context, answer) }
    case .twice(let milliseconds): sendTwice(context, answer, pause: milliseconds)
    case .truncate(let bytes):
      sendPart(context, answer, bytes: min(bytes, answer.body.count)) { context.close(promise: nil) }
    case .close: sendPart(context, answer, bytes: answer.body.count / 2) { context.close(promise: nil) }
    case .reset: sendPart(context, answer, bytes: answer.body.count / 2) { self.reset(context) }
    case .stall(let seconds):
      sendPart(context, answer, bytes: answer.body.count / 2) {
        if let seconds { self.after(context, milliseconds: Int64(seconds * 1000)) { context.close(promise: nil) } }
      }
    default: carryOut(context, action)
    }
  }

  /// The second copy follows as if the first were longer than it said; the next request is read after it.
  private func sendTwice(_ context: ChannelHandlerContext, _ answer: SandboxAnswer, pause: Int64) {
    guard let request else { return }
    isSettled = true
    self.request = nil
    core.ended(request.sequence, status: answer.status, answered: true)
    let head = head(answer)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
    let lines = head.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    let copy = Array("HTTP/1.1 \(answer.status) \(head.status.reasonPhrase)\r\n\(lines)\r\n".utf8) + answer.body
    after(context, milliseconds: pause) {
      context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: copy)))), promise: nil)
      context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }
  }

  /// An answer that stops short; an empty body stops in its head, which announces one byte more.
  private func sendPart(
    _ context: ChannelHandlerContext, _ answer: SandboxAnswer, bytes: Int, then: @escaping () -> Void
  ) {
    var head = head(answer)
    if answer.body.isEmpty { head.headers.replaceOrAdd(name: "Content-Length", value: "1") }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body.prefix(bytes))))), promise: nil)
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { _ in then() }
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: promise)
  }

  // MARK: - Connection

  private func after(_ context: ChannelHandlerContext, milliseconds: Int64, _ body: @escaping () -> Void) {
    if milliseconds <= 0 {
      body()
    } else {
      context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds), body)
    }
  }

  /// Closes with RST: what the client has not read yet is lost to it.
  private func reset(_ context: ChannelHandlerContext) {
    guard let provider = context.channel as? any SocketOptionProvider else {
      context.close(promise: nil)
      return
    }
    provider.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  private func pauseReading(_ context: ChannelHandlerContext, milliseconds: Int64?, thenClose: Bool) {
    let channel = context.channel
    channel.setOption(.autoRead, value: false).assumeIsolated().whenComplete { _ in
      guard let milliseconds else { return }
      self.after(context, milliseconds: milliseconds) {
        if thenClose {
          context.close(promise: nil)
        } else {
          channel.setOption(.autoRead, value: true).whenComplete { _ in }
        }
      }
    }
  }
}

extension SandboxRequest {
  fileprivate func answer(toFault id: Int, text: String?, errorClass: String) -> SandboxAnswer {
    platform?.answer(toFault: id, text: text, errorClass: errorClass) ?? .text(500, text ?? "Error \(id)")
  }
}
