package import BatchFoundation
package import BatchWire
import FoundationEssentials

/// The service as a whole: address, credentials, token and connections. Any number of threads may call at once; each call
/// blocks. How many should is for the caller to bound (reference identity 7: ten requests at a time for a whole organisation).
///
/// A call is one request, or two when the token turns out to have expired: then a new token is fetched once and the same
/// bytes are sent once more (reference identity 1.3). Nothing else is ever repeated here.
package final class EngageService: Sendable {
  package let address: ServiceAddress
  package let paths: ServicePaths
  private let http: HTTPClient
  private let tokens: TokenSource
  private let counts: Guarded<Counts>
  private let wallClock: @Sendable () -> Double
  private let limits: Guarded<Limits>

  private struct Limits {
    var calls: HourlyLimit?
    var tokens: HourlyLimit?
  }

  /// What has been sent so far, token calls apart.
  package struct Counts: Sendable, Equatable {
    package var requests = 0
    package var tokenRequests = 0
    /// Those among the requests that were sent again because the token of the first had expired.
    package var renewals = 0
    /// Seconds the service's clock is ahead of this one, by the latest answer that carried a date; to the second.
    package var clockOffset: Double?
  }

  /// - Parameter refreshMargin: seconds before its end at which a token is renewed at the latest.
  /// - Parameter monotonicClock: seconds that only move forward, for the age of tokens.
  /// - Parameter wallClock: seconds since 1970, for dates in headers only.
  package init(
    address: ServiceAddress, paths: ServicePaths, credentials: Credentials, http: HTTPClient,
    refreshMargin: Double,
    monotonicClock: @escaping @Sendable () -> Double = EngageService.systemUptime,
    wallClock: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
  ) {
    self.address = address
    self.paths = paths
    self.http = http
    self.wallClock = wallClock
    let counts = Guarded(Counts())
    self.counts = counts
    let limits = Guarded(Limits())
    self.limits = limits
    let request = HTTPRequest(
      .post, address, paths.oauth,
      headers: [.init("Content-Type", "application/x-www-form-urlencoded"), .init("Accept", "application/json")],
      body: TokenAnswer.body(credentials))
    tokens = TokenSource(margin: refreshMargin, clock: monotonicClock) { cancellation in
      if let wait = limits.withLock({ $0.tokens })?.take() { return .failure(.tokensUsedUp(wait)) }
      switch http.send(request, cancellation: cancellation) {
      case .notSent(let fault): return .failure(.notSent(fault, "the token service was not reached"))
      case .noAnswer(let fault):
        counts.withLock { $0.tokenRequests += 1 }
        return .failure(.notSent(fault, "the token service was not reached"))
      case .answer(let answer):
        counts.withLock { $0.tokenRequests += 1 }
        return TokenAnswer.read(answer, now: Int64(wallClock()))
      }
    }
  }

  package var counters: Counts { counts.withLock { $0 } }

  /// Bounds what is sent from now on; nil for no bound.
  package func limit(calls: HourlyLimit?, tokens: HourlyLimit?) {
    limits.withLock { $0 = Limits(calls: calls, tokens: tokens) }
  }

  /// Fetches a token if there is none, and says whether the credentials hold.
  package func authenticate(cancellation: HTTPCancellation? = nil) -> Result<AccessToken, CallFault> {
    tokens.token(cancellation: cancellation)
  }

  /// Uses no connection again that is open now, because one of them gave the answer to another question (reference decisions 36).
  package func abandonConnections() { http.abandonConnections() }

  /// Sends one operation.
  package func call<Answer>(
    _ operation: XMLAPIOperation<Answer>, cancellation: HTTPCancellation? = nil
  ) -> ServiceOutcome<Answer> {
    call([operation.call], cancellation: cancellation).map { results in
      guard let result = results.first else { return .unknown(.unreadable(status: 200, "there is no result")) }
      if let fault = result.fault { return .rejected(fault) }
      do throws(MissingField) {
        return .answered(try operation.read(result))
      } catch {
        return .unknown(.unreadable(status: 200, "\(error.name) is missing"))
      }
    }
  }

  /// Sends several operations in one envelope; the results are in the same order, and some may have failed alone.
  package func call(
    _ operations: [OperationCall], cancellation: HTTPCancellation? = nil
  ) -> ServiceOutcome<[XMLAPIResult]> {
    let envelope: [UInt8]
    do {
      envelope = try Envelope.bytes(operations)
    } catch {
      return .notSent(CallFault("not sent: \(error)", stop: .unwritable))
    }
    let request = HTTPRequest(
      .post, address, paths.xmlapi, headers: [.init("Content-Type", FormEncoding.contentType)],
      body: FormEncoding.body([("xml", envelope)]))
    return authorized(
      request, isRepeatable: operations.allSatisfy(\.isRepeatable),
      allowsRenewal: !operations.contains { $0.name == "Logout" }, cancellation
    ) { answer, now in AnswerRules.readXMLAPI(answer, to: envelope, count: operations.count, now: now) }
  }

  /// Submits events; `body` is the whole JSON document.
  package func submit(_ body: [UInt8], cancellation: HTTPCancellation? = nil) -> SendOutcome {
    let request = HTTPRequest(
      .post, address, paths.events, headers: [.init("Content-Type", "application/json")], body: body)
    return authorized(request, isRepeatable: false, cancellation) { answer, now in
      AnswerRules.readSubmission(answer, to: body, now: now)
    }
  }

  /// Events that were taken and refused afterwards.
  package func eventErrors(
    filter: String = "errorId=0", cancellation: HTTPCancellation? = nil
  ) -> ServiceOutcome<[EventError]> {
    get("\(paths.eventErrors)?filter=\(FormEncoding.component(filter))", cancellation: cancellation).map { root in
      guard let errors = EventError.list(root) else {
        return .unknown(.unreadable(status: 200, "the body is not a list of errors"))
      }
      return .answered(errors)
    }
  }

  /// A question to the REST part, such as `/rest/eventtypes/17`.
  package func get(_ target: String, cancellation: HTTPCancellation? = nil) -> ServiceOutcome<JSONNode> {
    var request = HTTPRequest(.get, address, target, headers: [.init("Accept", "application/json")])
    request.answerLimit = 16 << 20
    return authorized(request, isRepeatable: true, cancellation) { answer, now in
      AnswerRules.readJSON(answer, to: Array(target.utf8), now: now)
    }
  }

  package static let systemUptime: @Sendable () -> Double = {
    let start = ContinuousClock.now
    return {
      let (seconds, attoseconds) = (ContinuousClock.now - start).components
      return Double(seconds) + Double(attoseconds) * 1e-18
    }
  }()

  // MARK: - Sending

  /// Sends the request with the token, and once more with a new one if the token was over.
  private func authorized<Answer, Rejection>(
    _ request: HTTPRequest, isRepeatable: Bool, allowsRenewal: Bool = true, _ cancellation: HTTPCancellation?,
    read: (HTTPAnswer, Int64) -> Reading<CallOutcome<Answer, Rejection>>
  ) -> CallOutcome<Answer, Rejection> {
    var refused: AccessToken?
    var seenEmpty = false
    while true {
      let token: AccessToken
      switch tokens.token(after: refused, cancellation: cancellation) {
      case .success(let valid): token = valid
      case .failure(let failure): return seenEmpty ? .unknown(Self.emptyAnswer(200)) : .notSent(.noToken(failure))
      }
      if let wait = limits.withLock({ $0.calls })?.take() {
        return seenEmpty ? .unknown(Self.emptyAnswer(200)) : .notSent(.usedUp(wait))
      }
      var authorized = request
      authorized.headers.append(.init("Authorization", token.headerValue))
      let answer: HTTPAnswer
      switch perform(authorized, isRenewal: refused != nil, cancellation) {
      case .answer(let whole): answer = whole
      case .notSent(let fault): return seenEmpty ? .unknown(.unanswered(fault)) : .notSent(.notSent(fault))
      case .noAnswer(let fault): return .unknown(.unanswered(fault))
      }
      let isLast = refused != nil || !allowsRenewal
      switch read(answer, Int64(wallClock())) {
      case .outcome(let outcome): return outcome
      case .expired(let status, let isSentence) where isLast:
        // An empty answer before may have been the answer to the same bytes.
        if seenEmpty { return .unknown(Self.emptyAnswer(status)) }
        if refused != nil, !isSentence { tokens.giveUp(status: status) }
        let words = refused == nil ? nil : "a new access token is refused too"
        return .refused(CallFault(.credentials, status: status, words: words, isSentence: isSentence))
      case .empty where isLast || !isRepeatable:
        // Perhaps the token was over, so the next call gets another.
        tokens.forget(token)
        return .unknown(Self.emptyAnswer(answer.status))
      case .expired: refused = token
      case .empty:
        refused = token
        seenEmpty = true
      }
    }
  }

  private static func emptyAnswer(_ status: Int) -> CallFault { .unreadable(status: status, "the body is empty") }

  private func perform(
    _ request: HTTPRequest, isRenewal: Bool, _ cancellation: HTTPCancellation?
  ) -> HTTPOutcome {
    let outcome = http.send(request, cancellation: cancellation)
    let now = wallClock()
    counts.withLock { counts in
      if case .notSent = outcome { return }
      counts.requests += 1
      if isRenewal { counts.renewals += 1 }
      switch outcome {
      case .answer(let answer):
        if let date = answer.date.flatMap(HTTPDate.parse) { counts.clockOffset = (Double(date) - now).rounded() }
      case .noAnswer, .notSent: break
      }
    }
    return outcome
  }
}

/// Where the calls of a service are, below its address.
package struct ServicePaths: Sendable, Equatable {
  package var oauth: String
  package var xmlapi: String
  package var events: String
  package var eventErrors: String

  package init(oauth: String, xmlapi: String, events: String, eventErrors: String) {
    self.oauth = oauth
    self.xmlapi = xmlapi
    self.events = events
    self.eventErrors = eventErrors
  }
}
