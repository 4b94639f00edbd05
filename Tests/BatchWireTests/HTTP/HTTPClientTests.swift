import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import BatchWire

@Suite struct HTTPClientTests {
  static func address(_ server: LoopbackServer) throws -> ServiceAddress {
    try ServiceAddress("http://127.0.0.1:\(server.port)")
  }

  static func post(_ server: LoopbackServer, _ body: String = "{}", seconds: Double? = nil) throws -> HTTPRequest {
    HTTPRequest(
      .post, try address(server), "/rest/events/submission",
      headers: [.init("Authorization", "Bearer T1"), .init("Content-Type", "application/json")],
      body: Array(body.utf8), totalSeconds: seconds)
  }

  @Test func sendsOneRequestAndReadsItsAnswer() throws {
    let server = try LoopbackServer { connection in
      while connection.readRequest() != nil {
        connection.answer(
          201,
          [
            "Content-Type: application/json", "Retry-After:  7 ", "Date: Sun, 06 Nov 1994 08:49:37 GMT",
            "Set-Cookie: a=b",
          ],
          "{\"ok\":1}")
      }
    }
    let client = HTTPClient(.test())
    for turn in 0..<3 {
      guard case .answer(let answer) = client.send(try Self.post(server, "body \(turn)")) else {
        Issue.record("no answer")
        return
      }
      #expect(answer.status == 201)
      #expect(answer.contentType == "application/json")
      #expect(answer.retryAfter == "7")
      #expect(answer.date == "Sun, 06 Nov 1994 08:49:37 GMT")
      #expect(answer.body == Array("{\"ok\":1}".utf8))
    }
    #expect(server.connections == 1)
    #expect(server.arrivals.map(\.requestLine) == Array(repeating: "POST /rest/events/submission HTTP/1.1", count: 3))
    #expect(server.arrivals.map { String(decoding: $0.body, as: UTF8.self) } == ["body 0", "body 1", "body 2"])
    let first = try #require(server.arrivals.first)
    #expect(first.header("Authorization") == "Bearer T1")
    #expect(first.header("Content-Length") == "6")
    #expect(first.header("Accept-Encoding") == nil)
    #expect(first.header("Expect") == nil)
    #expect(server.arrivals.allSatisfy { $0.header("Cookie") == nil })
  }

  @Test func sendsABodyOfAnySizeOnce() throws {
    let server = try LoopbackServer { connection in
      while connection.readRequest() != nil { connection.answer(200) }
    }
    let client = HTTPClient(.test())
    for size in [0, 1, 65_535, 65_536, 65_537, 3_000_000] {
      let body = String(repeating: "x", count: size)
      guard case .answer(let answer) = client.send(try Self.post(server, body)) else {
        Issue.record("no answer for \(size) bytes")
        continue
      }
      #expect(answer.status == 200)
    }
    #expect(server.arrivals.map(\.body.count) == [0, 1, 65_535, 65_536, 65_537, 3_000_000])
  }

  @Test func getsWithoutABody() throws {
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.answer(200, [], "[]")
    }
    _ = HTTPClient(.test()).send(HTTPRequest(.get, try Self.address(server), "/rest/events/errors?filter=errorId%3D0"))
    #expect(server.arrivals.map(\.requestLine) == ["GET /rest/events/errors?filter=errorId%3D0 HTTP/1.1"])
    #expect(server.arrivals.first?.header("Content-Length") == nil)
  }

  @Test func aRedirectIsAnAnswerAndIsNotFollowed() throws {
    let other = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.answer(200)
    }
    let otherPort = other.port
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.answer(307, ["Location: http://127.0.0.1:\(otherPort)/stolen"])
    }
    guard case .answer(let answer) = HTTPClient(.test()).send(try Self.post(server)) else {
      Issue.record("no answer")
      return
    }
    #expect(answer.status == 307)
    #expect(server.arrivals.count == 1)
    #expect(other.connections == 0)
  }

  /// In a process of its own: the environment must not change under other threads.
  @Test func proxiesOfTheEnvironmentAreNotUsed() async {
    await #expect(processExitsWith: .success) {
      let proxy = try LoopbackServer { connection in
        _ = connection.readRequest()
        connection.answer(200)
      }
      let server = try LoopbackServer { connection in
        _ = connection.readRequest()
        connection.answer(204)
      }
      for name in ["http_proxy", "all_proxy"] { setenv(name, "http://127.0.0.1:\(proxy.port)", 1) }
      guard case .answer(let answer) = HTTPClient(.test()).send(try HTTPClientTests.post(server)) else { exit(1) }
      exit(answer.status == 204 && proxy.connections == 0 ? 0 : 2)
    }
  }

  @Test func aProxyIsToldItsLogin() throws {
    let proxy = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.answer(407)
    }
    let settings = HTTPSettings.test(proxy: .address("http://127.0.0.1:\(proxy.port)", login: "user:word"))
    let service = try ServiceAddress("https://service.invalid")
    _ = HTTPClient(settings).send(HTTPRequest(.get, service, "/"))
    #expect(proxy.arrivals.first?.requestLine == "CONNECT service.invalid:443 HTTP/1.1")
    #expect(proxy.arrivals.first?.header("Proxy-Authorization") == "Basic dXNlcjp3b3Jk")
  }

  @Test func nothingIsSentWithoutAConnection() throws {
    let closed = try LoopbackServer { _ in }.port
    let address = try ServiceAddress("http://127.0.0.1:\(closed)")
    Thread.sleep(forTimeInterval: 0.05)
    expectNotSent(HTTPClient(.test()).send(HTTPRequest(.post, address, "/")), .connect)
    let unknown = try ServiceAddress("https://no-such-host.invalid")
    expectNotSent(HTTPClient(.test()).send(HTTPRequest(.post, unknown, "/")), .resolve)
  }

  @Test(arguments: ["a\r\nX: y", "a\nb", "a\u{0}b"])
  func aHeaderCannotHoldALineBreak(_ value: String) throws {
    let server = try LoopbackServer { _ in }
    let request = HTTPRequest(.get, try Self.address(server), "/", headers: [.init("Authorization", value)])
    expectNotSent(HTTPClient(.test()).send(request), .invalidRequest)
    expectNotSent(HTTPClient(.test()).send(HTTPRequest(.get, try Self.address(server), "/a b")), .invalidRequest)
    #expect(server.connections == 0)
  }

  @Test func anAnswerOverTheLimitEndsTheAttempt() throws {
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      for _ in 0..<4096 { connection.send([UInt8](repeating: 0x20, count: 1 << 16)) }
    }
    expectNoAnswer(HTTPClient(.test()).send(try Self.post(server)), .tooLarge, status: 200)
  }

  @Test func aHeadOverTheLimitEndsTheAttempt() throws {
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      for _ in 0..<100_000 { connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
    }
    expectNoAnswer(HTTPClient(.test()).send(try Self.post(server)), .tooLarge, status: 100)
  }

  @Test func aCompressedAnswerIsNotInflated() throws {
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.answer(200, ["Content-Encoding: gzip"], bytes: [0x1F, 0x8B, 8, 0])
    }
    guard case .answer(let answer) = HTTPClient(.test()).send(try Self.post(server)) else {
      Issue.record("no answer")
      return
    }
    #expect(answer.contentEncoding == "gzip")
    #expect(answer.body == [0x1F, 0x8B, 8, 0])
  }

  @Test func theDeadlineHoldsForATricklingAnswer() throws {
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
      for _ in 0..<100 {
        connection.send("x")
        connection.sleep(0.1)
      }
    }
    let clock = ContinuousClock()
    let start = clock.now
    expectNoAnswer(HTTPClient(.test()).send(try Self.post(server, seconds: 0.6)), .timeout, status: 200)
    #expect(clock.now - start < .seconds(3))
  }

  @Test func theMinimumRateEndsASlowAnswer() throws {
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
      for _ in 0..<100 {
        connection.send("x")
        connection.sleep(0.1)
      }
    }
    let client = HTTPClient(.test(minimumRate: 1000, rateSeconds: 1))
    expectNoAnswer(client.send(try Self.post(server)), .timeout, status: 200)
  }

  @Test func cancellationEndsAWait() throws {
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.sleep(10)
    }
    let cancellation = HTTPCancellation()
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.2)
      cancellation.cancel()
    }
    let clock = ContinuousClock()
    let start = clock.now
    let client = HTTPClient(.test())
    expectNoAnswer(client.send(try Self.post(server), cancellation: cancellation), .cancelled)
    #expect(clock.now - start < .seconds(3))
    expectNotSent(client.send(try Self.post(server), cancellation: cancellation), .cancelled)
    #expect(server.arrivals.count == 1)
  }

  @Test func nothingSecretIsPrinted() throws {
    let server = try LoopbackServer { _ in }
    let request = HTTPRequest(
      .post, try Self.address(server), "/XMLAPI;jsessionid=CANARY?x=CANARY",
      headers: [.init("Authorization", "Bearer CANARY")],
      body: Array("CANARY".utf8))
    let answer = HTTPAnswer(status: 200, body: Array("CANARY".utf8))
    var dumped = ""
    dump(request, to: &dumped)
    dump(answer, to: &dumped)
    dump(HTTPOutcome.answer(answer), to: &dumped)
    dumped += "\(request) \(request.headers) \(answer) \(String(reflecting: request)) \(HTTPOutcome.answer(answer))"
    #expect(!dumped.contains("CANARY"))
  }
}

func expectNotSent(_ outcome: HTTPOutcome, _ kind: HTTPFault.Kind, _ location: SourceLocation = #_sourceLocation) {
  guard case .notSent(let fault) = outcome else {
    Issue.record("\(outcome)", sourceLocation: location)
    return
  }
  #expect(fault.kind == kind, sourceLocation: location)
}

func expectNoAnswer(
  _ outcome: HTTPOutcome, _ kind: HTTPFault.Kind, status: Int? = nil, _ location: SourceLocation = #_sourceLocation
) {
  guard case .noAnswer(let fault) = outcome else {
    Issue.record("\(outcome)", sourceLocation: location)
    return
  }
  #expect(fault.kind == kind, sourceLocation: location)
  #expect(fault.status == status, sourceLocation: location)
}
