import BatchFoundation

/// The state shared by the threads of a run.
final class RunLog: Sendable {
  struct State {
    var result = IdentityResult()
    var hasEnded = false
    /// The devices, people and checks of instructions that are left to a later run.
    var blocked: Set<String> = []
    /// The devices of ``IdentityResult/postponed``.
    var postponedDevices: Set<ByteText> = []
    /// The keys of the pieces left to a later run.
    var postponedKeys: Set<ByteText> = []
    /// The devices whose calls failed since the last success.
    var failing: Set<String> = []
    var error: (any Error)?
    /// The names that the change plan uses for recipients added by this run, by recipient id.
    var proposedNames: [String: String] = [:]
    /// The devices for which these recipients were added, by the recipient's name in the change plan.
    var owners: [ByteText: String] = [:]
  }

  /// The number of devices failing in a row after which the service, rather than the recorded data, counts as the
  /// cause.
  private static let breaker = 3

  private let state = Guarded(State())

  var result: IdentityResult { state.withLock { $0.result } }

  func count(_ change: (inout IdentityResult) -> Void) { state.withLock { change(&$0.result) } }

  func note(_ text: String) { state.withLock { $0.result.notes.append(text) } }

  func note(added id: String, as name: String, for device: String) {
    state.withLock { state in
      state.proposedNames[id] = name
      state.owners[ByteText(name)] = device
    }
  }

  /// Returns the device for which a recipient was added, by its name in the change plan; empty for none.
  func owner(of name: String) -> String { state.withLock { $0.owners[ByteText(name)] ?? "" } }

  func plannedName(of id: String) -> String { state.withLock { $0.proposedNames[id] ?? id } }

  /// Leaves further checks of a device to a later run. `person\0KEY` stands for all devices of a person, `check\0ID` for
  /// one instruction, but not for later checks of its device.
  func block(_ device: String) { _ = state.withLock { $0.blocked.insert(device) } }

  func isBlocked(_ device: String) -> Bool { state.withLock { $0.blocked.contains(device) } }

  /// Records that a piece of work was completed, which shows that the service works.
  func succeed() { state.withLock { $0.failing = [] } }

  /// Leaves a device's work to a later run, because its calls keep failing.
  func postpone(_ device: String, check: Int64?, keys: [String], _ failure: RemoteFailure) {
    if failure.endsRun { return fail(failure) }
    state.withLock { state in
      state.postpone(PostponedDevice(device: device, check: check, failure: failure), keys)
      // A deferred call is not a sign of failure, because other calls are answered.
      if case .deferred = failure {} else { state.failing.insert(device) }
      if state.failing.count >= Self.breaker { state.hasEnded = true }
      if state.result.failure == nil { state.result.failure = failure }
    }
  }

  /// Leaves a device's work to a later run, because it follows pending work.
  func postpone(_ device: String, check: Int64?, keys: [String]) {
    state.withLock { $0.postpone(PostponedDevice(device: device, check: check, failure: nil), keys) }
  }

  /// Whether work that is left to a later run has one of the keys.
  func isPostponed(_ keys: [String]) -> Bool {
    state.withLock { state in
      !state.postponedKeys.isEmpty && keys.contains { state.postponedKeys.contains(ByteText($0)) }
    }
  }

  /// Ends the work: no later call can succeed.
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
  /// Adds the device to the postponed ones once, and again for each failure of its calls.
  fileprivate mutating func postpone(_ device: PostponedDevice, _ keys: [String]) {
    let isNew = postponedDevices.insert(ByteText(device.device)).inserted
    if isNew || device.failure != nil { result.postponed.append(device) }
    blocked.insert(device.device)
    postponedKeys.formUnion(keys.map { ByteText($0) })
  }
}
