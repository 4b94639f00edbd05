import BatchFoundation
import BatchPipeline
import BatchStore
import BatchWire
import GRDB
import LoopbackServer
import TestSupport
import Testing

@testable import GameRules
@testable import Games

/// What a server says to one request; nil says nothing and closes the connection.
typealias Script = @Sendable (_ number: Int, _ body: String) -> (status: Int, body: String)?

/// A store with questions, and a service that answers them.
final class Bench {
  let store: EventStore
  let server: LoopbackServer
  var asOf = Instant(milliseconds: 1_767_657_600_000)
  var lifespan = Milliseconds(43_200_000)
  private var runs: Int64 = 0

  init(_ store: EventStore? = nil, _ script: @escaping Script) throws {
    let count = Guarded(0)
    server = try LoopbackServer { connection in
      while let (_, body) = connection.readRequest() {
        let number = count.withLock { count in
          count += 1
          return count
        }
        guard let (status, text) = script(number, String(decoding: body, as: UTF8.self)) else { return }
        connection.answer(status, [], text)
      }
    }
    self.store =
      try store ?? EventStore.temporary(format: StoreFormat(destination: "deltadna", wireForm: WireForm.game))
    if store == nil {
      try self.store.write { db in for step in DecisionTables.migrations { try db.execute(sql: step) } }
    }
  }

  func add(_ engagements: [Engagement]) throws {
    var rows = EngagementRows()
    rows.engagements = engagements
    let run = try begin()
    try store.write { db in try rows.insert(run: run, into: db) }
    try finish(run)
  }

  func begin() throws -> RunID {
    try store.runs.begin(job: "game", configurationDigest: "", started: asOf, asOf: asOf)
  }

  func finish(_ run: RunID) throws { try store.runs.finish(run, at: asOf, counters: "{}") }

  func service() throws -> GameEndpoint {
    let address = try EnvironmentAddress(
      endpoint: "http://127.0.0.1:\(server.port)/engage/api", key: Secret("env"), hashSecret: nil)
    return GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(1000))
  }

  /// Asks in a run of its own and returns its figures and lines.
  func ask(_ run: RunID? = nil, connected: Bool = true) throws -> (report: DecisionReport, lines: [String]) {
    let run = try run ?? begin()
    let asking = DecisionRun(
      store: store, run: run, asOf: asOf, service: connected ? try service() : nil, lifespan: lifespan)
    let report = try asking.ask()
    var lines: [String] = []
    try store.decisions.forEachLine(of: run) { lines.append($0) }
    try finish(run)
    return (report, lines)
  }
}

func question(
  _ point: String, user: String = "p-1", at seconds: Int64 = 0, device: String = "d-1", emission: Int64 = 1,
  isAsked: Bool = true, consent: PIPLConsent = []
) -> Engagement {
  Engagement(
    timestamp: Instant(milliseconds: 1_767_607_200_000 + seconds * 1000), device: ByteText(device), emission: emission,
    consent: consent, block: isAsked ? nil : .optedOut,
    request: DecisionRequest(
      decisionPoint: ByteText(point), flavour: "engagement", userID: ByteText(user), sessionID: "s-1",
      sdkVersion: "engage-batch", platform: "IOS"))
}

/// A line without the members that all lines of the tests share.
func short(_ line: String) throws -> String {
  let node = try JSONNode.parse(Array(line.utf8))
  return ["decisionPoint", "status", "cached", "error", "parameters"].map { node[$0]?.canonicalText ?? "?" }
    .joined(separator: " ")
}

@Suite struct DecisionRunTests {
  @Test func aLineHasEverythingThatAnAnswerTells() throws {
    let answer =
      #"{"transactionID":2184816393350012928,"parameters":{"b":9007199254740993,"a":1.50},"eventParams":{"z":"é/"},"#
      + #""image":{"url":"https://i.example/1.png","height":1,"width":2,"spritemap":{},"layout":{"landscape":{}}}}"#
    let bench = try Bench { _, _ in (200, answer) }
    try bench.add([question("levelEnd", at: 15)])
    let (report, lines) = try bench.ask()
    #expect(
      lines == [
        #"{"eventTimestamp":"2026-01-05 10:00:15.000","userID":"p-1","sessionID":"s-1","decisionPoint":"levelEnd","#
          + #""flavour":"engagement","status":200,"cached":false,"error":null,"transactionID":"2184816393350012928","#
          + #""parameters":{"a":1.50,"b":9007199254740993},"eventParams":{"z":"é/"},"#
          + #""image":{"valid":false,"problems":["spritemap.background"],"assets":["https://i.example/1.png"]}}"#
      ])
    #expect(
      report.figures[GameFigure.asked] == 1 && report.figures[GameFigure.answered] == 1
        && report.figures[GameFigure.failed] == 0)
  }

  /// An environment's key came back in a game's parameters, and stood in the store and in `--decisions-out`.
  @Test func aSecretThatAnAnswerRepeatsIsNotKept() throws {
    let keys = [Secret("canary/of-the-environment"), Secret("471147114711471147")]
    let answer =
      #"{"transactionID":471147114711471147,"parameters":{"at":"x/canary\/of-the-environment/y","#
      + #""canary/of-the-environment":[true,471147114711471147,4711],"mail":"a@b.example"}}"#
    let bench = try Bench { _, _ in (200, answer) }
    try bench.add([question("a")])
    let lines = try bench.ask().lines
    #expect(
      try lines.map(short) == [
        #""a" 200 false null {"<redacted>":[true,"<redacted>",4711],"at":"x/<redacted>/y","mail":"a@b.example"}"#
      ])
    #expect(lines[0].contains(#""transactionID":"<redacted>""#))
    let kept = try bench.store.read { db in
      try String.fetchAll(db, sql: "SELECT answer FROM decision_request UNION ALL SELECT answer FROM decision_answer")
    }
    #expect(kept.count == 2)
    for key in keys { #expect(!kept.joined().contains(key.reveal())) }
  }

  @Test func questionsAreAskedInTheOrderOfTimeDeviceAndEmission() throws {
    let bench = try Bench { _, body in (200, "{}") }
    try bench.add([
      question("e", at: 2), question("d", at: 1, device: "d-2"), question("c", at: 1, device: "d-1é", emission: 2),
      question("b", at: 1, device: "d-1", emission: 10), question("a", at: 1, device: "d-1", emission: 9),
    ])
    let (_, lines) = try bench.ask()
    let asked = bench.server.arrivals.map { String(decoding: $0.body, as: UTF8.self) }
    #expect(try asked.map { try JSONNode.parse(Array($0.utf8))["decisionPoint"]?.string } == ["a", "b", "c", "d", "e"])
    #expect(try lines.map { try short($0).prefix(3) } == ["\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"e\""])
  }

  @Test func aQuestionIsAskedOnceOverAllRuns() throws {
    let bench = try Bench { _, _ in (500, "") }
    try bench.add([question("a")])
    #expect(try bench.ask().lines.map(short) == [#""a" 500 false "unavailable" null"#])
    #expect(try bench.ask().lines == [])
    try bench.add([question("b", at: 1)])
    #expect(try bench.ask().report.figures[GameFigure.asked] == 1)
    #expect(bench.server.arrivals.count == 2)
  }

  @Test func whatAPhoneWouldNotAskIsAnsweredWithoutARequest() throws {
    let bench = try Bench { _, _ in (200, "{}") }
    try bench.add([question("a", isAsked: false)])
    let (report, lines) = try bench.ask()
    #expect(try lines.map(short) == [#""a" 200 false null {}"#])
    #expect(report == DecisionReport())
    #expect(bench.server.arrivals.isEmpty)
  }

  @Test(arguments: [
    (400, "", #""a" 400 false "malformedRequest" null"#), (429, "", #""a" 429 false "unavailable" null"#),
    (500, "", #""a" 500 true "unavailable" {"n":1}"#), (302, "", #""a" 302 true "unavailable" {"n":1}"#),
    (200, "[]", #""a" 200 true "unreadable" {"n":1}"#), (204, "", #""a" 204 true "unreadable" {"n":1}"#),
  ])
  func anEarlierAnswerStandsInButNotAfter4xx(_ status: Int, _ body: String, _ line: String) throws {
    let bench = try Bench { number, _ in number == 1 ? (200, #"{"parameters":{"n":1}}"#) : (status, body) }
    try bench.add([question("a"), question("a", at: 1), question("b", at: 2), question("a", user: "p-2", at: 3)])
    let lines = try bench.ask().lines.map(short)
    #expect(lines[0] == #""a" 200 false null {"n":1}"#)
    #expect(lines[1] == line)
    // Another place, and another user.
    #expect(lines[2].hasSuffix("null"))
    #expect(lines[3].hasSuffix("null"))
  }

  @Test func noAnswerIsMinusOne() throws {
    let bench = try Bench { number, _ in number == 1 ? (200, #"{"parameters":{"n":1}}"#) : nil }
    try bench.add([question("a"), question("a", at: 1), question("b", at: 2)])
    let (report, lines) = try bench.ask()
    #expect(
      try lines.map(short) == [
        #""a" 200 false null {"n":1}"#, #""a" -1 true "noAnswer" {"n":1}"#, #""b" -1 false "noAnswer" null"#,
      ])
    #expect(
      report.figures[GameFigure.asked] == 3 && report.figures[GameFigure.answered] == 1
        && report.figures[GameFigure.cached] == 1 && report.figures[GameFigure.failed] == 1)
  }

  @Test(
    arguments: [
      (43_199_999, true), (43_200_000, false), (0, true), (-5000, true),
    ] as [(Int64, Bool)])
  func answersAgeByTheEndOfTheKnownTime(_ age: Int64, _ standsIn: Bool) throws {
    let bench = try Bench { number, _ in number == 1 ? (200, #"{"parameters":{"n":1}}"#) : (500, "") }
    try bench.add([question("a")])
    _ = try bench.ask()
    bench.asOf = Instant(milliseconds: bench.asOf.milliseconds + age)
    try bench.add([question("a", at: 1)])
    #expect(try bench.ask().report.figures[GameFigure.cached] == (standsIn ? 1 : 0))
  }

  @Test func withoutALifespanNothingStandsIn() throws {
    let bench = try Bench { number, _ in number == 1 ? (200, "{}") : (500, "") }
    bench.lifespan = .zero
    try bench.add([question("a"), question("a", at: 1)])
    #expect(try bench.ask().report.figures[GameFigure.cached] == 0)
  }

  @Test(arguments: [(401, "refused"), (403, "refused"), (404, "unknownEnvironment")])
  func aWrongKeyEndsTheAsking(_ status: Int, _ word: String) throws {
    let bench = try Bench { number, _ in number == 1 ? (status, "") : (200, "{}") }
    try bench.add([question("a"), question("b", at: 1), question("c", at: 2, isAsked: false)])
    let (report, lines) = try bench.ask()
    #expect(report.end?.status == status && report.figures[GameFigure.asked] == 1 && report.pending == 1)
    #expect(
      try lines.map(short) == [
        #""a" \#(status) false "\#(word)" null"#, #""b" 0 false "notAsked" null"#, #""c" 200 false null {}"#,
      ])
    // What was asked is not asked again, what was not is.
    #expect(try bench.ask().lines.map(short) == [#""b" 200 false null null"#])
  }

  @Test func withoutAServiceQuestionsWait() throws {
    let bench = try Bench { _, _ in (200, "{}") }
    try bench.add([question("a")])
    #expect(try bench.ask(connected: false).lines.map(short) == [#""a" 0 false "notAsked" null"#])
    #expect(try bench.ask().lines.map(short) == [#""a" 200 false null null"#])
  }

  @Test func aQuestionThatAKilledRunAskedIsNotAskedAgain() throws {
    let bench = try Bench { _, _ in (200, "{}") }
    try bench.add([question("a"), question("b", at: 1), question("c", at: 2)])
    let killed = try bench.begin()
    try bench.store.write { db in
      // As a run leaves it that has the answer to one question and is killed during the next.
      try db.execute(
        sql: "UPDATE decision_request SET state = 2, settled_by = ?, status = 500, error = 'unavailable' WHERE id = 1",
        arguments: [killed.number])
      try db.execute(sql: "UPDATE decision_request SET state = 1 WHERE id = 2")
    }
    let (report, lines) = try bench.ask()
    #expect(
      try lines.map(short) == [
        #""a" 500 false "unavailable" null"#, #""b" -1 false "noAnswer" null"#, #""c" 200 false null null"#,
      ])
    #expect(report.figures[GameFigure.asked] == 1)
    #expect(bench.server.arrivals.count == 1)
    #expect(try bench.ask().lines == [])
  }

  @Test func consentIsToldWithAQuestion() throws {
    let bench = try Bench { _, _ in (200, "{}") }
    try bench.add([question("a", consent: [.use, .export])])
    _ = try bench.ask()
    #expect(bench.server.arrivals.first?.header("PIPL_CONSENT") == "true")
    #expect(bench.server.arrivals.first?.header("PIPL_EXPORT") == "true")
  }

  @Test func anAskingThatIsEndedLeavesTheRestForLater() throws {
    let bench = try Bench { _, _ in (200, "{}") }
    try bench.add([question("a"), question("b", at: 1)])
    let run = try bench.begin()
    let asking = DecisionRun(
      store: bench.store, run: run, asOf: bench.asOf, service: try bench.service(), lifespan: .zero)
    asking.end()
    #expect(try asking.ask().pending == 2)
    try bench.finish(run)
    #expect(try bench.ask().report.figures[GameFigure.answered] == 2)
  }
}
