import BatchFoundation
import BatchWire
import Testing

@testable import Engage

@Suite struct SubmissionReadingTests {
  static let page = "the body is a web page, such as a login or maintenance page"

  func read(
    _ status: Int, _ body: String = "", retryAfter: String? = nil, date: String? = nil, encoding: String? = nil
  ) -> Reading<SendOutcome> {
    AnswerRules.readSubmission(
      HTTPAnswer(
        status: status,
        fields: ["content-encoding": encoding, "retry-after": retryAfter, "date": date].compactMapValues { $0 },
        body: Array(body.utf8)),
      now: 784_111_700)
  }

  @Test(arguments: [
    (200, ""), (201, ""), (202, " \n"), (204, ""), (200, "{}"), (200, "{\"meta\":{\"generalErrors\":[]}}"), (200, "OK"),
    (200, "{\"error\":null,\"errors\":[]}"), (200, "[]"),
  ])
  func everySuccessIsAnAcknowledgement(_ status: Int, _ body: String) {
    expect(read(status, body), .acknowledged)
  }

  @Test(arguments: [
    ("<html>proxy</html>", page), ("<a/>", "the body is markup"),
    ("{\"a\":", "the body is not valid JSON"),
    ("{\"meta\":{\"generalErrors\":[\"x\"]}}", "the body lists errors"),
    ("{\"meta\":{\"fieldErrors\":{\"a\":1}}}", "the body lists errors"),
    ("{\"errors\":[{\"message\":\"x\"}]}", "the body lists errors"), ("{\"error\":\"x\"}", "the body lists errors"),
  ])
  func aSuccessThatCannotBeReadIsUnknown(_ body: String, _ why: String) {
    expect(read(200, body), .unknown(.unreadable(status: 200, why)))
    expect(read(200, "{}", encoding: "gzip"), .unknown(.unreadable(status: 200, "the body is compressed")))
  }

  /// Behind a byte order mark, or in UTF-16, a proxy's page counted as an acknowledgement.
  @Test(
    arguments: [
      ([0xEF, 0xBB, 0xBF] + Array("<html>".utf8), page),
      ([0xEF, 0xBB, 0xBF] + Array(" {".utf8), "the body is not valid JSON"),
      ([0xFF, 0xFE, 0x3C, 0, 0x68, 0], "the body is not UTF-8"),
      ([0x3C, 0, 0x68, 0], "the body is not UTF-8"),
      ([0xFE, 0xFF, 0, 0x3C], "the body is not UTF-8"),
      ([0, 0x3C, 0, 0x68], "the body is not UTF-8"),
      ([0xEF, 0xBB, 0xBF] + Array("{}".utf8), nil), ([0xEF, 0xBB, 0xBF], nil),
    ] as [([UInt8], String?)])
  func whatABodyBeginsWithDoesNotHideWhatItIs(_ body: [UInt8], _ why: String?) {
    expect(
      AnswerRules.readSubmission(HTTPAnswer(status: 200, body: body), now: 0),
      why.map { .unknown(.unreadable(status: 200, $0)) } ?? .acknowledged)
  }

  /// What says when to come back was taken for a word about the events, which became `FAILED_POST`.
  @Test(arguments: [400, 409, 413, 415, 422, 402, 418])
  func aRetryAfterSaysThatNothingIsWrongWithTheEvents(_ status: Int) {
    expect(
      read(status, "no", retryAfter: "9"), .refused(CallFault(.failing, status: status, retryAfter: 9, words: "no")))
  }

  /// They were taken for a word about the events.
  @Test(arguments: [402, 406, 407, 411, 418, 423, 426, 428, 431, 451])
  func whatIsNotAboutDataTurnsAway(_ status: Int) {
    expect(read(status, "no"), .refused(CallFault(.failing, status: status, words: "no")))
  }

  @Test(arguments: [400, 409, 413, 415, 422])
  func dataErrorsAreRejections(_ status: Int) {
    expect(read(status, "no"), .rejected("status \(status): no"))
  }

  @Test(arguments: [503, 408, 425])
  func aServiceThatDidNotGetToTheEventsTurnsThemAway(_ status: Int) {
    expect(read(status, "<html>", retryAfter: "9"), .refused(CallFault(.failing, status: status, retryAfter: 9)))
  }

  @Test(arguments: [500, 501, 502, 504, 505, 599])
  func anotherFailureDoesNotSayWhetherTheEventsWereTaken(_ status: Int) {
    expect(read(status, "<html>", retryAfter: "9"), .unknown(.status(status, retryAfter: 9)))
    expect(read(status, "out of memory"), .unknown(.status(status, retryAfter: nil, words: "out of memory")))
  }

  @Test(
    arguments: [
      (403, .forbidden), (429, .throttled), (301, .redirected), (302, .redirected), (307, .redirected),
      (308, .redirected),
      (404, .noSuchService), (405, .noSuchService),
    ] as [(Int, Refusal)])
  func turnedAway(_ status: Int, _ kind: Refusal) {
    expect(read(status), .refused(CallFault(kind, status: status)))
  }

  @Test(arguments: [200, 400, 500, 503])
  func theThrottleIsKnownByItsWords(_ status: Int) {
    let said = "The Max Number of Concurrent authenticated requests has been reached"
    let text = "{\"error\":\"\(said)\"}"
    expect(
      read(status, text),
      .refused(CallFault(.throttled, status: status, words: status == 200 ? nil : said, isSentence: true)))
  }

  @Test(arguments: [(401, ""), (403, "The access token has expired"), (200, "access token has expired")])
  func anExpiredTokenIsSeen(_ status: Int, _ body: String) {
    guard case .expired(status, _) = read(status, body) else {
      Issue.record("not seen")
      return
    }
  }

  @Test(
    arguments: [
      ("7", 7), ("0", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 77), ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("-5", nil),
      ("soon", nil),
      ("", nil), ("1.5", nil), ("315360000", 31_536_000),
    ] as [(String, Double?)])
  func retryAfterInBothForms(_ header: String, _ seconds: Double?) {
    expect(read(429, retryAfter: header), .refused(CallFault(.throttled, status: 429, retryAfter: seconds)))
  }

  @Test func retryAfterIsCountedFromTheServersClock() {
    let outcome = read(
      429, retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:07 GMT")
    expect(outcome, .refused(CallFault(.throttled, status: 429, retryAfter: 30)))
  }

  @Test func errorsOfEventsAreReadInEveryShape() throws {
    for text in [
      "[{\"errorId\":7,\"errorMessage\":\"no\",\"event\":{\"eventTypeCode\":17}}]",
      "{\"data\":[{\"id\":\"7\",\"reason\":\"no\",\"event\":\"{\\\"eventTypeCode\\\":17}\"}]}",
      "{\"data\":{\"errors\":[{\"errorId\":7,\"message\":\"no\",\"eventTypeCode\":17}]}}",
    ] {
      let errors = try #require(EventError.list(try JSONNode.parse(Array(text.utf8))))
      #expect(errors.map(\.id) == ["7"])
      #expect(errors.map(\.reason) == ["no"])
      #expect(errors.first?.event?["eventTypeCode"]?.integer == 17)
    }
    #expect(EventError.list(try JSONNode.parse(Array("{\"data\":1}".utf8))) == nil)
  }

  private func expect(
    _ reading: Reading<SendOutcome>, _ wanted: SendOutcome,
    _ location: SourceLocation = #_sourceLocation
  ) {
    guard case .outcome(let outcome) = reading else {
      Issue.record("\(reading)", sourceLocation: location)
      return
    }
    #expect(outcome == wanted, sourceLocation: location)
  }
}
