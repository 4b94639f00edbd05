import BatchSandbox
import Glibc
import Testing

/// What the server takes for a request of HTTP/1.1, byte by byte.
@Suite("Requests at the wire") struct WireTests {
  private static func head(_ token: String, _ more: [String]) -> String {
    (["POST /rest/events/submission HTTP/1.1", "Host: localhost", "Authorization: Bearer \(token)"] + more)
      .joined(separator: "\r\n") + "\r\n\r\n"
  }

  @Test("A body in chunks, with extensions and trailers, is the same body")
  func chunks() throws {
    try withSandbox { server, client, token throws in
      let body = Array(submission([event("a")]).utf8)
      var bytes = Array(Self.head(token, ["Transfer-Encoding: chunked"]).utf8)
      for (number, piece) in [body[..<50], body[50...]].enumerated() {
        bytes += Array("\(String(piece.count, radix: 16))\(number == 0 ? ";a=b" : "")\r\n".utf8) + piece + [13, 10]
      }
      try client.send(bytes + Array("0\r\nMore: x\r\n\r\n".utf8))
      #expect(try client.readAnswer().status == 201)
      #expect(server.ledger.last?.bodyBytes == body.count)
      #expect(server.ledger.last?.bodyDigest == BodyDigest(body).text)
    }
  }

  @Test("A request that comes byte by byte is read")
  func slowly() throws {
    try withSandbox { server, client, token throws in
      let body = submission([event("a")])
      for byte in Array((Self.head(token, ["content-length: \(body.utf8.count)"]) + body).utf8) {
        try client.send([byte])
      }
      #expect(try client.readAnswer().status == 201)
      #expect(server.totals.eventsApplied == 1)
    }
  }

  @Test("Requests that are sent ahead are carried out one after the other, each after the answer before")
  func ahead() throws {
    let options = EngageSandboxOptions.fixture { $0.server.faults.latencyMilliseconds = 20 }
    try withSandbox(options) { server, client, token throws in
      let bodies = ["a", "b", "c"].map { submission([event($0)]) }
      try client.send(
        bodies.flatMap { Array((Self.head(token, ["Content-Length: \($0.utf8.count)"]) + $0).utf8) })
      for _ in bodies { #expect(try client.readAnswer().status == 201) }
      #expect(server.ledger.map(\.nthOnConnection) == [1, 2, 3, 4])
      #expect(server.ledger.map(\.bodyDigest).suffix(3) == bodies.map { BodyDigest($0.utf8).text }[...])
      #expect(server.totals.maxInFlight == 1)
    }
  }

  @Test(
    "What is no request is refused with 400 and the connection closed",
    arguments: [
      "nonsense\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "G\u{1}T / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nBad Name: x\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
      "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 90_000) + "\r\n\r\n",
    ])
  func refused(text: String) throws {
    try withServer { server, client throws in
      try client.send(Array(text.utf8))
      let answer = try client.readAnswer()
      #expect(answer.status == 400 && answer.headers["connection"] == "close")
      #expect(throws: RawClient.Failure.self) { try client.readAnswer() }
      #expect(server.totals.requests == 0)
    }
  }

  @Test(
    "Chunks that are none end the connection; the request stays without an answer", arguments: ["x\r\n", "1\r\naXX"])
  func brokenChunks(chunk: String) throws {
    try withSandbox { server, client, token throws in
      try client.send(Array((Self.head(token, ["Transfer-Encoding: chunked"]) + chunk + "\r\n").utf8))
      #expect(throws: RawClient.Failure.self) { try client.readAnswer() }
      #expect(server.ledger.last?.answered == false && server.ledger.last?.status == nil)
      #expect(server.totals.eventsApplied == 0)
    }
  }

  @Test("HTTP/1.0 and 'Connection: close' end the connection after the answer")
  func closes() throws {
    for text in ["GET /x HTTP/1.0\r\n\r\n", "GET /x HTTP/1.1\r\nConnection: Close\r\n\r\n"] {
      try withServer { _, client throws in
        try client.send(Array(text.utf8))
        let answer = try client.readAnswer()
        #expect(answer.status == 404 && answer.headers["connection"] == "close" && answer.isComplete)
        #expect(throws: RawClient.Failure.closed) { try client.readAnswer() }
      }
    }
  }

  @Test("An answer larger than the buffers of the system leaves whole, while others are served")
  func large() throws {
    let rule = FaultRule(endpoint: .events, point: .body, action: .huge(bytes: 32 << 20))
    try withSandbox(.fixture { $0.server.faults.rules = [rule] }) { server, client, token throws in
      try client.sendRequest("POST", "/rest/events/submission", token: token, body: submission([event("a")]))
      let other = try RawClient(port: server.port)
      #expect(try other.request("GET", "/sandbox/state").status == 200)
      let answer = try client.readAnswer()
      #expect(answer.isComplete && answer.body.utf8.count == 32 << 20)
    }
  }

  @Test("A server that is stopped has closed its port and connections, and may be stopped twice")
  func stopped() throws {
    let server = try SandboxServer.start(.fixture())
    let client = try RawClient(port: server.port)
    #expect(try client.request("GET", "/x").status == 404)
    try server.stop()
    try server.stop()
    #expect(throws: RawClient.Failure.closed) { try client.readAnswer() }
    #expect(throws: RawClient.Failure.system(ECONNREFUSED)) { try RawClient(port: server.port) }
  }

  @Test("A port that is taken is said")
  func taken() throws {
    try withServer { server, _ throws in
      let error = #expect(throws: SandboxPortError.self) {
        try SandboxServer.start(.fixture { $0.server.port = server.port })
      }
      #expect(error?.port == server.port && error?.code == EADDRINUSE)
    }
  }
}
