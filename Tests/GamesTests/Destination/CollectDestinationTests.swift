import BatchDelivery
import BatchFoundation
import BatchWire
import DestinationContract
import LoopbackServer
import TestSupport
import Testing

@testable import Games

@Suite struct CollectDestinationTests {
  private static func outcome(
    _ status: Int, _ headers: [String] = [], group: Int = 0, body: String = "bad event"
  ) throws -> (SendOutcome, LoopbackServer.Arrival?) {
    let server = try LoopbackServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.answer(status, headers, body)
    }
    let address = try EnvironmentAddress(
      endpoint: "http://127.0.0.1:\(server.port)/collect/api", key: Secret("env"), hashSecret: nil)
    let service = GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(5000))
    let outcome = Self.destination(service, retries: 5).send(Array("{}".utf8), group: group)
    return (outcome, server.arrivals.first)
  }

  private static func destination(_ service: GameEndpoint, retries: Int) -> GameDestination {
    GameDestination(service, call: "bulk", isIdempotent: true, retries: retries)
  }

  @Test func keepsTheContract() throws {
    try DestinationContract { trouble in
      try .loopback(trouble) { port in
        let address = try EnvironmentAddress(
          endpoint: "http://127.0.0.1:\(port)/collect/api", key: Secret("env"), hashSecret: nil)
        let service = GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(5000))
        return Self.destination(service, retries: 5)
      }
    }.check()
  }

  @Test(arguments: [
    (200, SendOutcome.acknowledged), (204, .acknowledged), (400, .rejected("status 400: bad event")),
    (413, .rejected("status 413: bad event")),
    (302, .refused(CallFault("redirected with status 302", stop: .peerProtocol))),
    (401, .refused(CallFault("refused with status 401", stop: .credentials))),
    (403, .refused(CallFault("refused with status 403", stop: .credentials))),
    (404, .refused(CallFault("refused with status 404", stop: .credentials))),
    (500, .refused(CallFault("answered with status 500", blamesRequest: true))),
    (408, .refused(CallFault("answered with status 408"))),
  ])
  func answersMeanWhatTheTableSays(_ status: Int, _ expected: SendOutcome) throws {
    #expect(try Self.outcome(status).0 == expected)
  }

  @Test(arguments: [#"{"errors":["no such event"]}"#, "<html>", #"{"errors":"#, ""])
  func aSuccessIsOneWhateverItsBody(_ body: String) throws {
    #expect(try Self.outcome(200, body: body).0 == .acknowledged)
  }

  @Test func theServiceMayAskForPatience() throws {
    #expect(
      try Self.outcome(503, ["Retry-After: 7"]).0
        == .refused(CallFault("answered with status 503", retryAfter: Milliseconds(7000))))
  }

  @Test(
    arguments: [(0, nil, nil), (1, "true", nil), (2, nil, "true"), (3, "true", "true")] as [(Int, String?, String?)])
  func theGroupOfAChunkIsItsConsent(_ group: Int, _ use: String?, _ export: String?) throws {
    let arrival = try #require(try Self.outcome(204, group: group).1)
    #expect(arrival.header("PIPL_CONSENT") == use)
    #expect(arrival.header("PIPL_EXPORT") == export)
  }

  @Test func whereNobodyListensTheRequestMayBeRepeated() throws {
    let address = try EnvironmentAddress(endpoint: "http://127.0.0.1:1", key: Secret("env"), hashSecret: nil)
    let service = GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(2000))
    guard case .notSent(let fault) = Self.destination(service, retries: 0).send([], group: 0) else {
      Issue.record("nobody listens")
      return
    }
    #expect(fault.stop == nil)
  }

  @Test func aRequestIsTriedOnceMoreThanItIsRepeated() throws {
    let address = try EnvironmentAddress(endpoint: "http://127.0.0.1:1", key: Secret("env"), hashSecret: nil)
    let service = GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(2000))
    #expect(Self.destination(service, retries: 0).traits.mostAttempts == 1)
    #expect(Self.destination(service, retries: 5).traits.mostAttempts == 6)
  }
}
