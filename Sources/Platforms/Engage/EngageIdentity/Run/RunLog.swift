import BatchThreads

/// What the threads of a run have to say to each other.
final class RunLog: Sendable {
  struct State {
    var result = IdentityResult()
    var blocked: Set<String> = []
    var error: (any Error)?
    /// How a proposal names the recipients that this run added.
    var proposedNames: [String: String] = [:]
  }

  private let state = Guarded(State())

  var result: IdentityResult { state.withLock { $0.result } }

  func count(_ change: (inout IdentityFigures) -> Void) { state.withLock { change(&$0.result.figures) } }

  func note(added id: String, as name: String) { state.withLock { $0.proposedNames[id] = name } }

  func proposedName(of id: String) -> String { state.withLock { $0.proposedNames[id] ?? id } }

  /// Later checks of the device wait for a later run.
  func block(_ device: String) { _ = state.withLock { $0.blocked.insert(device) } }

  func isBlocked(_ device: String) -> Bool { state.withLock { $0.blocked.contains(device) } }

  func fail(_ failure: RemoteFailure) {
    state.withLock { if $0.result.failure == nil { $0.result.failure = failure } }
  }

  func fail(_ error: any Error) { state.withLock { if $0.error == nil { $0.error = error } } }

  var hasEnded: Bool { state.withLock { $0.error != nil || $0.result.failure != nil } }

  func rethrow() throws { if let error = state.withLock({ $0.error }) { throw error } }
}
