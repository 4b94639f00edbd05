import BatchFoundation
import GRDB
import Glibc
import Synchronization

/// Combines the changes that threads request while the disk is busy into one transaction and one disk flush. Each
/// change is atomic on its own, and durable when its caller continues; `StoreWriter` is for callers that do not wait.
final class GroupCommit: Sendable {
  /// A change and the thread that waits for it.
  // The leading thread accesses `change` and `error` while the ticket's own thread waits. `isDone` and `leads` are
  // accessed only under the lock.
  private final class Ticket: @unchecked Sendable {
    /// The change. It becomes nil before its thread continues, because the closure must not outlive its caller.
    var change: ((Database) throws -> Void)?
    var isDone = false
    /// Whether the ticket's own thread carries out the pending changes.
    var leads = false
    var error: (any Error)?

    init(_ change: @escaping (Database) throws -> Void) { self.change = change }
  }

  private struct State {
    var waiting: [Ticket] = []
    var isBusy = false
  }

  private let state = Guarded(State())

  /// - Parameter transaction: runs a closure in a transaction and commits it.
  func run<Value>(
    in transaction: ((Database) throws -> Void) throws -> Void, _ body: (Database) throws -> Value
  ) throws -> Value {
    try withoutActuallyEscaping(body) { body in
      var value: Value?
      let ticket = Ticket { value = try body($0) }
      state.withLock { state in
        if state.isBusy { state.waiting.append(ticket) } else { ticket.leads = true }
        state.isBusy = true
      }
      let leads = state.wait { _ in ticket.isDone ? false : ticket.leads ? true : nil }
      if leads { lead(ticket, in: transaction) }
      if let error = ticket.error { throw error }
      guard let value else { throw StoreError.inconsistent("a change returned no result") }
      return value
    }
  }

  /// Carries out all pending changes, and then makes the next thread lead.
  private func lead(_ own: Ticket, in transaction: ((Database) throws -> Void) throws -> Void) {
    let batch = state.withLock { state in
      defer { state.waiting = [] }
      return [own] + state.waiting
    }
    do {
      try transaction { db in
        for ticket in batch {
          do {
            try db.inSavepoint {
              try ticket.change?(db)
              return .commit
            }
          } catch {
            ticket.error = error
          }
        }
      }
    } catch {
      for ticket in batch { ticket.error = error }
    }
    state.change { state in
      for ticket in batch {
        ticket.change = nil
        ticket.isDone = true
      }
      if state.waiting.isEmpty { state.isBusy = false } else { state.waiting.removeFirst().leads = true }
    }
  }
}

/// Points at which a test can kill the process, to prove that the next run continues from there.
///
/// `ENGAGE_CRASH_AT=POINT:N` sends SIGKILL when the point, given by its raw value, is reached for the N-th time.
/// Without the variable, reaching a point costs a load and a comparison.
package enum CrashPoint: String, CaseIterable, Sendable {
  case beforeLocalCommit = "before-local-commit"
  case afterLocalCommit = "after-local-commit"
  case beforeIntentCommit = "before-intent-commit"
  case afterIntentCommit = "after-intent-commit"
  case afterSend = "after-send"
  case beforeOutcomeCommit = "before-outcome-commit"
  case afterOutcomeCommit = "after-outcome-commit"

  private static let aim: (point: CrashPoint, occurrence: Int)? = {
    guard let value = unsafe getenv("ENGAGE_CRASH_AT") else { return nil }
    let parts = unsafe String(cString: value).split(separator: ":")
    guard parts.count == 2, let point = CrashPoint(rawValue: String(parts[0])), let occurrence = Int(parts[1]) else {
      return nil
    }
    return (point, occurrence)
  }()

  private static let reached = Atomic(0)

  @inline(__always)
  package func reach() {
    guard let aim = Self.aim, aim.point == self else { return }
    if Self.reached.add(1, ordering: .relaxed).newValue == aim.occurrence { kill(getpid(), SIGKILL) }
  }
}
