import BatchFoundation
import BatchWire
import LoopbackServer
import TestSupport
import Testing

@testable import GameRules
@testable import Games

@Suite struct DecisionServiceTests {
  private static let question = DecisionRequest(
    decisionPoint: "levelEnd", flavour: "engagement", parameters: #"{"userLevel":4}"#, userID: "p-001",
    sessionID: "6F0C", sdkVersion: "engage-batch", platform: "IOS", locale: "en_GB", timezoneOffset: "+01:00",
    manufacturer: "Apple Inc", operatingSystemVersion: "15.4")

  private static func ask(
    _ question: DecisionRequest = question, secret: String? = nil, consent: PIPLConsent = [], status: Int = 200,
    body: String = "{}", seconds: Double = 0, timeout: Int64 = 5000
  ) throws -> (outcome: DecisionOutcome, arrivals: [LoopbackServer.Arrival]) {
    let server = try LoopbackServer { connection in
      guard connection.readRequest() != nil else { return }
      if seconds > 0 { connection.sleep(seconds) }
      connection.answer(status, [], body)
    }
    let address = try EnvironmentAddress(
      endpoint: "http://127.0.0.1:\(server.port)/engage/api", key: Secret("env"), hashSecret: secret.map(Secret.init))
    let service = GameEndpoint(address, http: HTTPClient(.test()), timeout: Milliseconds(timeout))
    return (service.ask(question.body, consent: consent), server.arrivals)
  }

  private static func failure(_ outcome: DecisionOutcome) -> DecisionFailure? {
    if case .failed(let failure) = outcome { failure } else { nil }
  }

  @Test func aQuestionHasItsMembersInTheirOrder() throws {
    #expect(
      String(decoding: Self.question.body, as: UTF8.self)
        == #"{"decisionPoint":"levelEnd","flavour":"engagement","parameters":{"userLevel":4},"userID":"p-001","#
        + #""sessionID":"6F0C","version":"4","sdkVersion":"engage-batch","platform":"IOS","locale":"en_GB","#
        + #""timezoneOffset":"+01:00","manufacturer":"Apple Inc","operatingSystemVersion":"15.4"}"#)
  }

  @Test func whatIsNotKnownIsLeftOut() {
    var question = Self.question
    question.sessionID = nil
    question.locale = nil
    question.timezoneOffset = nil
    question.manufacturer = nil
    question.operatingSystemVersion = nil
    question.userID = "a\"b/\u{1}é"
    #expect(
      String(decoding: question.body, as: UTF8.self)
        == #"{"decisionPoint":"levelEnd","flavour":"engagement","parameters":{"userLevel":4},"userID":"a\"b/\u0001é","#
        + #""version":"4","sdkVersion":"engage-batch","platform":"IOS"}"#)
  }

  @Test func aQuestionIsSentWithHashAndConsent() throws {
    let arrival = try #require(try Self.ask(secret: "s", consent: .use).arrivals.first)
    let hash = BodyHash(of: Self.question.body, secret: Secret("s")).text
    #expect(arrival.requestLine == "POST /engage/api/env/hash/\(hash) HTTP/1.1")
    #expect(arrival.body == Self.question.body)
    #expect(arrival.header("Content-Type") == "application/json")
    #expect(arrival.header("Accept") == "application/json")
    #expect(arrival.header("PIPL_CONSENT") == "true")
    #expect(arrival.header("PIPL_EXPORT") == nil)
    #expect(try Self.ask().arrivals.first?.requestLine == "POST /engage/api/env HTTP/1.1")
  }

  @Test(arguments: [
    (400, "malformedRequest"), (401, "refused"), (403, "refused"), (404, "unknownEnvironment"), (302, "unavailable"),
    (409, "unavailable"), (429, "unavailable"), (500, "unavailable"), (503, "unavailable"),
  ])
  func everyStatusHasItsWord(_ status: Int, _ word: String) throws {
    let failure = try #require(Self.failure(try Self.ask(status: status).outcome))
    #expect(failure.kind.rawValue == word)
    #expect(failure.status == status)
    #expect(failure.endsAsking == [401, 403, 404].contains(status))
    #expect(failure.allowsEarlierAnswer == !(400..<500).contains(status))
  }

  @Test(arguments: ["", "[1]", "<html>", "{", "7"])
  func anAnswerThatIsNotAnObjectIsUnreadable(_ body: String) throws {
    #expect(Self.failure(try Self.ask(body: body).outcome) == DecisionFailure(.unreadable, status: 200))
  }

  /// The last of them was believed.
  @Test(arguments: [#"{"parameters":{"a":1},"parameters":{"a":2}}"#, #"{"parameters":{"a":1,"a":2}}"#])
  func anAnswerWithAKeyTwiceIsUnreadable(_ body: String) throws {
    #expect(Self.failure(try Self.ask(body: body).outcome) == DecisionFailure(.unreadable, status: 200))
  }

  @Test func aQuestionIsAskedOnceEvenIfNoAnswerComes() throws {
    let (outcome, arrivals) = try Self.ask(seconds: 2, timeout: 200)
    #expect(Self.failure(outcome) == DecisionFailure(.noAnswer, status: -1))
    #expect(arrivals.count == 1)
    #expect(DecisionFailure(.noAnswer, status: -1).allowsEarlierAnswer)
  }

  @Test func contentIsReadWithoutLosingDigits() throws {
    let body =
      #"{"transactionID":2184816393350012928,"parameters":{"b":9007199254740993,"a":1.50},"image":{},"heading":"","#
      + #""eventParams":{"responseTransactionID":2184816393350012928},"trace":{}}"#
    guard case .answered(let status, let root) = try Self.ask(status: 201, body: body).outcome else {
      Issue.record("it is an answer")
      return
    }
    #expect(status == 201)
    let line = try Self.line(root.canonicalText)
    #expect(line["transactionID"]?.string == "2184816393350012928")
    #expect(line["parameters"]?.canonicalText == #"{"a":1.50,"b":9007199254740993}"#)
    #expect(line["eventParams"]?.canonicalText == #"{"responseTransactionID":2184816393350012928}"#)
    #expect(line["image"]?["problems"]?.array?.isEmpty == false)
  }

  /// The line of `--decisions-out` for a question with this answer.
  private static func line(_ answer: String) throws -> JSONNode {
    let decision = StoredDecision(
      id: 1, timestamp: Instant(milliseconds: 0), device: "d", emission: 1, consent: [], isAsked: true, userID: "p",
      decisionPoint: "levelEnd", flavour: "engagement", body: "{}",
      settlement: DecisionSettlement(status: 200, answer: answer))
    return try JSONNode.parse(Array(decision.line.utf8))
  }

  @Test func whatAnAnswerDoesNotHoldIsNil() throws {
    let line = try Self.line(#"{"transactionID":null,"parameters":[],"image":null,"eventParams":"x"}"#)
    for name in ["transactionID", "parameters", "image", "eventParams"] { #expect(line[name]?.isNull == true) }
    #expect(try Self.line(#"{"transactionID":"77"}"#)["transactionID"]?.string == "77")
  }

  @Test(arguments: try Vector.all("engage", "dictionary"))
  func questionsAreThoseOfTheSDKs(_ vector: Vector) throws {
    let given = try #require(vector["given"])
    var question = Self.question
    question.decisionPoint = ByteText(given["decisionPoint"]?.string ?? "")
    question.flavour = ByteText(given["flavour"]?.string ?? "engagement")
    let members = (given["set"]?.array ?? []).compactMap(\.array).map {
      JSONMember(key: $0[0].string ?? "", value: $0[1])
    }
    question.parameters = ByteText(JSONNode(.object(members)).canonicalText)
    let body = try JSONNode.parse(question.body)
    for member in vector["expect"]?.members ?? [] {
      #expect(body[member.key]?.canonicalText == member.value.canonicalText)
    }
  }
}
