import BatchFoundation
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import BatchWire

/// Answers that end too soon, or whose end nobody can know: libcurl takes some of them for whole.
@Suite struct CutAnswerTests {
  private func send(_ pieces: [String]) throws -> [HTTPOutcome] {
    let server = try LoopbackServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.send(pieces[connection.number])
    }
    let client = HTTPClient(.test())
    return try pieces.map { _ in client.send(try HTTPClientTests.post(server)) }
  }

  private func isAnswer(_ outcome: HTTPOutcome) -> Bool {
    if case .answer = outcome { true } else { false }
  }

  /// A head without its end once counted as an answer of success.
  @Test(arguments: [
    "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
    "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}",
    "HTTP/1.0 201 Created\nContent-Length: 2\n\n{}",
  ])
  func anAnswerThatIsCutAnywhereIsNone(whole: String) throws {
    let bytes = Array(whole.utf8)
    // Behind the last piece only the empty line at the very end is missing, which nothing rests on.
    let last = whole.contains("chunked") ? bytes.count - 2 : bytes.count
    let pieces = (0..<last).map { String(decoding: bytes[..<$0], as: UTF8.self) }
    for (piece, outcome) in zip(pieces, try send(pieces)) {
      guard case .noAnswer = outcome else {
        Issue.record("\(piece.debugDescription): \(outcome)")
        continue
      }
    }
    #expect(isAnswer(try send([whole])[0]))
  }

  @Test func aHeadWithoutItsEndIsALostConnection() throws {
    let outcomes = try send(["HTTP/1.1 201 Created\r\n", "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n"])
    for outcome in outcomes { expectNoAnswer(outcome, .cut, status: 201) }
  }

  /// A length beyond every number once counted as none.
  @Test(arguments: [
    "99999999999999999999", "9223372036854775808", "-1", "+2", "2x", "0x2", "2, 3", "2\r\nContent-Length: 3", "",
  ])
  func aLengthThatIsNoNumberMakesTheAnswerNone(length: String) throws {
    for body in ["", "{}"] {
      guard case .noAnswer = try send(["HTTP/1.1 201 Created\r\nContent-Length: \(length)\r\n\r\n\(body)"])[0] else {
        Issue.record("'\(body)' was an answer")
        continue
      }
    }
  }

  /// As HTTP has it, a body of which neither length nor pieces are told ends with its connection.
  @Test(arguments: [
    "HTTP/1.1 201 Created\r\n\r\n{}", "HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n{}",
    "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nContent-Length: x\r\n\r\n",
  ])
  func whatIsWholeByTheRulesIsAnAnswer(text: String) throws {
    guard case .answer(let answer) = try send([text])[0] else {
      Issue.record("no answer")
      return
    }
    #expect(answer.status == 201)
    #expect(answer.body == Array("{}".utf8))
  }
}
