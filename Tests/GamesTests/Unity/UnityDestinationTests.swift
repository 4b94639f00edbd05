import BatchDelivery
import BatchFoundation
import BatchPipeline
import BatchWire
import DestinationContract
import LoopbackServer
import TestSupport
import Testing

@testable import Games

@Suite struct UnityDestinationTests {
  private static func destination(_ port: Int, retries: Int = 5) throws -> GameDestination {
    let address = try UnityService.address(
      endpoint: "http://127.0.0.1:\(port)/api/analytics/collect/v1", projectId: "p-1", environment: "production")
    let collect = GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(5000))
    return GameDestination(
      collect, isIdempotent: false, addressSettings: UnityService.addressSettings, retries: retries)
  }

  private static func outcome(
    _ status: Int, _ headers: [String] = [], group: Int = 0, body: String = "Custom Event Code not recognized"
  ) throws -> (SendOutcome, LoopbackServer.Arrival?) {
    let server = try LoopbackServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.answer(status, headers, body)
    }
    let outcome = try destination(Int(server.port)).send(Array("{\"eventList\":[]}".utf8), group: group)
    return (outcome, server.arrivals.first)
  }

  @Test func keepsTheContract() throws {
    try DestinationContract { trouble in
      try .loopback(trouble) { port in try Self.destination(Int(port)) }
    }.check()
  }

  @Test(arguments: [
    (200, SendOutcome.acknowledged), (204, .acknowledged),
    (400, .rejected("status 400: Custom Event Code not recognized")),
    (413, .rejected("status 413: Custom Event Code not recognized")),
    (302, .refused(CallFault("redirected with status 302", stop: .peerProtocol))),
    (401, .refused(CallFault("refused with status 401: \(UnityService.addressSettings) is wrong", stop: .credentials))),
    (403, .refused(CallFault("refused with status 403: \(UnityService.addressSettings) is wrong", stop: .credentials))),
    (
      404,
      .refused(CallFault("refused with status 404: \(UnityService.addressSettings) is wrong", stop: .configuration))
    ),
    (405, .refused(CallFault("answered with status 405"))), (422, .refused(CallFault("answered with status 422"))),
    (429, .refused(CallFault("answered with status 429", isThrottle: true))),
    (500, .unknown(CallFault("answered with status 500", blamesRequest: true))),
    (503, .refused(CallFault("answered with status 503", isTemporary: true, blamesRequest: true))),
  ])
  func answersMeanWhatTheTableSays(_ status: Int, _ expected: SendOutcome) throws {
    #expect(try Self.outcome(status).0 == expected)
  }

  @Test(arguments: [
    (#"{"errors":["no such event"]}"#, "the body lists errors"),
    ("<html>", "the body is a web page, such as a login or maintenance page"),
    ("<a/>", "the body is markup"),
    (#"{"errors":"#, "the body is not valid JSON"),
  ])
  func aSuccessThatSaysOtherwiseIsNone(_ body: String, _ why: String) throws {
    #expect(
      try Self.outcome(200, body: body).0
        == .unknown(CallFault("answered with status 200, but \(why)", blamesRequest: true)))
    #expect(try Self.outcome(200, body: #"{"errors":[]}"#).0 == .acknowledged)
  }

  @Test func aRequestNamesProjectAndEnvironmentAndNoSecret() throws {
    let arrival = try #require(try Self.outcome(204, group: 3).1)
    #expect(arrival.requestLine == "POST /api/analytics/collect/v1/projects/p-1/environments/production HTTP/1.1")
    #expect(arrival.header("Content-Type") == "application/json")
    #expect(arrival.header("PIPL_CONSENT") == "true")
    #expect(arrival.header("PIPL_EXPORT") == "true")
  }

  @Test func nothingIsPromisedOfAnEventThatComesTwice() throws {
    #expect(try !Self.destination(1).traits.isIdempotent)
    #expect(try Self.destination(1, retries: 2).traits.mostAttempts == 3)
  }

  @Test(arguments: [
    ("", "e", "projectId"), ("p/1", "e", "projectId"), ("..", "e", "projectId"), ("p", ".", "environment"),
    ("p", "my env", "environment"),
  ])
  func whatCannotStandInAPathIsRefused(_ project: String, _ environment: String, _ setting: String) {
    let problem =
      "Unity.\(setting) must be one segment of a URL path: letters, digits, '-', '.', '_' and '~', but not '.' or '..'"
    #expect(throws: ServiceSettingsError(problems: [problem])) {
      _ = try UnityService.address(endpoint: "collect.example.com/v1", projectId: project, environment: environment)
    }
  }

  @Test func anAddressWithoutSchemeIsSecure() throws {
    let address = try UnityService.address(endpoint: "http://collect.example.com/v1", projectId: "p", environment: "e")
    #expect(address.service.origin == "https://collect.example.com")
  }
}
