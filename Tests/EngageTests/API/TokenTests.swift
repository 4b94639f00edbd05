import BatchFoundation
import BatchWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Engage

@Suite struct TokenTests {
  final class Stage: Sendable {
    let now = Guarded(0.0)
    let calls = Atomic(0)
    let answers = Guarded<[Result<TokenAnswer.Grant, CallFault>]>([])
    let delay: Double

    init(_ answers: [Result<TokenAnswer.Grant, CallFault>], delay: Double = 0) {
      self.delay = delay
      self.answers.withLock { $0 = answers }
    }

    func source() -> TokenSource {
      TokenSource(clock: { self.now.withLock { $0 } }) { _ in
        self.calls.add(1, ordering: .relaxed)
        if self.delay > 0 { Thread.sleep(forTimeInterval: self.delay) }
        return self.answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
      }
    }

    func set(_ seconds: Double) { now.withLock { $0 = seconds } }
    var count: Int { calls.load(ordering: .relaxed) }
  }

  static func grant(_ token: String, _ seconds: Double = 14_400) -> Result<TokenAnswer.Grant, CallFault> {
    .success(.init(token: Secret(token), seconds: seconds))
  }

  func text(_ result: Result<AccessToken, CallFault>) -> String {
    switch result {
    case .success(let token): token.secret.reveal()
    case .failure(let failure): failure.reason
    }
  }

  @Test func oneTokenServesUntilThreeQuartersAreUsed() {
    let stage = Stage([Self.grant("T1"), Self.grant("T2")])
    let source = stage.source()
    for second in [0.0, 1, 5000, 10_799] {
      stage.set(second)
      #expect(text(source.token()) == "T1")
    }
    #expect(stage.count == 1)
    stage.set(10_801)
    #expect(text(source.token()) == "T2")
    #expect(stage.count == 2)
  }

  @Test func aTokenWithLittleTimeIsNotAskedForAgainAtOnce() {
    let stage = Stage([Self.grant("T1", 500), Self.grant("T1", 250), Self.grant("T2")])
    let source = stage.source()
    for second in stride(from: 0.0, to: 250, by: 10) {
      stage.set(second)
      _ = source.token()
    }
    #expect(stage.count == 1)
    stage.set(251)
    #expect(text(source.token()) == "T1")
    #expect(stage.count == 2)
  }

  @Test func manyThreadsShareOneCall() async {
    let stage = Stage([Self.grant("T1")], delay: 0.1)
    let source = stage.source()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<16 { group.addTask { #expect(self.text(source.token()) == "T1") } }
    }
    #expect(stage.count == 1)
  }

  @Test func aRefusedTokenIsReplacedOnceForAll() async throws {
    let stage = Stage([Self.grant("T1"), Self.grant("T2")], delay: 0.05)
    let source = stage.source()
    let first = try source.token().get()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { #expect(self.text(source.token(after: first)) == "T2") } }
    }
    #expect(stage.count == 2)
    #expect(text(source.token(after: first)) == "T2")
    #expect(stage.count == 2)
  }

  @Test func anOldTokenHoldsWhenTheRefreshFails() {
    let stage = Stage([Self.grant("T1"), .failure(.unavailable(status: 503, retryAfter: nil)), Self.grant("T2")])
    let source = stage.source()
    _ = source.token()
    stage.set(11_000)
    for _ in 0..<5 { #expect(text(source.token()) == "T1") }
    #expect(stage.count == 2)
    stage.set(11_100)
    #expect(text(source.token()) == "T2")
  }

  @Test func aLimitKeepsTheTokenAndStaysAway() {
    let stage = Stage([Self.grant("T1"), .failure(.throttled(status: 400, retryAfter: 2000)), Self.grant("T2")])
    let source = stage.source()
    _ = source.token()
    stage.set(11_000)
    #expect(text(source.token()) == "T1")
    stage.set(12_900)
    #expect(text(source.token()) == "T1")
    #expect(stage.count == 2)
  }

  @Test func refusedCredentialsAreNotTriedAgain() {
    let stage = Stage([.failure(.refused(status: 401, error: "invalid_client"))])
    let source = stage.source()
    for _ in 0..<3 { #expect(text(source.token()) == "the credentials were refused (status 401): invalid_client") }
    #expect(stage.count == 1)
  }

  @Test func anExpiredTokenIsNotHandedOut() {
    let stage = Stage([Self.grant("T1", 100), .failure(.unavailable(status: 500, retryAfter: nil)), Self.grant("T2")])
    let source = stage.source()
    _ = source.token()
    stage.set(100)
    #expect(text(source.token()) == "the token service is unavailable (status 500)")
    #expect(text(source.token()) == "T2")
  }

  @Test func aRetryAfterHoldsForAllWhoWantAToken() async {
    let stage = Stage([.failure(.unavailable(status: 503, retryAfter: 100)), Self.grant("T1")], delay: 0.05)
    let source = stage.source()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { #expect(self.text(source.token()) == "the token service is unavailable (status 503)") }
      }
    }
    #expect(stage.count == 1)
    stage.set(60)
    guard case .failure(let failure) = source.token() else {
      Issue.record("there is a token")
      return
    }
    #expect(failure.retryAfter == Milliseconds(40_000))
    #expect(stage.count == 1)
    stage.set(100)
    #expect(text(source.token()) == "T1")
    #expect(stage.count == 2)
  }

  @Test func aFailureIsSharedByAllWhoWaitedForTheCall() {
    let stage = Stage([.failure(.unavailable(status: 500, retryAfter: nil))], delay: 0.5)
    let source = stage.source()
    let group = DispatchGroup()
    for _ in 0..<16 {
      group.enter()
      Thread.detachNewThread {
        #expect(self.text(source.token()) == "the token service is unavailable (status 500)")
        group.leave()
      }
    }
    group.wait()
    // Those that came in time for one call share it.
    #expect(stage.count < 8)
  }

  @Test func aDeadTokenIsNotHandedOutAgain() throws {
    let stage = Stage([Self.grant("T1"), .failure(.unavailable(status: 500, retryAfter: nil)), Self.grant("T2")])
    let source = stage.source()
    let first = try source.token().get()
    #expect(text(source.token(after: first)) == "the token service is unavailable (status 500)")
    #expect(text(source.token()) == "T2")
  }

  // MARK: - The call itself

  @Test(arguments: try Vector.all("oauth") { $0["response"] != nil })
  func readsTheVectors(_ vector: Vector) throws {
    let response = try #require(vector["response"])
    let body = response["raw"]?.string ?? Self.text(response["json"])
    let answer = HTTPAnswer(status: Int(response["status"]?.integer ?? 0), body: Array(body.utf8))
    switch (vector.testDescription, TokenAnswer.read(answer, now: 0)) {
    case ("oauth-ok", .success(let grant)), ("oauth-quoted-expires", .success(let grant)):
      #expect(grant == .init(token: Secret("T1"), seconds: 14_400))
    case ("oauth-same-token", .success(let grant)): #expect(grant == .init(token: Secret("T1"), seconds: 10_800))
    case ("oauth-bad-client", .failure(let failure)):
      #expect(failure == .refused(status: 401, error: "invalid_client"))
      #expect(failure.stop == .credentials)
    case ("oauth-limit", .failure(let failure)):
      #expect(failure == .throttled(status: 400, retryAfter: nil))
      #expect(failure.stop == nil)
    case (_, let other): Issue.record("\(other)")
    }
    if let body = vector["request"]?["body"]?.string, let params = vector["request"]?["params"] {
      let credentials = Credentials(
        clientID: Secret(params["client_id"]?.string ?? ""),
        clientSecret: Secret(params["client_secret"]?.string ?? ""),
        refreshToken: Secret(params["refresh_token"]?.string ?? ""))
      #expect(String(decoding: TokenAnswer.body(credentials), as: UTF8.self) == body)
    }
  }

  private static func text(_ node: JSONNode?) -> String {
    let members = (node?.members ?? []).map { member in
      let value: String =
        switch member.value.value {
        case .string(let text): "\"\(text)\""
        case .number(let text): text
        default: "null"
        }
      return "\"\(member.key)\":\(value)"
    }
    return "{\(members.joined(separator: ","))}"
  }

  @Test(
    arguments: [
      (200, "", .unreadable(status: 200)), (200, "<html>", .unreadable(status: 200)),
      (200, "{}", .unreadable(status: 200)),
      (200, "{\"access_token\":\"\"}", .unreadable(status: 200)),
      (200, "{\"access_token\":\"a\\r\\nX: y\"}", .unreadable(status: 200)),
      (302, "", .redirected(status: 302)), (404, "", .noSuchService(status: 404)),
      (429, "", .throttled(status: 429, retryAfter: nil)), (500, "", .unavailable(status: 500, retryAfter: nil)),
      (403, "", .refused(status: 403, error: nil)),
      (400, "{\"error\":\"client CANARY unknown\"}", .refused(status: 400, error: nil)),
    ] as [(Int, String, CallFault)])
  func everyOtherAnswerIsAFailure(_ status: Int, _ body: String, _ failure: CallFault) {
    #expect(TokenAnswer.read(HTTPAnswer(status: status, body: Array(body.utf8)), now: 0) == .failure(failure))
  }

  @Test(
    arguments: [
      ("\"14400\"", 14_400), ("3600", 3600), ("3600.5", 3600.5), ("-1", 0), ("null", 3600), ("\"x\"", 3600),
      ("1e300", 86_400),
    ] as [(String, Double)])
  func theLifetimeIsANumberOrAQuotedOne(_ text: String, _ seconds: Double) throws {
    let answer = HTTPAnswer(status: 200, body: Array("{\"access_token\":\"T\",\"expires_in\":\(text)}".utf8))
    #expect(try TokenAnswer.read(answer, now: 0).get().seconds == seconds)
  }

  @Test func secretsAreNotPrinted() {
    let secret = Secret("CANARY")
    let credentials = Credentials(clientID: secret, clientSecret: secret, refreshToken: secret)
    let token = AccessToken(secret: secret, generation: 1, receivedAt: 0, lifetime: 1)
    var text = "\(secret) \(credentials) \(token) \(String(reflecting: credentials))"
    dump(credentials, to: &text)
    dump(token, to: &text)
    #expect(!text.contains("CANARY"))
  }
}
