import BatchSandbox
import Testing

@Suite struct EventTests {
  private static let path = "/rest/events/submission"

  @Test func takesASubmissionAndCountsIt() throws {
    try withSandbox { server, client, token throws in
      let answer = try client.request("POST", Self.path, token: token, body: submission([event("a"), event("b")]))
      #expect(answer.status == 201)
      #expect(answer.body == "")
      #expect(server.totals.eventsApplied == 2)
      #expect(server.ledger.last?.events == 2)
      #expect(server.appliedEvents.isEmpty)
    }
  }

  @Test func readsABodyThatIsSpacedOutOrNotJSON() throws {
    try withSandbox { server, client, token throws in
      let spaced = "{ \"events\" : [ {\"eventTypeCode\" : 17, \"attributes\": []} ] }"
      #expect(try client.request("POST", Self.path, token: token, body: spaced).status == 201)
      #expect(server.totals.eventsApplied == 1)
      for body in ["", "{}", "[]", "{\"events\":{}}", "{\"events\":[{}]}", "{\"events\":[1] }"] {
        #expect(try client.request("POST", Self.path, token: token, body: body).status == 400, "\(body)")
      }
      #expect(server.totals.violations == ["malformed-body": 6])
      #expect(server.totals.eventsApplied == 1)
    }
  }

  @Test(arguments: [
    (event("a"), 201), (event("a", code: 7), 400), ("{\"eventTypeCode\":\"17\",\"attributes\":[]}", 400),
    ("{\"eventTypeCode\":\"17\",\"eventTimestamp\":\"2026-01-01 00:00\",\"attributes\":[]}", 400),
    ("{\"eventTypeCode\":17,\"eventTimestamp\":\"2026-01-01T00:00:00.000+00:00\",\"attributes\":[]}", 201),
    (
      "{\"eventTypeCode\":17,\"eventTimestamp\":\"2026-01-01T00:00:00.000Z\",\"contactId\":\"B2\",\"attributes\":[]}",
      400
    ),
    (
      "{\"eventTypeCode\":17,\"eventTimestamp\":\"2026-01-01T00:00:00.000Z\",\"attributes\":[{\"name\":\"a\",\"value\":1}]}",
      400
    ),
  ])
  func isParticularWhenStrict(event: String, status: Int) throws {
    try withSandbox(.fixture { $0.switches.strictEvents = true }) { _, client, token throws in
      #expect(try client.request("POST", Self.path, token: token, body: submission([event])).status == status)
    }
  }

  @Test func listsEventsOfUnknownContactsWhenStrict() throws {
    try withSandbox(.fixture { $0.switches.strictEvents = true }) { server, client, token throws in
      _ = try client.xml(add([("customer_id", "c-1")]), token: token)
      let event = { (contact: String) in
        "{\"eventTypeCode\":17,\"eventTimestamp\":\"2026-01-01T00:00:00.000Z\",\"contactId\":\(contact),\"attributes\":[]}"
      }
      let body = submission([event("900000000101"), event("5")])
      #expect(try client.request("POST", Self.path, token: token, body: body).status == 201)
      #expect(server.totals.eventsApplied == 1)
      #expect(
        try client.request("GET", "/rest/events/errors", token: token).body
          == "{\"meta\":{\"generalErrors\":[],\"fieldErrors\":{}},\"data\":[{\"errorId\":1,"
          + "\"errorMessage\":\"Contact 5 does not exist\",\"event\":\(event("5"))}]}")
    }
  }

  @Test func refusesTheWholeChunkForABadEvent() throws {
    let options = EngageSandboxOptions.fixture {
      $0.switches.badEvents = BadEvents(attribute: "Event Name", value: "bad")
    }
    try withSandbox(options) { server, client, token throws in
      let refused = try client.request("POST", Self.path, token: token, body: submission([event("a"), event("bad")]))
      #expect(refused.status == 400)
      #expect(server.totals.eventsApplied == 0)
      #expect(server.ledger.last?.applied == false)
      #expect(try client.request("POST", Self.path, token: token, body: submission([event("a")])).status == 201)
      #expect(server.totals.eventsApplied == 1)
    }
  }

  @Test func takesTheChunkAndListsTheBadEvent() throws {
    let options = EngageSandboxOptions.fixture {
      $0.switches.badEvents = BadEvents(attribute: "Event Name", value: "bad", answer: .list)
      $0.events = .attribute("Event Name")
    }
    try withSandbox(options) { server, client, token throws in
      for _ in 0..<2 {
        let body = submission([event("a"), event("bad"), event("b")])
        #expect(try client.request("POST", Self.path, token: token, body: body).status == 201)
      }
      #expect(server.appliedEvents == ["a": 2, "b": 2])
      #expect(server.totals.eventsApplied == 4)
      #expect(
        try client.request("GET", "/rest/events/errors?filter=errorId%3D1", token: token).body
          == "{\"meta\":{\"generalErrors\":[],\"fieldErrors\":{}},\"data\":[{\"errorId\":2,"
          + "\"errorMessage\":\"An event is not valid\",\"event\":\(event("bad"))}]}")
    }
  }

  @Test func countsEachEventByItsBytes() throws {
    try withSandbox(.fixture { $0.events = .bodies }) { server, client, token throws in
      let (first, second) = (submission([event("a"), event("b")]), submission([event("a]}{\\\"")]))
      _ = try client.request("POST", Self.path, token: token, body: first)
      _ = try client.request("POST", Self.path, token: token, body: second)
      _ = try client.request("POST", Self.path, token: token, body: second)
      #expect(
        server.appliedEvents == [
          BodyDigest(event("a").utf8).text: 1, BodyDigest(event("b").utf8).text: 1,
          BodyDigest(event("a]}{\\\"").utf8).text: 2,
        ])
      #expect(server.appliedBodies == [Array(first.utf8), Array(second.utf8), Array(second.utf8)])
      #expect(server.ledger.last?.bodyDigest == BodyDigest(second.utf8).text)
    }
  }

  /// The known values of the function, so that a tool outside can compute the same.
  @Test(arguments: [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")])
  func digestsByFNV(text: String, digest: String) {
    #expect(BodyDigest(text.utf8).text == digest)
  }

  @Test func tellsAboutEventTypes() throws {
    try withSandbox { _, client, token throws in
      #expect(try client.request("GET", "/rest/eventtypes/17", token: token).status == 200)
      #expect(try client.request("GET", "/rest/eventtypes/7", token: token).status == 404)
      #expect(try client.request("GET", "/rest/databases/50001/eventtypemappings", token: token).status == 200)
      #expect(try client.request("GET", "/rest/eventtypes/17").status == 401)
    }
  }
}
