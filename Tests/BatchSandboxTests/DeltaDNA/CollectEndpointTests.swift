import BatchFoundation
import BatchWire
import EventSchemas
import TestSupport
import Testing

@testable import BatchSandbox

@Suite struct CollectEndpointTests {
  @Test func takesListsAndSingleEvents() throws {
    let fixture = try Fixture()
    #expect(
      try fixture.send(.post, "/collect/api/k/bulk", list([gameEvent(uuid: 1), gameEvent(uuid: 2)])) == (204, ""))
    #expect(try fixture.send(.post, "/collect/api/k", gameEvent(uuid: 3)) == (204, ""))
    #expect(try fixture.send(.post, "/collect/api/k/", gameEvent(uuid: 4)) == (204, ""))
    #expect(try fixture.send(.post, "/collect/api/k/bulk", list([])) == (204, ""))
    #expect(try fixture.verdicts == ["valid", "valid", "valid", "valid"])
    #expect(fixture.server.totals.eventsReceived == 4)
    #expect(fixture.server.totals.eventsApplied == 4)
    #expect(fixture.server.ledger.map(\.endpoint).prefix(2) == [.collect, .collect])
  }

  @Test(arguments: [
    ("/collect/api/k/bulk", "{", 400, "The body is not valid JSON"),
    ("/collect/api/k/bulk", "[]", 400, "The body is not an object"),
    ("/collect/api/k/bulk", "{}", 400, "eventList is missing"),
    ("/collect/api/k/bulk", #"{"eventList":{}}"#, 400, "eventList is not an array"),
    ("/collect/api/k/bulk", gameEvent(), 400, "This is a single event; send it to the address without /bulk"),
    ("/collect/api/k", #"{"userID":"p"}"#, 400, "eventName is missing"),
    (
      "/collect/api/k", list([gameEvent()]), 400,
      "This is a list of events; send it to the address with /bulk"
    ),
    ("/collect/api/k/other", list([]), 404, "There is nothing at this address"),
    ("/collect/api//bulk", list([]), 404, "There is nothing at this address"),
  ])
  func refusesWhatTheServiceRefuses(_ path: String, _ body: String, _ status: Int, _ text: String) throws {
    let fixture = try Fixture()
    #expect(try fixture.send(.post, path, body) == (status, text))
    #expect(try fixture.verdicts.isEmpty)
  }

  @Test func refusesOtherMethodsKeysAndLengths() throws {
    let fixture = try Fixture { options in
      options.environmentKeys = ["live-1"]
      options.largestBody = 1000
    }
    #expect(try fixture.send(.get, "/collect/api/live-1/bulk").status == 405)
    #expect(try fixture.send(.put, "/collect/api/live-1/bulk").status == 405)
    #expect(try fixture.send(.post, "/collect/api/other/bulk", list([])).status == 404)
    #expect(try fixture.send(.post, "/collect/api/live-1/bulk", list([])).status == 204)
    let long = list([gameEvent(params: #"{"text":"\#(String(repeating: "x", count: 1000))"}"#)])
    #expect(try fixture.send(.post, "/collect/api/live-1/bulk", long).status == 413)
  }

  @Test func takesOnlyTheHashOfItsSecret() throws {
    let body = list([gameEvent()])
    let hash = BodyHash(of: Array(body.utf8), secret: Secret("s")).text
    let fixture = try Fixture { $0.hashSecret = Secret("s") }
    #expect(try fixture.send(.post, "/collect/api/k/bulk", body).status == 403)
    #expect(try fixture.send(.post, "/collect/api/k/bulk/hash/\(hash.dropLast())0", body).status == 403)
    #expect(try fixture.verdicts.isEmpty)
    #expect(try fixture.send(.post, "/collect/api/k/bulk/hash/\(hash)", body).status == 204)
    #expect(try fixture.send(.post, "/collect/api/k/bulk/hash/\(hash.uppercased())", body).status == 204)
    #expect(try fixture.verdicts == ["valid", "duplicate"])
    let open = try Fixture()
    #expect(try open.send(.post, "/collect/api/k/bulk/hash/0", body).status == 204)
  }

  @Test func handsOutUserIDs() throws {
    let fixture = try Fixture()
    let first = try fixture.send(.get, "/collect/api/uuid")
    let second = try fixture.send(.get, "/collect/api/uuid")
    let id = try #require(try JSONNode.parse(Array(first.body.utf8))["userID"]?.string)
    #expect(first.status == 200)
    #expect(id.wholeMatch(of: /[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/) != nil)
    #expect(first.body != second.body)
    #expect(try Fixture().send(.get, "/collect/api/uuid").body == first.body)
    #expect(try fixture.send(.post, "/collect/api/uuid").status == 405)
  }

  @Test(arguments: [
    (gameEvent(), "valid"), (gameEvent(time: "2026-1-31 9:0:0.5"), "valid"),
    (gameEvent(time: "2025-12-30 10:00:00.000"), "outOfWindow"), (gameEvent(time: "2025-12-30 10:00:00.001"), "valid"),
    (gameEvent(time: "2026-02-02 09:59:59.999"), "valid"), (gameEvent(time: "2026-02-02 10:00:00.000"), "outOfWindow"),
    (gameEvent(time: "yesterday"), "invalid, badTopLevel /eventTimestamp"),
    (gameEvent("PLAYER LOADED"), "invalid, badName /eventName"),
    (gameEvent(params: #"{"Level":1,"a":{"B":2}}"#), "invalid, badName /eventParams/Level, badName /eventParams/a/B"),
    (gameEvent(params: #"{"x":null,"y":""}"#), "invalid, nullValue /eventParams/x, emptyValue /eventParams/y"),
    (gameEvent(params: #"{"userID":"p"}"#), "invalid, reservedName /eventParams/userID"),
    (#"{"eventName":"a","userID":"p","eventParams":{}}"#, "valid"),
    (#"{"eventName":"a","eventParams":{}}"#, "invalid, missingRequired /userID"),
    (#"{"eventName":"a","userID":"p"}"#, "invalid, missingRequired /eventParams"),
    (#"{"eventName":"a","userID":"","eventParams":{}}"#, "invalid, badTopLevel /userID"),
    (#"{"eventName":"a","userID":"p","eventParams":[]}"#, "invalid, badTopLevel /eventParams"),
    (#"{"eventName":"a","userID":"p","eventParams":{},"level":1}"#, "invalid, badTopLevel /level"),
    (#"{"eventName":"a","userID":"p","eventParams":{},"eventUUID":"7"}"#, "invalid, badTopLevel /eventUUID"),
    ("7", "invalid, badTopLevel "),
  ])
  func judgesEachEvent(_ event: String, _ verdict: String) throws {
    let fixture = try Fixture()
    #expect(try fixture.send(.post, "/collect/api/k/bulk", list([event])).status == 204)
    #expect(try fixture.verdicts == [verdict])
  }

  @Test func theFirstOfAnIdWins() throws {
    let fixture = try Fixture()
    let upper = gameEvent(uuid: 1).replacing("00000000-0000-4000-8000", with: "ABCDEF00-0000-4000-8000")
    try fixture.send(.post, "/collect/api/k/bulk", list([upper, upper.replacing("ABCDEF", with: "abcdef")]))
    try fixture.send(.post, "/collect/api/k/bulk", list([upper]))
    #expect(try fixture.verdicts == ["valid", "duplicate", "duplicate"])
    #expect(try fixture.state?["verdicts"]?.canonicalText == #"{"duplicate":2,"invalid":0,"outOfWindow":0,"valid":1}"#)
    #expect(try fixture.state?["validByName"]?.canonicalText == #"{"levelUp":1}"#)
  }

  @Test func comparesWithASchemaIfItHasOne() throws {
    let text =
      #"{"deltadna":{"schema":{"events":[{"name":"levelUp","parameters":[{"name":"level","type":"INTEGER"}]}]}}}"#
    let fixture = try Fixture { options in
      var settings = SandboxSettings()
      do {
        try settings.read(faults: Array(text.utf8), of: "f", endpoints: SandboxEndpoint.deltaDNA) { options.read($0) }
      } catch {
        Issue.record(error)
      }
    }
    let events = [
      gameEvent(uuid: 1, params: #"{"level":1}"#), gameEvent(uuid: 2, params: #"{"level":"1"}"#),
      gameEvent("other", uuid: 3),
    ]
    try fixture.send(.post, "/collect/api/k/bulk", list(events))
    #expect(
      try fixture.verdicts
        == ["valid", "invalid, wrongType /eventParams/level", "invalid, unknownEvent /eventName"])
    #expect(
      try fixture.send(.post, "/collect/api/k", gameEvent("other")) == (400, "Custom Event Code not recognized"))
  }

  @Test func remembersVerdictsInAStateFile() throws {
    let folder = try TemporaryFolder()
    var settings = SandboxSettings()
    settings.stateFile = folder.path + "/state.json"
    let first = try Fixture(settings)
    try first.send(.post, "/collect/api/k/bulk", list([gameEvent(uuid: 1)]))
    try first.server.stop()
    let second = try Fixture(settings)
    try second.send(.post, "/collect/api/k/bulk", list([gameEvent(uuid: 1), gameEvent(uuid: 2)]))
    #expect(try second.verdicts == ["valid", "duplicate", "valid"])
    #expect(second.server.totals.eventsReceived == 3)
  }

  @Test func playsFaultsAtItsEndpoints() throws {
    var settings = SandboxSettings()
    let plan = #"""
      {"rules":[
        {"match":{"endpoint":"collect"},"nth":1,"action":"status","status":503,"headers":{"Retry-After":"1"}},
        {"match":{"endpoint":"engage"},"action":"fault","id":7,"text":"no"}]}
      """#
    try settings.read(faults: Array(plan.utf8), of: "f", endpoints: SandboxEndpoint.deltaDNA) { _ in }
    let fixture = try Fixture(settings)
    #expect(try fixture.send(.post, "/collect/api/k/bulk", list([gameEvent()])).status == 503)
    #expect(try fixture.send(.post, "/collect/api/k/bulk", list([gameEvent()])).status == 204)
    #expect(try fixture.send(.post, "/engage/api/k", "{}") == (500, "no"))
    #expect(try fixture.verdicts == ["valid"])
  }
}
