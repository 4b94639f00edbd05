import BatchFoundation

/// What the threads of a run have to say to each other.
final class RunLog: Sendable {
  struct State {
    var result = IdentityResult()
    var hasEnded = false
    var blocked: Set<String> = []
    /// Instructions whose plans wait for a person.
    var blockedChecks: Set<Int64> = []
    /// Devices of ``IdentityResult/waiting``.
    var waiting: Set<ByteText> = []
    /// What pieces that wait for a later run would have worked on.
    var postponed: Set<ByteText> = []
    /// Devices whose calls failed since the last one that went well.
    var failing: Set<String> = []
    var error: (any Error)?
    /// How a change plan names the recipients that this run added.
    var proposedNames: [String: String] = [:]
    /// The devices of those.
    var owners: [ByteText: String] = [:]
  }

  /// So many devices that fail one after the other show that the service fails, not what the devices recorded.
  private static let breaker = 3

  private let state = Guarded(State())

  var result: IdentityResult { state.withLock { $0.result } }

  func count(_ change: (inout IdentityFigures) -> Void) { state.withLock { change(&$0.result.figures) } }

  func note(_ text: String) { state.withLock { $0.result.notes.append(text) } }

  func note(added id: String, as name: String, for device: String) {
    state.withLock { state in
      state.proposedNames[id] = name
      state.owners[ByteText(name)] = device
    }
  }

  /// The device for which a recipient was added, by the name that a change plan gives it; empty for none.
  func owner(of name: String) -> String { state.withLock { $0.owners[ByteText(name)] ?? "" } }

  func plannedName(of id: String) -> String { state.withLock { $0.proposedNames[id] ?? id } }

  /// Later checks of the device wait for a later run.
  func block(_ device: String) { _ = state.withLock { $0.blocked.insert(device) } }

  /// The instruction waits; later checks of its device do not.
  func block(check: Int64) { _ = state.withLock { $0.blockedChecks.insert(check) } }

  func isBlocked(check: Int64) -> Bool { state.withLock { $0.blockedChecks.contains(check) } }

  func isBlocked(_ device: String) -> Bool { state.withLock { $0.blocked.contains(device) } }

  /// A piece of work came to its end: the service works.
  func succeed() { state.withLock { $0.failing = [] } }

  /// Leaves a device's work to a later run, because its calls keep failing.
  func postpone(_ device: String, check: Int64?, keys: [String], _ failure: RemoteFailure) {
    if failure.endsRun { return fail(failure) }
    state.withLock { state in
      state.postpone(WaitingDevice(device: device, check: check, failure: failure), keys)
      // One that is left for later leaves others that are answered.
      if case .deferred = failure {} else { state.failing.insert(device) }
      if state.failing.count >= Self.breaker { state.hasEnded = true }
      if state.result.failure == nil { state.result.failure = failure }
    }
  }

  /// Leaves a device's work to a later run, because it comes after work that waits.
  func postpone(_ device: String, check: Int64?, keys: [String]) {
    state.withLock { $0.postpone(WaitingDevice(device: device, check: check, failure: nil), keys) }
  }

  /// Whether work that waits for a later run shares a key.
  func waits(for keys: [String]) -> Bool {
    state.withLock { state in !state.postponed.isEmpty && keys.contains { state.postponed.contains(ByteText($0)) } }
  }

  /// Ends the work: no later call can do better.
  func fail(_ failure: RemoteFailure) {
    state.withLock { state in
      if state.result.failure == nil || !state.hasEnded { state.result.failure = failure }
      state.hasEnded = true
    }
  }

  func fail(_ error: any Error) { state.withLock { if $0.error == nil { $0.error = error } } }

  var hasEnded: Bool { state.withLock { $0.error != nil || $0.hasEnded } }

  func rethrow() throws { if let error = state.withLock({ $0.error }) { throw error } }
}

extension RunLog.State {
  /// A device that waits already is named once, but for each failure of its calls.
  fileprivate mutating func postpone(_ device: WaitingDevice, _ keys: [String]) {
    let isNew = waiting.insert(ByteText(device.device)).inserted
    if isNew || device.failure != nil { result.waiting.append(device) }
    blocked.insert(device.device)
    postponed.formUnion(keys.map { ByteText($0) })
  }
}
