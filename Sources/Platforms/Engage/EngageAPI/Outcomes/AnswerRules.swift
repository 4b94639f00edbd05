import BatchFoundation
import BatchHTTP

/// What an answer says, before anything is done about an expired token.
enum Reading<Answer: Sendable>: Sendable {
  case outcome(CallOutcome<Answer>)
  /// One of the faces of an expired token (reference identity 1.3); the request was not applied.
  case expired(status: Int)
  /// The silent one: an empty body, which may as well be the answer to a request that was applied.
  case empty
}

/// Which answers mean what.
///
/// `EngageDestination` makes a `SendOutcome` of what is read here of submitted events, and `DeliverySchedule` acts on
/// that.
enum AnswerRules {
  /// What status and words say, whatever was asked for; nil for a 2xx, and for a 4xx that concerns the request's content.
  static func reading<Answer>(of answer: HTTPAnswer, as: Answer.Type, now: Int64) -> Reading<Answer>? {
    let retryAfter = RetryAfter.seconds(answer.retryAfter, date: answer.date, now: now)
    let refused = { (kind: Refusal.Kind) in
      Reading<Answer>.outcome(
        .refused(Refusal(kind, status: answer.status, retryAfter: retryAfter, words: ServiceText.reason(answer.body))))
    }
    let words = answer.body.prefix(8192)
    switch answer.status {
    case 200..<300:
      guard !answer.isCompressed else {
        return .outcome(.unknown(.unreadable(status: answer.status, why: "the body is compressed")))
      }
      return nil
    case 401: return .expired(status: 401)
    case 300..<400: return refused(.redirected)
    case 429: return refused(.throttled)
    case _ where ServiceText.saysThrottled(words): return refused(.throttled)
    case _ where [400, 403, 500].contains(answer.status) && ServiceText.saysExpired(words):
      return .expired(status: answer.status)
    case 403: return refused(.forbidden)
    case 404, 405, 410: return refused(.noSuchService)
    case 408, 425, 500...:
      return .outcome(
        .unknown(.status(answer.status, retryAfter: retryAfter, words: ServiceText.reason(answer.body)?.text)))
    default: return nil
    }
  }

  /// An answer of the XMLAPI to `count` operations.
  static func readXMLAPI(_ answer: HTTPAnswer, count: Int, now: Int64) -> Reading<[XMLAPIResult]> {
    if let reading = reading(of: answer, as: [XMLAPIResult].self, now: now) { return reading }
    guard (200..<300).contains(answer.status) else {
      // The XMLAPI says no with 200; another status is trouble before or behind it.
      let retryAfter = RetryAfter.seconds(answer.retryAfter, date: answer.date, now: now)
      return .outcome(.unknown(.status(answer.status, retryAfter: retryAfter)))
    }
    let results: [XMLAPIResult]
    do throws(XMLAPIAnswer.Fault) {
      results = try XMLAPIAnswer.parse(answer.body, expecting: count)
    } catch {
      if error == .empty { return .empty }
      // One fault for an envelope of several operations is still a refusal of all.
      guard count > 1, let fault = soleFault(answer.body) else {
        return .outcome(.unknown(.unreadable(status: answer.status, why: error.description)))
      }
      return reading(of: fault) ?? .outcome(.failed(fault))
    }
    let faults = results.compactMap(\.fault)
    if faults.count == results.count, let first = faults.first, faults.allSatisfy({ $0.kind == first.kind }),
      let reading: Reading<[XMLAPIResult]> = reading(of: first)
    {
      return reading
    }
    return .outcome(.answered(results))
  }

  private static func reading(of fault: ServiceFault) -> Reading<[XMLAPIResult]>? {
    switch fault.kind {
    case .expired: .expired(status: 200)
    case .throttled: .outcome(.refused(Refusal(.throttled, status: 200)))
    default: nil
    }
  }

  /// The fault, if it is all the body holds.
  private static func soleFault(_ body: [UInt8]) -> ServiceFault? {
    // A body that is not an answer has been described by the caller.
    guard let results = try? XMLAPIAnswer.parse(body), let result = results.first else { return nil }
    return result.fault
  }

  /// An answer to submitted events.
  ///
  /// A 503 and every 4xx turn the events away. Another 5xx does not say whether they were taken (reference decisions 45). Of a 4xx only what
  /// the service says of data is about them, and not where it asks to come back later.
  static func readSubmission(_ answer: HTTPAnswer, now: Int64) -> Reading<Submission> {
    if let reading = reading(of: answer, as: Submission.self, now: now) {
      guard case .outcome(.unknown(.status(let status, let retryAfter, _))) = reading, status < 500 || status == 503
      else { return reading }
      return .outcome(
        .refused(
          Refusal(.failing, status: status, retryAfter: retryAfter, words: ServiceText.reason(answer.body))))
    }
    guard (200..<300).contains(answer.status) else {
      let retryAfter = RetryAfter.seconds(answer.retryAfter, date: answer.date, now: now)
      guard statusesOfData.contains(answer.status), retryAfter == nil else {
        return .outcome(
          .refused(
            Refusal(.failing, status: answer.status, retryAfter: retryAfter, words: ServiceText.reason(answer.body))))
      }
      return .outcome(.answered(.rejected(Rejection(status: answer.status, message: ServiceWords(answer.body)))))
    }
    if ServiceText.saysThrottled(answer.body.prefix(8192)) {
      return .outcome(.refused(Refusal(.throttled, status: answer.status)))
    }
    if ServiceText.saysExpired(answer.body.prefix(8192)) { return .expired(status: answer.status) }
    if let why = answer.objection {
      return .outcome(.unknown(.unreadable(status: answer.status, why: why)))
    }
    return .outcome(.answered(.acknowledged(status: answer.status)))
  }

  /// 409 is a type code that belongs to another database, 415 a body that is not the JSON it should be.
  private static let statusesOfData: Set = [400, 409, 413, 415, 422]

  /// An answer in JSON to a question.
  static func readJSON(_ answer: HTTPAnswer, now: Int64) -> Reading<JSONNode> {
    if let reading = reading(of: answer, as: JSONNode.self, now: now) { return reading }
    guard (200..<300).contains(answer.status) else {
      return .outcome(
        .failed(ServiceFault(id: nil, faultClass: nil, message: ServiceWords(answer.body))))
    }
    do throws(JSONError) {
      return .outcome(.answered(try JSONNode.parse(answer.body)))
    } catch {
      return .outcome(.unknown(.unreadable(status: answer.status, why: "the body is \(error.reason)")))
    }
  }
}
