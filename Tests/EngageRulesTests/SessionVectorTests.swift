import BatchFoundation
import TestSupport
import Testing

@testable import EngageRules

/// The session cases of the vectors that state intended behaviour.
@Suite struct SessionVectorTests {
  static func cases() throws -> [VectorCase] {
    try Vectors.cases("engage-events", "session", "vectors") { $0["id"]?.string != nil && $0["intended"] != nil }
  }

  @Test func casesAreThere() throws { #expect(try Self.cases().count >= 12) }

  @Test(arguments: try cases()) func givesTheIntendedEvents(_ test: VectorCase) throws {
    let fixture = Fixture()
    fixture.settings.sessionTimeout = Milliseconds(300_000)
    let initial = test.node["initial"]
    var state = DeviceState(device: "d-1")
    state.hasLifecycle = true
    state.installed = initial?["installed"]?.bool ?? false
    if initial?["userIdKnown"]?.bool == true { state.core[.primaryUserId] = "u-1" }
    if let campaign = initial?["campaign"], let name = campaign["name"]?.string,
      let expires = campaign["expires"]?.string, let instant = Instant.parse(rfc3339: expires)
    {
      state.campaign = Campaign(name: fixture.arena.text(name), expiresAt: instant)
    }
    for record in test.node["records"]?.array ?? [] { try add(record, to: fixture) }
    let (events, rules) = try fixture.run(asOf: test.node["as_of"]?.string ?? "", state: state)

    let expected = test.node["intended"]?.array ?? []
    #expect(
      events.map(\.line)
        == expected.map { "\($0["eventTypeCode"]?.string ?? "")@\($0["eventTimestamp"]?.string ?? "")" })
    for (event, node) in zip(events, expected) {
      for member in node["attributes"]?.members ?? [] {
        #expect(event.others[member.key] == member.value.string, "\(member.key) of \(event.line)")
      }
    }
    let final =
      switch rules.state.session {
      case .none: "none"
      case .active: "active"
      case .paused: "paused"
      }
    #expect(final == test.node["final_session_state"]?.string)
  }

  private func add(_ node: JSONNode, to fixture: Fixture) throws {
    let at = node["at"]?.string ?? ""
    switch node["kind"]?.string {
    case "launch": try fixture.add(.launch, at: at)
    case "foreground": try fixture.add(.foreground, at: at)
    case "background": try fixture.add(.background, at: at)
    case "userIdSet": try fixture.add(.setMobileUserId, at: at) { $0.mobileUserId = "u-9" }
    case "goal":
      try fixture.add(.goalCompleted, at: at) { $0.subject = fixture.arena.text(node["goal"]?.string ?? "") }
    case "push":
      try fixture.add(.pushReceived, at: at) { $0.body = try fixture.json(node["payload"]?.compactText ?? "{}") }
    case "deepLink":
      let query = (node["params"]?.members ?? []).map { "\($0.key)=\($0.value.string ?? "")" }.joined(separator: "&")
      try fixture.add(.deepLink, at: at) { $0.subject = fixture.arena.text("app://open?\(query)") }
    default: Issue.record("kind \(node["kind"]?.string ?? "")")
    }
  }
}
