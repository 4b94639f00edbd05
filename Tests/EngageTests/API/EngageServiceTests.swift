import BatchFoundation
import BatchWire
import EngageRules
import Foundation
import LoopbackServer
import Synchronization
import TestSupport
import Testing

@testable import Engage

/// The service over a real connection: how many requests go out, in which order, and what comes of it.
@Suite struct EngageServiceTests {
  /// Answers token calls with T1, T2, … and everything else as told.
  static func server(
    tokens: @escaping @Sendable (Int) -> (Int, String) = {
      (200, "{\"access_token\":\"T\($0)\",\"expires_in\":14400}")
    },
    _ reply: @escaping @Sendable (_ path: String, _ token: String, _ body: String) -> (Int, String)?
  ) throws -> LoopbackServer {
    let grants = Counter()
    return try LoopbackServer { connection in
      while let (head, body) = connection.readRequest() {
        let path = String(head.split(separator: " ")[1])
        if path == "/oauth/token" {
          let (status, text) = tokens(grants.next())
          connection.answer(status, ["Content-Type: application/json"], text)
          continue
        }
        let token = head.components(separatedBy: "Authorization: Bearer ").last?.prefix { $0 != "\r\n" } ?? ""
        guard let (status, text) = reply(path, String(token), String(decoding: body, as: UTF8.self)) else {
          return connection.close()
        }
        connection.answer(status, ["Content-Type: text/xml", "Date: Sun, 06 Nov 1994 08:49:37 GMT"], text)
      }
    }
  }

  final class Counter: Sendable {
    private let value = Atomic(0)
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
  }

  static func service(_ server: LoopbackServer) throws -> EngageService {
    EngageService(
      address: try ServiceAddress("http://127.0.0.1:\(server.port)/"),
      paths: ServicePaths(
        oauth: "/oauth/token", xmlapi: "/XMLAPI", events: "/rest/events/submission", eventErrors: "/rest/events/errors"),
      credentials: Credentials(clientID: Secret("cid"), clientSecret: Secret("s/+="), refreshToken: Secret("ref")),
      http: HTTPClient(.test()), refreshMargin: 600, wallClock: { 784_111_700 })
  }

  static func result(_ fields: String = "<RecipientId>900000000101</RecipientId>") -> String {
    "<Envelope><Body><RESULT><SUCCESS>TRUE</SUCCESS>\(fields)</RESULT></Body></Envelope>"
  }

  static func fault(_ id: Int, _ text: String) -> String {
    """
    <Envelope><Body><RESULT><SUCCESS>false</SUCCESS></RESULT><Fault><FaultString><![CDATA[\(text)]]></FaultString>\
    <detail><error><errorid>\(id)</errorid><class>SP.API</class></error></detail></Fault></Body></Envelope>
    """
  }

  static let update = XMLAPIOperation.update("900000000101", of: "1", [])
  static let add = XMLAPIOperation.add([], to: "1")

  @Test func callsWithOneTokenOverOneConnection() throws {
    let server = try Self.server { _, _, _ in (200, Self.result()) }
    let service = try Self.service(server)
    for _ in 1...2 {
      guard case .answered(let recipient) = service.call(Self.update) else {
        Issue.record("no answer")
        return
      }
      #expect(recipient == "900000000101")
    }
    #expect(server.connections == 1)
    #expect(
      server.arrivals.map(\.requestLine) == [
        "POST /oauth/token HTTP/1.1", "POST /XMLAPI HTTP/1.1", "POST /XMLAPI HTTP/1.1",
      ])
    #expect(
      server.arrivals[0].body
        == Array("grant_type=refresh_token&client_id=cid&client_secret=s%2F%2B%3D&refresh_token=ref".utf8))
    #expect(server.arrivals[0].header("Authorization") == nil)
    #expect(server.arrivals[1].header("Authorization") == "Bearer T1")
    #expect(server.arrivals[1].header("Content-Type") == "application/x-www-form-urlencoded; charset=UTF-8")
    #expect(service.counters == EngageService.Counts(requests: 2, tokenRequests: 1, clockOffset: 77))
  }

  @Test(arguments: [
    (401, ""), (200, fault(145, "Session has expired or is invalid")), (200, fault(50, "The access token has EXPIRED")),
    (200, fault(0, "User session is invalid or has expired.")), (200, ""),
  ])
  func everyFaceOfAnExpiredTokenIsMetOnce(_ status: Int, _ body: String) throws {
    let server = try Self.server { _, token, _ in token == "T1" ? (status, body) : (200, Self.result()) }
    let service = try Self.service(server)
    guard case .answered = service.call(Self.update) else {
      Issue.record("no answer")
      return
    }
    #expect(server.arrivals.map { $0.header("Authorization") ?? "-" } == ["-", "Bearer T1", "-", "Bearer T2"])
    #expect(server.arrivals[1].body == server.arrivals[3].body)
  }

  @Test func aSecondRefusalEndsTheRun() throws {
    let server = try Self.server { _, _, _ in (401, "") }
    let service = try Self.service(server)
    guard case .refused(let refusal) = service.call(Self.update) else {
      Issue.record("not refused")
      return
    }
    #expect(refusal == CallFault(.credentials, status: 401, words: "a new access token was refused too"))
    #expect(refusal.stop == .credentials)
    #expect(service.submit(Array("{}".utf8)).stop == .credentials)
    #expect(server.arrivals.count == 4)
  }

  @Test func anEmptyAnswerToSomethingThatMayNotBeRepeatedIsUnknown() throws {
    let server = try Self.server { _, _, _ in (200, "") }
    let service = try Self.service(server)
    for (call, requests) in [(XMLAPIOperation.exportList("1", columns: []).call, 2), (Self.update.call, 6)] {
      #expect(service.call([call]) == .unknown(.unreadable(status: 200, "the body is empty")))
      #expect(server.arrivals.count == requests)
    }
  }

  @Test func logoutNeverFetchesAToken() throws {
    let server = try Self.server { _, _, _ in (200, Self.fault(145, "Session has expired or is invalid")) }
    let service = try Self.service(server)
    guard case .refused = service.call(try NamedOperation("Logout", parameters: [], columns: []).operation) else {
      Issue.record("not refused")
      return
    }
    #expect(server.arrivals.count == 2)
  }

  @Test func refusedCredentialsSendNothingElse() throws {
    let server = try Self.server(tokens: { _ in (401, "{\"error\":\"invalid_client\"}") }) { _, _, _ in nil }
    let service = try Self.service(server)
    for _ in 0..<3 {
      let outcome = service.submit(Array("{}".utf8))
      #expect(outcome == .notSent(.noToken(.refused(status: 401, error: "invalid_client"))))
      #expect(outcome.stop == .credentials)
    }
    #expect(server.arrivals.count == 1)
    #expect(service.counters.requests == 0)
  }

  @Test func faultsComeBackTyped() throws {
    let server = try Self.server { _, _, body in
      body.contains("SelectRecipientData")
        ? (200, Self.fault(128, "Recipient is not a member of the list."))
        : (200, Self.fault(50, "The max number of concurrent authenticated requests has been reached"))
    }
    let service = try Self.service(server)
    guard case .rejected(let fault) = service.call(.select(.recipient("2"), of: "1")),
      case .refused(let refusal) = service.call(Self.update)
    else {
      Issue.record("not as expected")
      return
    }
    #expect(fault.kind == .absent)
    #expect(refusal.isThrottle)
  }

  @Test func submissionsAreAcknowledgedOrLost() throws {
    let server = try Self.server { path, _, body in body == "lost" ? nil : (201, "") }
    let service = try Self.service(server)
    #expect(service.submit(Array("{\"events\":[]}".utf8)) == .acknowledged)
    guard case .unknown(let fault) = service.submit(Array("lost".utf8)) else {
      Issue.record("not unknown")
      return
    }
    #expect(fault.reason.hasPrefix("outcome unknown: connection lost"))
    #expect(server.arrivals.last?.requestLine == "POST /rest/events/submission HTTP/1.1")
    #expect(server.arrivals.last?.header("Content-Type") == "application/json")
  }

  @Test func errorsOfEventsAreAskedFor() throws {
    let server = try Self.server { path, _, _ in
      (
        200,
        path == "/rest/events/errors?filter=errorId%3D0" ? "{\"data\":[{\"errorId\":1,\"errorMessage\":\"no\"}]}" : "{}"
      )
    }
    guard case .answered(let errors) = try Self.service(server).eventErrors() else {
      Issue.record("no answer")
      return
    }
    #expect(errors.map(\.reason) == ["no"])
  }

  @Test func aCharacterXMLCannotCarryIsNotSent() throws {
    let server = try Self.server { _, _, _ in (200, Self.result()) }
    let service = try Self.service(server)
    let update = XMLAPIOperation.update("1", of: "1", [ColumnValue("a", "\u{1}")])
    #expect(
      service.call(update) == .notSent(CallFault("not sent: XML cannot represent the character U+1", stop: .unwritable))
    )
    #expect(server.connections == 0)
  }

  @Test func severalThreadsShareTheTokenAndKeepTheirConnections() async throws {
    let server = try Self.server { _, _, _ in (201, "") }
    let service = try Self.service(server)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 { #expect(service.submit(Array("{}".utf8)) == .acknowledged) }
        }
      }
    }
    #expect(service.counters.requests == 200)
    #expect(service.counters.tokenRequests == 1)
    #expect(server.connections <= 5)
  }

  @Test(arguments: [
    "", "<", "<Envelope>", "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><Envelope>&e;</Envelope>",
    "<html><body>x<br></html>",
    "{\"a\":1}", "\u{1F}\u{8B}", "<Envelope><Body><RESULT><SUCCESS>TRUE", String(repeating: "<a>", count: 5000),
    "<Envelope><Body><RESULT><SUCCESS>TRUE</SUCCESS></RESULT></Body></Envelope><!-- ",
  ])
  func hostileAnswersAreUnknown(_ body: String) throws {
    let server = try Self.server { _, _, _ in (200, body) }
    guard case .unknown(let fault) = try Self.service(server).call(Self.add), fault.blamesRequest else {
      Issue.record("not unknown")
      return
    }
  }
}
