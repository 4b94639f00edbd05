import BatchDelivery
import BatchFoundation
import BatchSandbox
import BatchStore
import BatchWire
import DestinationContract
import EngageRules
import LoopbackServer
import StoreSupport
import TestSupport
import Testing

@testable import Engage

/// The whole way of a chunk: store, ledger, libcurl, a service on a loopback port with faults.
@Suite struct EngageDestinationTests {
  func sandbox(_ change: (inout EngageSandboxOptions) -> Void = { _ in }) throws -> SandboxServer {
    var options = EngageSandboxOptions()
    options.events = .attribute("Event Name")
    change(&options)
    return try SandboxServer.start(options)
  }

  func destination(_ server: SandboxServer, contact: Bool = false) throws -> EngageDestination {
    try destination(server.baseURL, contact: contact)
  }

  func destination(_ address: String, contact: Bool = false) throws -> EngageDestination {
    let service = EngageService(
      address: try ServiceAddress(address),
      paths: ServicePaths(
        oauth: "/oauth/token", xmlapi: "/XMLAPI", events: "/rest/events/submission", eventErrors: "/rest/events/errors"),
      credentials: Credentials(
        clientID: Secret("client"), clientSecret: Secret("secret"), refreshToken: Secret("refresh")),
      http: HTTPClient(.test(totalSeconds: 2)), refreshMargin: 600)
    return EngageDestination(service, form: contact ? 1 : 0)
  }

  func deliver(
    _ filled: FilledStore, _ destination: EngageDestination, onUnknown: UnknownOutcomePolicy = .resend
  ) throws -> DeliveryReport {
    var settings = DeliverySettings.fixture(onUnknown: onUnknown)
    settings.patience.backoff = Backoff(first: Milliseconds(20), longest: Milliseconds(100))
    settings.failuresInARow = 60
    return try Delivery(ledger: filled.store.ledger, destination: destination, settings: settings, seed: 11).run(
      filled.run)
  }

  @Test func keepsTheContract() throws {
    try DestinationContract { trouble in
      try .loopback(trouble, isToken: { $0.hasPrefix("POST /oauth/token ") }) {
        try destination("http://127.0.0.1:\($0)")
      }
    }.check()
  }

  @Test func everyEventArrivesOnceAndNoRequestIsSuperfluous() throws {
    let server = try sandbox()
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 1000, perChunk: 100)
    let report = try deliver(filled, destination(server))
    #expect(report.upload.eventsPosted == 1000)
    #expect(report.upload.requests == 10)
    #expect(report.stop == nil)
    #expect(server.appliedEvents.count == 1000)
    #expect(Set(server.appliedEvents.values) == [1])
    #expect(server.totals.tokenCalls == 1)
    #expect(server.totals.maxInFlight <= 4)
    #expect(server.totals.violations == [:])
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func faultsLoseNothingAndWhatMayHaveArrivedTwiceIsCounted(seed: UInt64) throws {
    let share = FaultRule.Occurrence.probability(0.04)
    let server = try sandbox { options in
      options.switches.strictEvents = true
      options.server.faults = FaultPlan(
        seed: seed,
        rules: [
          FaultRule(endpoint: .events, occurrence: share, point: .headers, action: .reset),
          FaultRule(endpoint: .events, occurrence: share, point: .halfBody, action: .close),
          FaultRule(endpoint: .events, occurrence: share, point: .body, action: .status(500, headers: [:], body: "")),
          FaultRule(
            endpoint: .events, occurrence: share, point: .body,
            action: .status(429, headers: ["Retry-After": "0"], body: "")),
          FaultRule(endpoint: .events, occurrence: share, point: .applied, action: .reset),
          FaultRule(endpoint: .events, occurrence: share, point: .response, action: .close),
          FaultRule(endpoint: .events, occurrence: share, point: .headers, action: .expireToken),
        ])
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 1500, perChunk: 10)
    var report = try deliver(filled, destination(server))
    var inDoubt = report.eventsInDoubt
    var rounds = 1
    // A token that expires twice for one request counts as refused; the next run continues.
    while report.stop != nil, rounds < 20 {
      rounds += 1
      report = try deliver(filled, destination(server))
      inDoubt += report.eventsInDoubt
    }
    let counts = try filled.store.ledger.statusCounts()
    let failed = counts[.failedPost, default: 0]
    #expect(counts[.successfullyPosted, default: 0] + failed == 1500)
    #expect(server.appliedEvents.count >= 1500 - failed)
    let surplus = server.appliedEvents.values.reduce(0) { $0 + $1 - 1 }
    #expect(surplus <= inDoubt)
    // Each round fetches a token of its own, like a run of its own.
    #expect(server.totals.violations.keys.filter { $0 != "needless-token-call" } == [])
  }

  @Test func holdNeverSendsTwice() throws {
    let server = try sandbox { options in
      options.server.faults = FaultPlan(
        rules: [
          FaultRule(endpoint: .events, occurrence: .every(5), point: .applied, action: .reset),
          FaultRule(endpoint: .events, occurrence: .nth([3, 8]), point: .headers, action: .reset),
        ])
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 300, perChunk: 10)
    let report = try deliver(filled, destination(server), onUnknown: .hold)
    #expect(report.exit == .protocolRefused)
    #expect(report.upload.eventsUnknown + report.upload.eventsPosted == 300)
    #expect(server.appliedEvents.values.allSatisfy { $0 == 1 })
  }

  /// Which of them the service took, it does not say (reference decisions 45).
  @Test(arguments: [500, 502, 504])
  func anotherFailureThan503IsHeldLikeALostAnswer(status: Int) throws {
    let server = try sandbox { options in
      options.server.faults = FaultPlan(
        rules: [
          FaultRule(
            endpoint: .events, occurrence: .nth([1, 2]), point: .applied,
            action: .status(status, headers: ["Retry-After": "0"], body: "out of memory"))
        ])
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 40, perChunk: 10)
    let report = try deliver(filled, destination(server), onUnknown: .hold)
    #expect(report.exit == .protocolRefused)
    #expect(report.upload.eventsPosted == 20 && report.upload.eventsUnknown == 20)
    #expect(report.upload.requests == 4)
    #expect(server.appliedEvents.values.allSatisfy { $0 == 1 })
  }

  /// Such answers once counted as lost: under `hold` all events became `UNKNOWN`, after no retry at all.
  @Test(arguments: [503, 408, 425, 418, 451])
  func aServiceThatAnswersThatItFailedTookNothing(status: Int) throws {
    let server = try sandbox { options in
      options.server.faults = FaultPlan(
        rules: [
          FaultRule(
            endpoint: .events, occurrence: .nth([1, 2, 3, 4]), point: .headers,
            action: .status(status, headers: [:], body: "busy"))
        ])
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 40, perChunk: 10)
    let report = try deliver(filled, destination(server), onUnknown: .hold)
    #expect(report.exit == .done)
    #expect(report.upload.eventsPosted == 40)
    #expect(report.upload.eventsUnknown == 0)
    #expect(report.upload.requests == 8)
    #expect(report.upload.retries == 4)
    #expect(report.attempts == [.refused: 4, .acknowledged: 4])
    #expect(server.appliedEvents.values.allSatisfy { $0 == 1 })
  }

  /// Its events became `FAILED_POST`.
  @Test func aRequestThatIsToComeBackLaterIsNotTakenApart() throws {
    let server = try sandbox { options in
      options.server.faults = FaultPlan(
        rules: [
          FaultRule(
            endpoint: .events, occurrence: .span(1...6), point: .body,
            action: .status(400, headers: ["Retry-After": "0"], body: "later"))
        ])
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 1, perChunk: 1)
    let report = try deliver(filled, destination(server))
    #expect(report.attempts == [.refused: 6, .acknowledged: 1])
    #expect(report.upload.eventsPosted == 1)
  }

  /// The request whose token had expired was counted as a request, and not among their outcomes.
  @Test func aRequestWithAnExpiredTokenIsAmongTheOutcomes() throws {
    let server = try sandbox { options in
      options.server.faults = FaultPlan(
        rules: [FaultRule(endpoint: .events, occurrence: .nth([2]), point: .body, action: .expireToken)])
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 60, perChunk: 10)
    let report = try deliver(filled, destination(server))
    #expect(report.upload.eventsPosted == 60)
    #expect(report.attempts[.acknowledged] == 6)
    #expect(report.attempts[.refused, default: 0] > 0)
    #expect(report.attempts.values.reduce(0, +) == report.upload.requests)
  }

  /// With `hold` all events were posted, as far as the store knew.
  @Test(arguments: [
    "HTTP/1.1 201 Created\r\n", "HTTP/1.1 201 Created\r\nContent-Le",
    "HTTP/1.1 201 Created\r\nContent-Length: 99999999999999999999\r\n\r\n{",
  ])
  func anAnswerThatIsCutIsUnknown(text: String) throws {
    let server = try LoopbackServer { connection in
      while let (head, _) = connection.readRequest() {
        guard head.hasPrefix("POST /oauth/token ") else { return connection.send(text) }
        connection.answer(200, [], #"{"access_token":"T","expires_in":14400}"#)
      }
    }
    let filled = try FilledStore(events: 40, perChunk: 10)
    let report = try deliver(filled, destination("http://127.0.0.1:\(server.port)"), onUnknown: .hold)
    #expect(report.exit == .protocolRefused)
    #expect((report.upload.eventsPosted, report.upload.eventsUnknown) == (0, 40))
    #expect(report.attempts == [.unknown: 4])
  }

  @Test func aRefusedEventEndsInQuarantineInTheServicesWords() throws {
    let server = try sandbox {
      $0.switches.badEvents = BadEvents(attribute: "Event Name", value: "event 42")
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 200, perChunk: 100)
    let report = try deliver(filled, destination(server))
    #expect(report.upload.eventsPosted == 199)
    #expect(report.upload.eventsFailed == 1)
    #expect(server.appliedEvents.count == 199)
    var found: [[Int]] = []
    try filled.store.quarantine.forEachLine(all: false) { entry in
      #expect(entry.line.detail.hasPrefix("status 400: "))
      found.append(eventNumbers(String(decoding: entry.line.raw, as: UTF8.self)))
    }
    #expect(found == [[42]])
  }

  @Test func anEventRefusedLaterIsReadBack() throws {
    let server = try sandbox {
      $0.switches.badEvents = BadEvents(attribute: "Event Name", value: "event 7", answer: .list)
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 20, perChunk: 10)
    let destination = try destination(server)
    #expect(try deliver(filled, destination).upload.eventsPosted == 20)
    #expect(try destination.readRejections(into: filled.store, run: filled.run) == .read(listed: 1, found: 1, ofRun: 1))
    #expect(try destination.readRejections(into: filled.store, run: filled.run) == .read(listed: 0, found: 0))
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 19, .failedPost: 1])
    #expect(try filled.store.ledger.requeue([.failedPost]) == 1)
  }

  @Test func refusedCredentialsEndTheRun() throws {
    let server = try sandbox {
      $0.switches.credentials = SandboxCredentials(clientID: "other", secret: "other", refreshToken: "other")
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 20, perChunk: 10)
    let report = try deliver(filled, destination(server))
    #expect(report.exit == .credentialsRefused)
    #expect(report.upload.eventsPending == 20)
    #expect(server.totals.submissions == 0)
  }

  @Test func noServiceAtAllLeavesEverythingQueued() throws {
    let server = try sandbox()
    let destination = try destination(server)
    try server.stop()
    let filled = try FilledStore(events: 20, perChunk: 10)
    let report = try deliver(filled, destination)
    #expect(report.exit == .serviceUnavailable)
    #expect(report.upload.eventsPending == 20)
  }

  @Test func theContactStandsInTheHeaderIfConfigured() throws {
    let server = try sandbox {
      $0.events = .bodies
      $0.switches.strictEvents = true
    }
    defer { #expect(throws: Never.self) { try server.stop() } }
    let filled = try FilledStore(events: 1, perChunk: 10)
    let report = try deliver(filled, destination(server, contact: true))
    #expect(report.upload.eventsPosted == 1)
    let body = server.appliedBodies.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    #expect(body.contains("\"contactId\":4711,\"attributes\":["))
  }
}
