import BatchDelivery
import BatchFoundation
import BatchWire
import GameRules
import LoopbackServer
import TestSupport
import Testing

@testable import Games

@Suite struct CollectServiceTests {
  private static func service(_ server: LoopbackServer, secret: String?, timeout: Int64 = 5000) throws -> GameEndpoint {
    let address = try EnvironmentAddress(
      endpoint: "http://127.0.0.1:\(server.port)/collect/api", key: Secret("env"), hashSecret: secret.map(Secret.init))
    return GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(timeout))
  }

  private static func outcome(
    _ endpoint: GameEndpoint, _ body: [UInt8] = [], consent: PIPLConsent = []
  ) -> SendOutcome {
    SendOutcome(collect: endpoint.post(body, to: "bulk", consent: consent), now: 1_767_225_600)
  }

  /// Sends one body to a server that answers with a status, and tells what arrived.
  private static func post(
    _ body: String, secret: String?, consent: PIPLConsent = [], status: Int = 204, headers: [String] = []
  ) throws -> (outcome: SendOutcome, arrival: LoopbackServer.Arrival) {
    let server = try LoopbackServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.answer(status, headers)
    }
    let outcome = outcome(try service(server, secret: secret), Array(body.utf8), consent: consent)
    return (outcome, try #require(server.arrivals.first))
  }

  @Test func aBulkRequestHasItsHashItsHeadersAndItsBytes() throws {
    let body = #"{"eventList":[{"eventName":"café ☕","eventParams":{}}]}"#
    let (outcome, arrival) = try Self.post(body, secret: "s3cret")
    #expect(outcome == .acknowledged)
    #expect(
      arrival.requestLine == "POST /collect/api/env/bulk/hash/3bf63bcbf4d48895c645f44c1937323d HTTP/1.1")
    #expect(arrival.body == Array(body.utf8))
    #expect(arrival.header("Content-Type") == "application/json")
    #expect(arrival.header("Accept") == "application/json")
    #expect(arrival.header("Content-Length") == "\(body.utf8.count)")
    #expect(arrival.header("PIPL_CONSENT") == nil)
    #expect(arrival.header("PIPL_EXPORT") == nil)
    #expect(arrival.header("Expect") == nil)
  }

  @Test func withoutASecretThereIsNoHash() throws {
    #expect(try Self.post("{}", secret: nil).arrival.requestLine == "POST /collect/api/env/bulk HTTP/1.1")
    #expect(try Self.post("{}", secret: "").arrival.requestLine == "POST /collect/api/env/bulk HTTP/1.1")
  }

  @Test(arguments: [PIPLConsent.use, .export, [.use, .export]])
  func consentThatWasGivenIsToldInHeaders(_ consent: PIPLConsent) throws {
    let arrival = try Self.post("{}", secret: nil, consent: consent).arrival
    #expect(arrival.header("PIPL_CONSENT") == (consent.contains(.use) ? "true" : nil))
    #expect(arrival.header("PIPL_EXPORT") == (consent.contains(.export) ? "true" : nil))
  }

  @Test(arguments: [
    (200, SendOutcome.acknowledged), (299, .acknowledged),
    (302, .refused(CallFault("redirected with status 302", stop: .peerProtocol))),
    (399, .refused(CallFault("redirected with status 399", stop: .peerProtocol))), (400, .rejected("status 400: ")),
    (413, .rejected("status 413: ")), (401, .refused(CallFault("refused with status 401", stop: .credentials))),
    (403, .refused(CallFault("refused with status 403", stop: .credentials))),
    (404, .refused(CallFault("refused with status 404", stop: .credentials))),
    (408, .refused(CallFault("answered with status 408"))), (405, .refused(CallFault("answered with status 405"))),
    (429, .refused(CallFault("answered with status 429"))),
    (500, .refused(CallFault("answered with status 500", blamesRequest: true))),
    (503, .refused(CallFault("answered with status 503", blamesRequest: true))),
  ])
  func everyStatusMeansWhatTheTableSays(_ status: Int, _ expected: SendOutcome) throws {
    #expect(try Self.post("{}", secret: nil, status: status).outcome == expected)
  }

  /// Statuses on which the iOS SDK forgets events that the service does not have: redirects are not success here, and what a
  /// 400 refuses is taken apart first.
  private static let exceptions: Set<String> = ["upload-ios-302", "upload-ios-399", "upload-ios-400"]

  @Test(arguments: try Vector.all("collect", "uploadResult").filter { $0["given"]?["status"]?.integer ?? 0 > 0 })
  func whatTheSDKsForgetIsWhatTheServiceHas(_ vector: Vector) throws {
    let status = try #require(vector["given"]?["status"]?.integer)
    let clears = vector["expect"]?["clear"]?.bool ?? true
    let outcome = try Self.post("{}", secret: nil, status: Int(status)).outcome
    let isAccepted = outcome == .acknowledged
    #expect((isAccepted == clears) != Self.exceptions.contains(vector.id))
  }

  @Test func theServiceSaysHowLongToStayAway() throws {
    #expect(
      try Self.post("{}", secret: nil, status: 503, headers: ["Retry-After: 17"]).outcome
        == .refused(CallFault("answered with status 503", retryAfter: Milliseconds(17000))))
    #expect(
      try Self.post("{}", secret: nil, status: 429, headers: ["Retry-After: Thu, 01 Jan 2026 00:00:30 GMT"]).outcome
        == .refused(CallFault("answered with status 429", retryAfter: Milliseconds(30000))))
  }

  /// It was taken for a word about the events.
  @Test(arguments: [400, 413])
  func aRetryAfterSaysThatNothingIsWrongWithTheEvents(_ status: Int) throws {
    #expect(
      try Self.post("{}", secret: nil, status: status, headers: ["Retry-After: 17"]).outcome
        == .refused(CallFault("answered with status \(status)", retryAfter: Milliseconds(17000))))
  }

  @Test func aRedirectIsNotFollowed() throws {
    let server = try LoopbackServer { connection in
      while connection.readRequest() != nil { connection.answer(307, ["Location: /elsewhere"]) }
    }
    #expect(
      Self.outcome(try Self.service(server, secret: nil))
        == .refused(CallFault("redirected with status 307 to the same host", stop: .peerProtocol)))
    #expect(server.arrivals.count == 1)
  }

  @Test func aLostAnswerIsNotAMissingConnection() throws {
    let server = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.close()
    }
    guard case .unknown = Self.outcome(try Self.service(server, secret: nil), Array("{}".utf8)) else {
      Issue.record("the request was sent")
      return
    }
    let slow = try LoopbackServer { connection in
      _ = connection.readRequest()
      connection.sleep(3)
    }
    let outcome = Self.outcome(try Self.service(slow, secret: nil, timeout: 200), Array("{}".utf8))
    guard case .unknown(let fault) = outcome else {
      Issue.record("the request was sent")
      return
    }
    #expect(fault.reason.hasPrefix("no answer: timed out"))
  }

  @Test func whereNobodyListensNothingIsSent() throws {
    let address = try EnvironmentAddress(endpoint: "http://127.0.0.1:1", key: Secret("env"), hashSecret: nil)
    let service = GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(2000))
    guard case .notSent(let fault) = Self.outcome(service) else {
      Issue.record("nobody listens")
      return
    }
    #expect(fault.reason.hasPrefix("not sent: no connection"))
  }
}
