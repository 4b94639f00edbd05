import BatchFoundation
import BatchWire

/// The preliminary interpretation of a response, before an expired token is handled.
enum Reading<Outcome: Sendable>: Sendable {
  case outcome(Outcome)
  /// An explicit report of an expired token (reference identity 1.3); the request was not applied.
  case expired(status: Int, isSentence: Bool = false)
  /// An empty body, which means either an expired token or a request that was applied.
  case empty
}

/// The rules that turn responses into outcomes. `sent` is the content of the request, which a response may quote.
enum AnswerRules {
  /// Interprets the status and text by the rules that all requests share. Returns nil for an uncompressed 2xx and for a
  /// 4xx that may concern the request's content.
  static func reading<Answer, Rejection>(
    of answer: HTTPAnswer, to sent: [UInt8], ofEvents: Bool = false, as: CallOutcome<Answer, Rejection>.Type, now: Int64
  ) -> Reading<CallOutcome<Answer, Rejection>>? {
    let retryAfter = retryAfter(answer, now: now)
    let words = { ServiceText.reason(answer.body).map { ServiceWords.withoutValues($0.text, of: sent) } }
    func refused(_ kind: Refusal, isSentence: Bool = false) -> Reading<CallOutcome<Answer, Rejection>> {
      .outcome(
        .refused(
          CallFault(
            kind, status: answer.status, retryAfter: retryAfter, words: words(), isSentence: isSentence)))
    }
    switch answer.status {
    case 200..<300:
      guard answer.isCompressed else { return nil }
      return .outcome(.unknown(.unreadable(status: answer.status, "the body is compressed")))
    case 401: return .expired(status: 401)
    case 300..<400:
      return .outcome(.refused(CallFault(.redirected, status: answer.status, words: answer.redirection ?? words())))
    case 429: return refused(.throttled)
    default: break
    }
    let text = ServiceText(answer.body, quoting: sent)
    if text.saysThrottled { return refused(.throttled, isSentence: true) }
    if text.saysExpired { return .expired(status: answer.status, isSentence: true) }
    switch answer.status {
    case 403: return refused(.forbidden)
    case 404, 405, 410: return refused(.noSuchService)
    case 503 where ofEvents: return refused(.failing)
    case 400..<500 where ofEvents:
      return statusesOfData.contains(answer.status) && retryAfter == nil ? nil : refused(.failing)
    case 408, 425, 500...:
      return .outcome(.unknown(.status(answer.status, retryAfter: retryAfter, words: words())))
    default: return nil
    }
  }

  private static func retryAfter(_ answer: HTTPAnswer, now: Int64) -> Double? {
    RetryAfter.seconds(answer.retryAfter, date: answer.date, now: now)
  }

  static func readXMLAPI(
    _ answer: HTTPAnswer, to sent: [UInt8] = [], count: Int, now: Int64
  ) -> Reading<ServiceOutcome<[XMLAPIResult]>> {
    if let reading = reading(of: answer, to: sent, as: ServiceOutcome<[XMLAPIResult]>.self, now: now) { return reading }
    guard (200..<300).contains(answer.status) else {
      // The XMLAPI reports failures with status 200; any other status comes from the servers in front of it.
      return .outcome(.unknown(.status(answer.status, retryAfter: retryAfter(answer, now: now))))
    }
    let results: [XMLAPIResult]
    do throws(XMLAPIAnswer.Fault) {
      results = try XMLAPIAnswer.parse(answer.body, expecting: count).map { $0.quoting(sent) }
    } catch {
      if error == .empty { return .empty }
      // A single fault in response to several operations refuses all of them.
      guard count > 1, let fault = soleFault(answer.body)?.quoting(sent) else {
        return .outcome(.unknown(.unreadable(status: answer.status, answer.page ?? error.description)))
      }
      return reading(of: fault) ?? .outcome(.rejected(fault))
    }
    let faults = results.compactMap(\.fault)
    if faults.count == results.count, let first = faults.first, faults.allSatisfy({ $0.kind == first.kind }),
      let reading = reading(of: first)
    {
      return reading
    }
    return .outcome(.answered(results))
  }

  private static func reading(of fault: ServiceFault) -> Reading<ServiceOutcome<[XMLAPIResult]>>? {
    switch fault.kind {
    case .expired: .expired(status: 200, isSentence: fault.isSentence)
    case .throttled: .outcome(.refused(CallFault(.throttled, status: 200, words: fault.words, isSentence: true)))
    default: nil
    }
  }

  /// Returns the fault if the body contains nothing else; otherwise nil.
  private static func soleFault(_ body: [UInt8]) -> ServiceFault? {
    // The caller reports a body that is not a response.
    guard let results = try? XMLAPIAnswer.parse(body), let result = results.first else { return nil }
    return result.fault
  }

  /// Reads a response to submitted events. The message of a rejection may quote the events, so it belongs in quarantine
  /// and not in logs.
  static func readSubmission(_ answer: HTTPAnswer, to sent: [UInt8] = [], now: Int64) -> Reading<SendOutcome> {
    if let reading = reading(of: answer, to: sent, ofEvents: true, as: SendOutcome.self, now: now) { return reading }
    guard (200..<300).contains(answer.status) else {
      return .outcome(.rejected("status \(answer.status): \(ServiceWords(answer.body).text)"))
    }
    let text = ServiceText(answer.body, errorsOnly: true, quoting: sent)
    if text.saysThrottled {
      let retryAfter = retryAfter(answer, now: now)
      return .outcome(.refused(CallFault(.throttled, status: answer.status, retryAfter: retryAfter, isSentence: true)))
    }
    if text.saysExpired { return .expired(status: answer.status, isSentence: true) }
    if let why = answer.objection { return .outcome(.unknown(.unreadable(status: answer.status, why))) }
    return .outcome(.acknowledged)
  }

  /// The statuses that concern the content of the events, such as 409 (a type code from a different database) and 415
  /// (unexpected JSON).
  private static let statusesOfData: Set = [400, 409, 413, 415, 422]

  /// Reads a JSON response to a GET request.
  static func readJSON(
    _ answer: HTTPAnswer, to sent: [UInt8] = [], now: Int64
  ) -> Reading<ServiceOutcome<JSONNode>> {
    if let reading = reading(of: answer, to: sent, as: ServiceOutcome<JSONNode>.self, now: now) { return reading }
    guard (200..<300).contains(answer.status) else {
      return .outcome(
        .rejected(ServiceFault(id: nil, faultClass: nil, message: ServiceWords(answer.body)).quoting(sent)))
    }
    do throws(JSONError) {
      return .outcome(.answered(try JSONNode.parse(answer.body)))
    } catch {
      return .outcome(
        .unknown(.unreadable(status: answer.status, answer.page ?? "the body cannot be read: \(error.reason)")))
    }
  }
}
