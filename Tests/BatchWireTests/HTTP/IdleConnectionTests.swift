import BatchFoundation
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import BatchWire

/// Which connections are used again, and what becomes of requests that meet one which the server is just closing.
@Suite struct IdleConnectionTests {
  private func answering(_ headers: [String] = []) throws -> LoopbackServer {
    try LoopbackServer { connection in
      while connection.readRequest() != nil { connection.answer(201, headers) }
    }
  }

  private func send(_ client: HTTPClient, _ server: LoopbackServer, _ number: Int = 0) throws -> HTTPOutcome {
    client.send(
      HTTPRequest(.post, try HTTPClientTests.address(server), "/\(number)", body: Array("x".utf8), totalSeconds: 10))
  }

  @Test(arguments: [(1, 2), (60, 1), (0, 3)])
  func aConnectionIsUsedAgainNoLongerThanAllowed(seconds: Double, connections: Int) throws {
    let server = try answering()
    let client = HTTPClient(.test(idleSeconds: seconds))
    for turn in 0..<3 {
      if turn == 2 { Thread.sleep(forTimeInterval: 1.3) }
      guard case .answer = try send(client, server) else {
        Issue.record("request \(turn) was not answered")
        return
      }
    }
    #expect(server.connections == connections)
  }

  @Test(arguments: [("timeout=1, max=100", 3), ("max=5; timeout=2, timeout=60", 1), ("timeout=", 1)])
  func whatTheServiceSaysOfKeepingConnectionsIsObeyed(header: String, connections: Int) throws {
    let server = try answering(["Keep-Alive: \(header)"])
    let client = HTTPClient(.test())
    for turn in 0..<3 {
      guard case .answer = try send(client, server) else {
        Issue.record("request \(turn) was not answered")
        return
      }
    }
    #expect(server.connections == connections)
  }

  /// The close and the next request cross: without an acknowledgement of a single byte of it the request goes out again, and after a
  /// loss in doubt connections are not used again.
  @Test func aServerThatClosesAfterEachAnswerWithoutAWordLeavesNextToNothingInDoubt() throws {
    let server = try LoopbackServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.answer(201)
    }
    let client = HTTPClient(.test())
    let outcomes = Guarded<(answered: Int, inDoubt: Int, notSent: Int)>((0, 0, 0))
    let group = DispatchGroup()
    for lane in 0..<4 {
      group.enter()
      Thread.detachNewThread {
        for turn in 0..<250 {
          guard let outcome = try? send(client, server, lane * 250 + turn) else { continue }
          outcomes.withLock {
            switch outcome {
            case .answer: $0.answered += 1
            case .noAnswer: $0.inDoubt += 1
            case .notSent: $0.notSent += 1
            }
          }
        }
        group.leave()
      }
    }
    group.wait()
    let (answered, inDoubt, notSent) = outcomes.withLock { $0 }
    #expect(answered + inDoubt == 1000)
    #expect(notSent == 0)
    // One for each lane, before the client has learned, and a few more where the machine is slow.
    #expect(inDoubt <= 20)
    let lines = server.arrivals.map(\.requestLine)
    #expect(Set(lines).count == lines.count, "a request came twice")
    #expect(lines.count >= answered)
  }
}
