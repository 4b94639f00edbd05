import BatchFoundation
import BatchWire
import EventSchemas
import TestSupport
import Testing

@testable import BatchSandbox

@Suite struct UnityEndpointsTests {
  private let server: SandboxServer
  private let address: ServiceAddress

  init() throws {
    server = try SandboxServer.start(SandboxSettings(), [UnityEndpoints()])
    address = try ServiceAddress(server.baseURL)
  }

  private func send(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") -> (status: Int, body: String) {
    let request = HTTPRequest(
      method, address, path, headers: [.init("Content-Type", "application/json")], body: Array(body.utf8))
    guard case .answer(let answer) = HTTPClient(.test()).send(request) else { return (0, "") }
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  private static let path = "/api/analytics/collect/v1/projects/p/environments/production"

  /// An event of the day on which the sandbox's clock starts.
  private func event(_ uuid: Int, _ time: String = "2026-01-31 09:00:00.000") -> String {
    #"{"eventName":"levelUp","userID":"p-1","sessionID":"s-1","eventUUID":"00000000-0000-4000-8000-00000000000\#(uuid)","#
      + #""eventTimestamp":"\#(time)","eventParams":{"platform":"IOS","sdkVersion":"engage-batch"}}"#
  }

  @Test func oneAddressTakesListsAndSingleEvents() {
    #expect(send(.post, Self.path, "{\"eventList\":[\(event(1)),\(event(2))]}") == (204, ""))
    #expect(send(.post, Self.path, event(3)) == (204, ""))
    #expect(send(.post, Self.path, event(4, "2025-12-30 09:00:00.000")) == (204, ""))
    #expect(send(.post, Self.path, event(5, "2026-02-03 09:00:00.000")) == (204, ""))
    #expect(send(.get, "/sandbox/state").body.contains(#""unity":{"events""#))
    #expect(server.totals.eventsReceived == 5)
    #expect(server.totals.eventsApplied == 3)
    #expect(server.ledger.first?.endpoint == .unityCollect)
  }

  @Test func anEventThatTheSchemaLacksIsRefusedWithItsList() throws {
    var options = UnityEndpoints.defaults
    options.schema = try EventSchema.read(Array(#"{"events":[{"name":"levelDown"}]}"#.utf8), name: "schema")
    let server = try SandboxServer.start(SandboxSettings(), [UnityEndpoints(options)])
    let address = try ServiceAddress(server.baseURL)
    let known = event(1).replacing("levelUp", with: "levelDown")
    func status(_ body: String) -> (status: Int, body: String) {
      let request = HTTPRequest(.post, address, Self.path, headers: [], body: Array(body.utf8))
      guard case .answer(let answer) = HTTPClient(.test()).send(request) else { return (0, "") }
      return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }
    #expect(status("{\"eventList\":[\(known),\(event(2))]}") == (400, "Custom Event Code not recognized"))
    #expect(status(event(2)) == (400, "Custom Event Code not recognized"))
    #expect(status("{\"eventList\":[\(known)]}") == (204, ""))
    #expect(server.totals.eventsReceived == 1)
  }

  @Test func takesEventsOfTheEdgesOfItsTime() {
    let times = [
      "2025-12-31 09:59:59.999", "2025-12-31 10:00:00.000", "2026-02-01 10:00:00.000", "2026-02-01 10:00:00.001",
    ]
    let events = times.enumerated().map { event($0.offset, $0.element) }
    #expect(send(.post, Self.path, "{\"eventList\":[\(events.joined(separator: ","))]}") == (204, ""))
    #expect(server.totals.eventsReceived == 4)
    #expect(server.totals.eventsApplied == 2)
  }

  @Test(arguments: [
    ("/api/analytics/collect/v1/projects/p", 404), ("/api/analytics/collect/v1/projects//environments/e", 404),
    ("/api/analytics/collect/v1/projects/p/environments/e/bulk", 404), (path, 400),
  ])
  func refusesWhatTheServiceRefuses(_ path: String, _ status: Int) {
    #expect(send(.post, path, "{}").status == status)
  }

  @Test func handsOutUserIds() {
    #expect(send(.get, "/api/analytics/collect/v1/uuid").status == 200)
    #expect(send(.post, "/api/analytics/collect/v1/uuid").status == 405)
  }
}
