package import BatchConfiguration
package import BatchFoundation
import BatchPipeline
package import BatchWire
import FoundationEssentials

/// A client of the service: address, credentials, token and connections. Any number of threads may call it; each call
/// blocks. The caller limits concurrency (reference identity 7: ten requests at a time for a whole organization).
///
/// A call is one request. After a response that says or suggests that the token has expired, the same bytes are sent
/// once more with a new token (reference identity 1.3). No other failure is retried here.
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

  /// The requests sent so far; token requests are counted separately.
  package struct Counts: Sendable, Equatable {
    package var requests = 0
    package var tokenRequests = 0
    /// The number of requests repeated with a new token.
    package var renewals = 0
    /// The rounded seconds by which the service's clock is ahead, from the latest dated response; nil before the first.
    package var clockOffset: Double?
  }

  /// - Parameter refreshMargin: The seconds before expiry at which a token is due for renewal
  ///   (``AccessToken/isDue(at:margin:)``).
  /// - Parameter wallClock: The seconds since 1970, only to interpret dates in headers.
  package init(
    address: ServiceAddress, paths: ServicePaths, credentials: Credentials, http: HTTPClient,
    refreshMargin: Double,
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
    tokens = TokenSource(margin: refreshMargin, clock: Self.systemUptime) { cancellation in
      if let wait = limits.withLock({ $0.tokens })?.take() { return .failure(.tokensUsedUp(wait)) }
      switch http.send(request, cancellation: cancellation) {
      case .notSent(let fault): return .failure(.notSent(fault, "the token service could not be reached"))
      case .noAnswer(let fault):
        counts.withLock { $0.tokenRequests += 1 }
        return .failure(.notSent(fault, "the token service gave no complete response"))
      case .answer(let answer):
        counts.withLock { $0.tokenRequests += 1 }
        return TokenAnswer.read(answer, now: Int64(wallClock()))
      }
    }
  }

  package var counters: Counts { counts.withLock { $0 } }

  /// Limits all further requests; nil means no limit.
  package func limit(calls: HourlyLimit?, tokens: HourlyLimit?) {
    limits.withLock { $0 = Limits(calls: calls, tokens: tokens) }
  }

  /// Returns the current token, fetching one if needed, or the reason why none could be obtained.
  package func authenticate() -> Result<AccessToken, CallFault> { tokens.token() }

  /// Stops reusing open connections, because one returned the response to another request (reference decisions 36).
  package func abandonConnections() { http.abandonConnections() }

  package func call<Answer>(
    _ operation: XMLAPIOperation<Answer>, cancellation: HTTPCancellation? = nil
  ) -> ServiceOutcome<Answer> {
    call([operation.call], cancellation: cancellation).map { results in
      guard let result = results.first else { return .unknown(.unreadable(status: 200, "the response has no result")) }
      if let fault = result.fault { return .rejected(fault) }
      do throws(MissingField) {
        return .answered(try operation.read(result))
      } catch {
        return .unknown(.unreadable(status: 200, "\(error.name) is missing"))
      }
    }
  }

  /// Sends several operations in one envelope and returns their results in the same order; each may fail on its own.
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

  /// Submits events; `body` is the complete JSON document.
  package func submit(_ body: [UInt8], cancellation: HTTPCancellation? = nil) -> SendOutcome {
    let request = HTTPRequest(
      .post, address, paths.events, headers: [.init("Content-Type", "application/json")], body: body)
    return authorized(request, isRepeatable: false, cancellation) { answer, now in
      AnswerRules.readSubmission(answer, to: body, now: now)
    }
  }

  /// Returns events that the service accepted and later rejected.
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

  /// Sends a GET request to the REST API, such as `/rest/eventtypes/17`.
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

  /// Sends the request with the token, and once more with a new token if the first one has expired or may have.
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
        // The earlier empty response may mean that the request was applied.
        if seenEmpty { return .unknown(Self.emptyAnswer(status)) }
        if refused != nil, !isSentence { tokens.giveUp(status: status) }
        let words = refused == nil ? nil : "a new access token was refused too"
        return .refused(CallFault(.credentials, status: status, words: words, isSentence: isSentence))
      case .empty where isLast || !isRepeatable:
        // The token may have expired, so the next call gets a new one.
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

/// The paths of the service's endpoints, relative to its address.
package struct ServicePaths: Sendable, Equatable {
  package var oauth: String
  package var xmlapi: String
  package var events: String
  package var eventErrors: String
}

extension EngageService {
  /// Returns a client of the sandbox, which accepts any credentials, if `sandbox` gives its address; otherwise a client
  /// of the configured service.
  ///
  /// - Throws: ``ServiceSettingsError`` for an invalid address, or for missing settings, all of which are listed.
  package static func of(_ connection: Settings.Connection, sandbox: String?) throws -> EngageService {
    if sandbox == nil { try ServiceSettingsError.refuse(missingSettings(connection)) }
    func given(_ value: Secret?) -> Secret { value.flatMap { $0.isEmpty ? nil : $0 } ?? Secret("any") }
    let credentials = Credentials(
      clientID: given(connection.clientId), clientSecret: given(connection.clientSecret),
      refreshToken: given(connection.refreshToken))
    let address: ServiceAddress
    do {
      address = try ServiceAddress(sandbox ?? connection.baseURL ?? "")
    } catch {
      throw ServiceSettingsError(problems: ["Connection.baseUrl: \(error)"])
    }
    let paths = ServicePaths(
      oauth: connection.oauthPath, xmlapi: connection.xmlapiPath, events: connection.eventsPath,
      eventErrors: connection.eventErrorsPath)
    return EngageService(
      address: address, paths: paths, credentials: credentials, http: HTTPClient(try HTTPSettings(connection)),
      refreshMargin: Double(connection.tokenRefreshMargin.count) / 1000)
  }

  /// Returns the missing settings among those that every call needs.
  static func missingSettings(_ connection: Settings.Connection) -> [MissingSetting] {
    func isEmpty(_ value: Secret?) -> Bool { value?.isEmpty ?? true }
    return [
      MissingSetting("Connection.baseUrl", "ENGAGE_BASE_URL", if: connection.baseURL?.isEmpty ?? true),
      MissingSetting("Connection.clientId", "ENGAGE_CLIENT_ID", if: isEmpty(connection.clientId)),
      MissingSetting("Connection.secret", "ENGAGE_SECRET", if: isEmpty(connection.clientSecret)),
      MissingSetting("Connection.refreshToken", "ENGAGE_REFRESH_TOKEN", if: isEmpty(connection.refreshToken)),
    ].compactMap(\.self)
  }
}

/// A limit on calls within any hour (such as `Upload.maxCallsPerHour`), shared by all runs that use one store.
///
/// Calls are reserved in small batches to save writes; a run that ends leaves at most one batch unused.
package final class HourlyLimit: Sendable {
  private struct State {
    /// The minutes since 1970 in which calls were counted, in ascending order, with the number of calls.
    var used: [(minute: Int64, calls: Int)]
    var reserved = 0
  }

  private let most: Int
  private let now: @Sendable () -> Int64
  private let keep: @Sendable (String) -> Void
  private let state: Guarded<State>

  /// - Parameters:
  ///   - used: The value last passed to `keep`; nil for none.
  ///   - now: The seconds since 1970.
  ///   - keep: Stores the usage durably; called before the counted calls are made.
  package init(
    _ most: Int, used: String?, now: @escaping @Sendable () -> Int64, keep: @escaping @Sendable (String) -> Void
  ) {
    self.most = most
    self.now = now
    self.keep = keep
    let pairs = (used ?? "").split(separator: ",").compactMap { pair -> (minute: Int64, calls: Int)? in
      let parts = pair.split(separator: ":")
      guard parts.count == 2, let minute = Int64(parts[0]), let calls = Int(parts[1]) else { return nil }
      return (minute, calls)
    }
    state = Guarded(State(used: pairs))
  }

  /// Counts a call and returns nil if it may be made now; otherwise returns the seconds to wait.
  package func take() -> Double? {
    state.withLock { state in
      let seconds = now()
      let minute = seconds / 60
      // A minute counts until an hour after its end; a future minute comes from a wrong clock.
      state.used.removeAll { $0.minute + 60 < minute || $0.minute > minute }
      if state.reserved == 0 {
        let left = most - state.used.reduce(0) { $0 + $1.calls }
        guard left > 0 else { return Double((state.used[0].minute + 61) * 60 - seconds) }
        state.reserved = min(left, max(1, most / 100))
        if state.used.last?.minute == minute {
          state.used[state.used.count - 1].calls += state.reserved
        } else {
          state.used.append((minute, state.reserved))
        }
        keep(state.used.map { "\($0.minute):\($0.calls)" }.joined(separator: ","))
      }
      state.reserved -= 1
      return nil
    }
  }
}
