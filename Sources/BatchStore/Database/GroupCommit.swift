import BatchFoundation
import GRDB

/// Puts the changes of threads that come while the disk is busy into one transaction, so that one wait for the disk serves all.
///
/// Each change is all or nothing for itself, and durable when its caller goes on.
final class GroupCommit: Sendable {
  /// One change and the thread that waits for it.
  // Written by the thread that leads while its own waits; `isDone` and `leads` only under the lock.
  private final class Ticket: @unchecked Sendable {
    /// Gone once it was carried out, before its thread goes on: it must not outlive its caller.
    var change: ((Database) throws -> Void)?
    var isDone = false
    /// The thread of this ticket carries out what waits now.
    var leads = false
    var error: (any Error)?

    init(_ change: @escaping (Database) throws -> Void) { self.change = change }
  }

  private struct State {
    var waiting: [Ticket] = []
    var isBusy = false
  }

  private let state = Guarded(State())

  /// - Parameter transaction: commits what is done in it.
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
      guard let value else { throw StoreError.inconsistent("a change without a result") }
      return value
    }
  }

  /// Carries out all changes that wait, then lets the next thread lead.
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
