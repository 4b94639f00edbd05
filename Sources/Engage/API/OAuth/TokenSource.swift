package import BatchFoundation
import BatchWire

/// The one token of a run. Any number of threads ask for it; at most one asks the service at a time.
final class TokenSource: Sendable {
  private struct State {
    var token: AccessToken?
    var generation = 0
    /// Set once for good: the service does not know these credentials.
    var refusal: CallFault?
    /// No early refresh before this time, after one has failed.
    var earliestRefresh = 0.0
    var failedRefreshes = 0
    /// What the service said when it asked to stay away, and until when.
    var pause: (failure: CallFault, until: Double)?
    /// Calls that have ended, and how the last one failed.
    var calls = 0
    var lastFailure: CallFault?
  }

  private let request: @Sendable (HTTPCancellation?) -> Result<TokenAnswer.Grant, CallFault>
  private let clock: @Sendable () -> Double
  private let state = Guarded(State())
  /// Held by the thread that asks the service, for one call at most: its total timeout bounds it.
  private let flight = Guarded(Turn())

  /// Seconds before its end at which a token is renewed at the latest.
  private let margin: Double
  /// A longer `Retry-After`, in seconds, is cut to this (reference guarantees 2.1).
  private static let longestPause = 900.0

  /// - Parameter clock: seconds that only move forward.
  init(
    margin: Double = 600, clock: @escaping @Sendable () -> Double,
    request: @escaping @Sendable (HTTPCancellation?) -> Result<TokenAnswer.Grant, CallFault>
  ) {
    self.margin = margin
    self.clock = clock
    self.request = request
  }

  /// A token to send with; asks the service only if there is none that will do.
  ///
  /// Callers that come while the service is asked share its answer, a failure too. While the service wants to be left alone
  /// (`Retry-After`) it is not asked, and a token that it refused is never handed out again.
  ///
  /// - Parameter refused: the token the service turned away just now. If another thread has replaced it meanwhile, the new
  ///   one is returned without a call.
  func token(after refused: AccessToken? = nil, cancellation: HTTPCancellation? = nil) -> Result<
    AccessToken, CallFault
  > {
    let calls = state.withLock { $0.calls }
    switch look(refused) {
    case .use(let token): return .success(token)
    case .fail(let failure): return .failure(failure)
    case .renewEarly(let token):
      // Whoever comes first renews; the others go on with the token that still holds.
      return flight.withLockIfAvailable { _ in renew(refused, since: calls, cancellation) } ?? .success(token)
    case .renew: return flight.withLock { _ in renew(refused, since: calls, cancellation) }
    }
  }

  /// The next caller gets another token.
  func forget(_ token: AccessToken) {
    state.withLock { if $0.token?.generation == token.generation { $0.token = nil } }
  }

  /// The service refused a token that was new: it will refuse the next one too.
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

  /// Asks the service, unless another thread did while this one waited.
  ///
  /// - Parameter calls: the calls that had ended when the token was wanted.
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
        // Counted from before the call: the token may have been made at any time since.
        let token = AccessToken(
          secret: grant.token, generation: state.generation, receivedAt: asked, lifetime: grant.seconds)
        state.token = token
        state.failedRefreshes = 0
        state.earliestRefresh = 0
        return .success(token)
      case .failure(let failure):
        // A call that one caller gave up says nothing to the others.
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

/// A token with the time it is good for, on a clock that only moves forward.
package struct AccessToken: Sendable {
  package let secret: Secret
  /// Counts the tokens of this run, so that one that was refused is told from its successor.
  package let generation: Int
  /// Seconds on the monotonic clock.
  package let receivedAt: Double
  package let lifetime: Double

  package func isValid(at now: Double) -> Bool { now < receivedAt + lifetime }

  /// True when 75 % of its time is used or less than the margin, in seconds, is left (reference identity 1.2). A token that never had much
  /// time keeps half of it: the service hands out the same token for three hours, and asking again at once would get the
  /// same one.
  package func isDue(at now: Double, margin: Double) -> Bool {
    let margin = min(max(lifetime / 4, margin), lifetime / 2)
    return receivedAt + lifetime - now < margin
  }

  var headerValue: String { "Bearer \(secret.reveal())" }
}

/// What an administrator issues for one organisation (reference identity 1.1). None of it is ever printed.
package struct Credentials: Sendable, Equatable {
  package var clientID: Secret
  package var clientSecret: Secret
  package var refreshToken: Secret

  package init(clientID: Secret, clientSecret: Secret, refreshToken: Secret) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.refreshToken = refreshToken
  }
}
