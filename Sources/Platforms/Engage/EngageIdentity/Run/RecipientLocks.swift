import BatchFoundation
import BatchThreads

/// Recipients that a thread of this run is working on. The store's locks hold across runs; these make threads wait.
final class RecipientLocks: Sendable {
  private struct State {
    var held: Set<ByteText> = []
    var clock = 0
    /// When each recipient was last given up.
    var released: [ByteText: Int] = [:]
  }

  private let state = Guarded(State())

  /// To be taken before recipients are looked up, for ``take(_:since:)``.
  var now: Int { state.change { $0.clock } }

  /// Waits until all are free and takes them together.
  ///
  /// - Returns: false, with none taken, if one was worked on after `since`: what was read before may be out of date.
  func take(_ recipients: [String], since: Int) -> Bool {
    let names = Set(recipients.map { ByteText($0) })
    return state.wait { state in
      if names.contains(where: { state.released[$0, default: -1] >= since }) { return false }
      guard state.held.isDisjoint(with: names) else { return nil }
      state.held.formUnion(names)
      return true
    }
  }

  func release(_ recipients: [String]) {
    state.change { state in
      for recipient in Set(recipients.map { ByteText($0) }) where state.held.remove(recipient) != nil {
        state.released[recipient] = state.clock
      }
      state.clock += 1
    }
  }
}
