import BatchFoundation
import BatchWire
import EngageRules
import Testing

@testable import Engage

/// Values that contain a sentence of the service, quoted by it (reference decisions 59).
@Suite struct QuotedSentenceTests {
  static let sentences = [
    "the access token has EXPIRED, he said", "Max number of concurrent sessions",
    "your session has expired or is invalid",
  ]

  private func events(_ value: String, times: Int = 1) -> [UInt8] {
    let attribute = #"{"name":"Note","value":\#(JSONString.quoted(value))}"#
    let event = #"{"eventTypeCode":"17","attributes":[\#(attribute)]}"#
    return Array(#"{"events":[\#(Array(repeating: event, count: times).joined(separator: ","))]}"#.utf8)
  }

  private func read(_ status: Int, _ body: String, to sent: [UInt8]) -> Reading<SendOutcome> {
    AnswerRules.readSubmission(HTTPAnswer(status: status, body: Array(body.utf8)), to: sent, now: 0)
  }

  private func isOutcome(_ reading: Reading<SendOutcome>, _ test: (SendOutcome) -> Bool) -> Bool {
    if case .outcome(let outcome) = reading { test(outcome) } else { false }
  }

  @Test(arguments: sentences)
  func aSuccessThatEchoesIsASuccess(_ sentence: String) {
    let sent = events(sentence)
    for status in [200, 201] {
      #expect(isOutcome(read(status, String(decoding: sent, as: UTF8.self), to: sent)) { $0 == .acknowledged })
      // Also where it is quoted in a member of its own.
      #expect(
        isOutcome(read(status, #"{"message":\#(JSONString.quoted(sentence))}"#, to: sent)) { $0 == .acknowledged })
    }
  }

  @Test(arguments: sentences, [400, 413, 422])
  func aRefusalThatQuotesIsAWordAboutData(_ sentence: String, _ status: Int) {
    let sent = events("\"\(sentence)\" & <so on>")
    let quoting = [
      #"{"message":"no such value: \#(JSONString.escaped("\"\(sentence)\" & <so on>"))"}"#,
      #"{"error":"bad","fieldErrors":[\#(JSONString.quoted(String(decoding: sent, as: UTF8.self)))]}"#,
      String(decoding: sent, as: UTF8.self),
    ]
    for body in quoting {
      #expect(isOutcome(read(status, body, to: sent)) { if case .rejected = $0 { true } else { false } }, "\(body)")
    }
  }

  /// Services cut what they quote at its ends, and write other blanks.
  @Test(arguments: sentences)
  func aQuoteThatIsCutOrHasOtherBlanksIsAQuote(_ sentence: String) {
    let sent = events(" He  wrote:\u{2003}\(sentence),\tand   left. ")
    let start = "He wrote: \(sentence)"
    let quotes = [
      "\(start), and left.", "wrote: \(sentence), and left.", "\(sentence), and left.", start, "\(start), an…",
      "wrote: \(sentence), and", sentence, sentence.replacing(" ", with: "\u{A0}"),
    ]
    for quote in quotes {
      for body in [#"{"message":"no such value: \#(quote)"}"#, "no such value: '\(quote)'"] {
        #expect(
          isOutcome(read(400, body, to: sent)) { if case .rejected = $0 { true } else { false } }, "\(body)")
      }
    }
  }

  @Test func whatIsSaidMoreOftenThanSentCounts() {
    let sentence = "max number of concurrent authenticated requests"
    let said = #"{"error":"\#(sentence): \#(sentence)"}"#
    #expect(
      isOutcome(read(400, said, to: events(sentence, times: 2))) { if case .rejected = $0 { true } else { false } })
    #expect(
      isOutcome(read(400, said, to: events(sentence))) { $0.fault?.isThrottle == true && $0.fault?.isSentence == true })
    // Shorter values are no sentence, and stay.
    #expect(isOutcome(read(400, said, to: events("max number"))) { $0.fault?.isThrottle == true })
  }

  @Test func aPageOfAProxyHasNoSentence() {
    let page = "<html><body>Your session has expired or is invalid</body></html>"
    #expect(
      isOutcome(read(502, page, to: [])) { $0 == .unknown(.status(502, retryAfter: nil)) })
  }

  @Test(arguments: sentences)
  func aFaultThatQuotesIsOfItsOwnKind(_ sentence: String) throws {
    let call = XMLAPIOperation.update("900000000101", of: "1", [ColumnValue("remark", sentence)]).call
    let sent = try Envelope.bytes([call])
    let fault = EngageServiceTests.fault(313, "Invalid value in column: remark: \(sentence)")
    let answer = HTTPAnswer(status: 200, body: Array(fault.utf8))
    guard case .outcome(.answered(let results)) = AnswerRules.readXMLAPI(answer, to: sent, count: 1, now: 0) else {
      Issue.record("not answered")
      return
    }
    #expect(results.first?.fault?.kind == .permanent)
    // Words alone leave a doubt, the number of the fault none.
    for (id, isSentence) in [(313, true), (145, false)] where !sentence.hasPrefix("Max") {
      let said = HTTPAnswer(status: 200, body: Array(EngageServiceTests.fault(id, sentence).utf8))
      guard case .expired(200, isSentence) = AnswerRules.readXMLAPI(said, to: [], count: 1, now: 0) else {
        Issue.record("\(id) is not believed")
        continue
      }
    }
    // Without the quotation it means what it says, with any status.
    for status in [200, 500] {
      let said = HTTPAnswer(status: status, body: Array(EngageServiceTests.fault(0, sentence).utf8))
      switch AnswerRules.readXMLAPI(said, to: [], count: 1, now: 0) {
      case .expired(status, _): #expect(!sentence.hasPrefix("Max"))
      case .outcome(.refused(let fault)): #expect(fault.isThrottle && sentence.hasPrefix("Max"))
      default: Issue.record("not believed")
      }
    }
  }
}
