import BatchFoundation
import BatchWire
import Games
import Testing

@testable import BatchSandbox
@testable import GameRules

@Suite struct EngageEndpointTests {
  private static let question = DecisionRequest(
    decisionPoint: "levelEnd", flavour: "engagement", userID: "p-1", sdkVersion: "engage-batch", platform: "IOS")

  private static func text(_ body: [UInt8]) -> String { String(decoding: body, as: UTF8.self) }

  @Test func answersQuestions() throws {
    let fixture = try Fixture()
    let (status, body) = try fixture.send(.post, "/engage/api/k", Self.text(Self.question.body))
    let content = try JSONNode.parse(Array(body.utf8))
    #expect(status == 200)
    #expect(content["transactionID"]?.stringOrNumber == "2184816393350012929")
    #expect(content["parameters"]?.canonicalText == "{}")
    #expect(
      content["eventParams"]?.canonicalText
        == #"{"responseDecisionpointName":"levelEnd","responseTransactionID":2184816393350012929}"#)
  }

  @Test func givesTheAnswersThatItWasGiven() throws {
    let given = try JSONNode.parse(Array(#"{"parameters":{"offer":"gold"}}"#.utf8))
    let fixture = try Fixture { $0.decisions = ["levelEnd@engagement": given] }
    #expect(
      try fixture.send(.post, "/engage/api/k", Self.text(Self.question.body)) == (200, given.canonicalText))
  }

  @Test(arguments: [
    "{", "[]", #"{"decisionPoint":"a","userID":"p","platform":"IOS"}"#,
    #"{"decisionPoint":"a","userID":"p","version":"4"}"#, #"{"decisionPoint":"","userID":"p","version":"4"}"#,
    #"{"decisionPoint":"a","platform":"IOS","version":"4"}"#,
    #"{"decisionPoint":"a","userID":"p","platform":"IOS","version":"3"}"#,
  ])
  func refusesQuestionsThatLackSomething(_ body: String) throws {
    #expect(try Fixture().send(.post, "/engage/api/k", body).status == 400)
  }

  @Test func takesTheVersionOfAndroid() throws {
    let body = #"{"decisionPoint":"a","userID":"p","platform":"ANDROID","version":4}"#
    #expect(try Fixture().send(.post, "/engage/api/k", body).status == 200)
  }

  @Test func refusesOtherMethodsKeysAndHashes() throws {
    let fixture = try Fixture { options in
      options.environmentKeys = ["k"]
      options.hashSecret = Secret("s")
    }
    let body = Self.question.body
    let hash = BodyHash(of: body, secret: Secret("s")).text
    #expect(try fixture.send(.get, "/engage/api/k").status == 405)
    #expect(try fixture.send(.post, "/engage/api/x/hash/\(hash)", Self.text(body)).status == 404)
    #expect(try fixture.send(.post, "/engage/api/k", Self.text(body)).status == 403)
    #expect(try fixture.send(.post, "/engage/api/k/bulk", Self.text(body)).status == 404)
    #expect(try fixture.send(.post, "/engage/api/k/hash/\(hash)", Self.text(body)).status == 200)
  }
}
