import BatchFoundation
import BatchStore

/// Commits batches, several at a time, on a thread of its own, so that no worker waits for the disk.
///
/// Batches up to a number of bytes may wait; a worker that is further ahead than that is held until some are done.
final class BatchWriter: Sendable {
  /// Memory is given out in units of so many bytes.
  private static let unit = 1 << 16
  /// Units of one transaction: enough that the pages they share are written once.
  private static let together = 48
  /// Batches that wait for more to come hold fewer units than ``together``, so even the largest batch finds room some time. As much again as
  /// two transactions, because the log goes into the store meanwhile now and then.
  private static let longestQueue = 3 * together

  private struct State {
    var batches: [LocalBatch] = []
    /// Of the batches that wait, and of those that are being committed.
    var waitingUnits = 0
    var committingUnits = 0
    /// Somebody waits until everything is committed.
    var isFlushing = false
    var isClosed = false
    var failure: (any Error)?
  }

  private let state: Guarded<State>
  private let thread: RunningThread

  /// - Throws: ``ThreadRefused``.
  init(_ commit: @escaping @Sendable ([LocalBatch]) throws -> Void) throws {
    let state = Guarded(State())
    self.state = state
    thread = try Threads.begin {
      while let batches = Self.takeBatches(state) {
        var failure = state.withLock { $0.failure }
        // After a failure nothing more is stored: what would come later builds on what is missing.
        if failure == nil {
          do { try commit(batches) } catch { failure = error }
        }
        state.change {
          $0.failure = failure
          $0.committingUnits = 0
        }
      }
    }
  }

  // What still waits belongs to a run that failed. Its thread holds the store, which the next run may want at once.
  deinit {
    state.change { $0.isClosed = true }
    thread.join()
  }

  /// - Throws: the error of an earlier batch; what came after it was not stored.
  func add(_ batch: LocalBatch) throws {
    let units = min(Self.longestQueue - Self.together, 1 + batch.byteCount / Self.unit)
    try state.wait { state -> Void? in
      if let failure = state.failure { throw failure }
      guard state.waitingUnits + state.committingUnits + units <= Self.longestQueue else { return nil }
      state.batches.append(batch)
      state.waitingUnits += units
      return ()
    }
  }

  /// Waits until everything that was added is durable.
  ///
  /// - Throws: the error of the first batch that was not stored.
  func finish() throws {
    state.change { $0.isFlushing = true }
    try state.wait { state -> Void? in
      guard state.batches.isEmpty, state.committingUnits == 0 else { return nil }
      state.isFlushing = false
      if let failure = state.failure { throw failure }
      return ()
    }
  }

  /// What the writer's thread commits next, once there is enough of it; nil when the writer is gone.
  private static func takeBatches(_ state: Guarded<State>) -> [LocalBatch]? {
    state.wait { state -> [LocalBatch]?? in
      if state.isClosed { return .some(nil) }
      guard state.waitingUnits >= together || (state.isFlushing && !state.batches.isEmpty) else { return nil }
      defer {
        (state.batches, state.committingUnits, state.waitingUnits) = ([], state.waitingUnits, 0)
      }
      return state.batches
    }
  }
}
