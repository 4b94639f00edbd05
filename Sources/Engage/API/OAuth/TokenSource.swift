package import BatchFoundation
import BatchWire

/// Supplies the access token for a run and renews it, using a clock that only moves forward. Any thread may call it;
/// only one at a time requests a token.
final class TokenSource: Sendable {
  private struct State {
    var token: AccessToken?
    var generation = 0
    /// Set permanently once the service refuses the credentials.
    var refusal: CallFault?
    /// The time before which no early refresh is tried, because one has failed.
    var earliestRefresh = 0.0
    var failedRefreshes = 0
    /// The failure with which the service asked for a pause, and the end of the pause.
    var pause: (failure: CallFault, until: Double)?
    /// The number of finished requests, and the failure of the last one (nil if it succeeded or was canceled).
    var calls = 0
    var lastFailure: CallFault?
  }

  private let request: @Sendable (HTTPCancellation?) -> Result<TokenAnswer.Grant, CallFault>
  private let clock: @Sendable () -> Double
  private let state = Guarded(State())
  /// Held by the thread that requests a token, for no longer than one request, which has a total timeout.
  private let flight = Guarded(Turn())

  private let margin: Double
  /// The maximum pause in seconds, to which a longer `Retry-After` is reduced (reference guarantees 2.1).
  private static let longestPause = 900.0

  init(
    margin: Double = 600, clock: @escaping @Sendable () -> Double,
    request: @escaping @Sendable (HTTPCancellation?) -> Result<TokenAnswer.Grant, CallFault>
  ) {
    self.margin = margin
    self.clock = clock
    self.request = request
  }

  /// Returns a usable token, requesting one if there is none or if the current one is due for renewal.
  ///
  /// Concurrent callers share the response to one request, including a failure. No request is made during a pause
  /// (`Retry-After`), and a refused token is never returned again.
  ///
  /// - Parameter refused: The token that the service has just refused. If another thread has already replaced it, the
  ///   new one is returned without a request.
  func token(after refused: AccessToken? = nil, cancellation: HTTPCancellation? = nil) -> Result<
    AccessToken, CallFault
  > {
    let calls = state.withLock { $0.calls }
    switch look(refused) {
    case .use(let token): return .success(token)
    case .fail(let failure): return .failure(failure)
    case .renewEarly(let token):
      // The first thread renews; the others continue with the token, which is still valid.
      return flight.withLockIfAvailable { _ in renew(refused, since: calls, cancellation) } ?? .success(token)
    case .renew: return flight.withLock { _ in renew(refused, since: calls, cancellation) }
    }
  }

  /// Discards a token, so that the next caller gets another one.
  func forget(_ token: AccessToken) {
    state.withLock { if $0.token?.generation == token.generation { $0.token = nil } }
  }

  /// Marks the credentials as refused, because the service refused a fresh token and will refuse the next one too.
  func giveUp(status: Int) {
    state.withLock { $0.refusal = .refused(status: status, error: nil) }
  }

  private enum Look {
    case use(AccessToken)
    case renewEarly(AccessToken)
    case renew
    case fail(CallFault)
  }

  private func look(_ refused: AccessToken?) -> Look {
    let now = clock()
    return state.withLock { state in
      if let refusal = state.refusal { return .fail(refusal) }
      if let refused, state.token?.generation == refused.generation { state.token = nil }
      if let pause = state.pause, now < pause.until, state.token?.isValid(at: now) != true {
        var failure = pause.failure
        failure.retryAfter = Milliseconds(seconds: pause.until - now)
        return .fail(failure)
      }
      guard let token = state.token, token.isValid(at: now), token.generation != refused?.generation else {
        return .renew
      }
      return token.isDue(at: now, margin: margin) && now >= state.earliestRefresh ? .renewEarly(token) : .use(token)
    }
  }

  /// Requests a token, unless another thread has finished a request since the caller counted `calls`.
  private func renew(
    _ refused: AccessToken?, since calls: Int, _ cancellation: HTTPCancellation?
  ) -> Result<AccessToken, CallFault> {
    switch look(refused) {
    case .use(let token): return .success(token)
    case .fail(let failure): return .failure(failure)
    case .renew, .renewEarly: break
    }
    if let failure = state.withLock({ $0.calls > calls ? $0.lastFailure : nil }) { return .failure(failure) }
    let asked = clock()
    let result = request(cancellation)
    return state.withLock { state in
      state.calls += 1
      switch result {
      case .success(let grant):
        state.lastFailure = nil
        state.pause = nil
        state.generation += 1
        // The lifetime is counted from before the request, because the token may have been issued at any time since.
        let token = AccessToken(
          secret: grant.token, generation: state.generation, receivedAt: asked, lifetime: grant.seconds)
        state.token = token
        state.failedRefreshes = 0
        state.earliestRefresh = 0
        return .success(token)
      case .failure(let failure):
        // One caller's cancellation is not a failure for the others.
        state.lastFailure = cancellation?.isCancelled == true ? nil : failure
        let wish = failure.retryAfter.map { Double($0.count) / 1000 } ?? 0
        if wish > 0 {
          state.pause = (failure, clock() + min(wish, Self.longestPause))
        }
        state.failedRefreshes += 1
        let wait = max(wish, 15 * Double(1 << min(state.failedRefreshes, 5)))
        state.earliestRefresh = clock() + wait
        guard let token = state.token, token.isValid(at: clock()), token.generation != refused?.generation else {
          if failure.stop == .credentials { state.refusal = failure }
          return .failure(failure)
        }
        return .success(token)
      }
    }
  }
}

/// A token and its lifetime in seconds on a clock that only moves forward.
package struct AccessToken: Sendable {
  package let secret: Secret
  /// The number of the token within this run, which distinguishes a refused token from its successor.
  package let generation: Int
  package let receivedAt: Double
  package let lifetime: Double

  package func isValid(at now: Double) -> Bool { now < receivedAt + lifetime }

  /// Whether 75 % of the lifetime has passed or less than `margin` seconds are left (reference identity 1.2). A
  /// short-lived token is not due before half its lifetime: the service returns the same token for three hours, and an
  /// immediate request would get the same one.
  package func isDue(at now: Double, margin: Double) -> Bool {
    let margin = min(max(lifetime / 4, margin), lifetime / 2)
    return receivedAt + lifetime - now < margin
  }

  var headerValue: String { "Bearer \(secret.reveal())" }
}

/// The credentials that an administrator issues for one organization (reference identity 1.1). Never printed.
package struct Credentials: Sendable, Equatable {
  package var clientID: Secret
  package var clientSecret: Secret
  package var refreshToken: Secret
}
