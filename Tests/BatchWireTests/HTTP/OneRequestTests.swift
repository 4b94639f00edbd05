import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import BatchWire

/// One attempt is one request on the wire (reference guarantees 1.1): the ledger of a server that cuts connections at every
/// point never shows more, on a fresh connection and on one that is used again.
@Suite struct OneRequestTests {
  enum Point: String, CaseIterable {
    case beforeTheHead, afterTheHead, midBody, afterTheBody, midStatusLine, afterTheStatusLine, midAnswer, idle
  }

  struct Cut: CustomTestStringConvertible {
    var point: Point
    var reset: Bool
    /// Requests that go well on the connection before the cut.
    var before: Int
    var size: Int
    var testDescription: String { "\(point) \(reset ? "RST" : "FIN") after \(before), \(size) bytes" }
  }

  static let cuts = Point.allCases.flatMap { point in
    [false, true].flatMap { reset in
      [0, 1, 3].flatMap { before in
        [0, 100, 60_000, 2_000_000].map { Cut(point: point, reset: reset, before: before, size: $0) }
      }
    }
  }

  /// Plays the cut on the first connection; any later one answers everything.
  static func server(_ cut: Cut) throws -> LoopbackServer {
    try LoopbackServer { connection in
      var count = 0
      let end = { if cut.reset { connection.reset() } else { connection.close() } }
      while true {
        if connection.number == 0, count == cut.before {
          if cut.point == .beforeTheHead { return end() }
          guard connection.readHead() != nil else { return }
          if cut.point == .afterTheHead { return end() }
          connection.readBody(cut.size / 2)
          if cut.point == .midBody { return end() }
          connection.readBody()
          switch cut.point {
          case .afterTheBody: break
          case .midStatusLine: connection.send("HTTP/1.1 2")
          case .afterTheStatusLine: connection.send("HTTP/1.1 201 Created\r\nContent-")
          case .midAnswer: connection.send("HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n12345")
          default: connection.answer(201)
          }
          if cut.point == .idle { connection.sleep(0.01) }
          return end()
        }
        guard connection.readRequest() != nil else { return }
        connection.answer(201)
        count += 1
      }
    }
  }

  @Test(arguments: cuts)
  func isNeverSentTwice(_ cut: Cut) throws {
    let server = try Self.server(cut)
    let client = HTTPClient(.test())
    let total = cut.before + 3
    var answered = 0
    for turn in 0..<total {
      let body = [UInt8](repeating: UInt8(ascii: "a") + UInt8(turn), count: cut.size)
      let request = HTTPRequest(
        .post, try HTTPClientTests.address(server), "/\(turn)", headers: [.init("Content-Type", "text/plain")],
        body: body,
        totalSeconds: 5)
      let outcome = client.send(request)
      let seen = server.arrivals.filter {
        $0.requestLine.hasPrefix("POST /\(turn) ") || $0.requestLine == "POST /\(turn)"
      }
      #expect(seen.count <= 1, "request \(turn) came \(seen.count) times")
      switch outcome {
      case .answer(let answer):
        answered += 1
        #expect(answer.status == 201)
        #expect(seen.first?.body == body)
      case .notSent: #expect(seen.isEmpty, "request \(turn) was sent")
      case .noAnswer(let fault): #expect(fault.kind == .cut, "\(fault)")
      }
    }
    // All but the cut one, and the one that met a connection just closed behind its back.
    #expect(answered >= total - 1)
  }

  /// An answer nobody asked for, waiting in a connection when the next request wants to use it, is not taken for that
  /// request's answer.
  @Test(
    arguments: [
      "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "x",
    ], [0.0, 0.05])
  func aStrayAnswerIsNotTakenForTheNextOne(_ stray: String, _ delay: Double) throws {
    let server = try LoopbackServer { connection in
      guard connection.readRequest() != nil else { return }
      if connection.number == 0 {
        if delay == 0 {
          connection.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n" + stray)
        } else {
          connection.answer(201)
          connection.sleep(delay)
          connection.send(stray)
        }
        guard connection.readRequest() != nil else { return }
      }
      connection.answer(202)
      _ = connection.readHead()
    }
    let client = HTTPClient(.test())
    var statuses: [Int] = []
    for turn in 0..<2 {
      let request = HTTPRequest(.post, try HTTPClientTests.address(server), "/\(turn)", body: [0x78], totalSeconds: 5)
      guard case .answer(let answer) = client.send(request) else {
        Issue.record("no answer to request \(turn)")
        return
      }
      statuses.append(answer.status)
      Thread.sleep(forTimeInterval: 0.15)
    }
    #expect(statuses == [201, 202])
    #expect(server.arrivals.map(\.requestLine) == ["POST /0 HTTP/1.1", "POST /1 HTTP/1.1"])
  }
}
