import BatchFoundation
import BatchStore

/// Commits batches together on a separate thread, so that no worker waits for the disk, as callers of `GroupCommit` do.
///
/// The total size of pending batches is limited: a worker that would exceed it is blocked until some are committed.
final class StoreWriter: Sendable {
  /// The size, in bytes, of the unit in which the memory of batches is measured.
  private static let unit = 1 << 16
  /// The minimum number of units per transaction, large enough that pages shared by batches are written only once.
  private static let together = 48
  /// The maximum number of units queued. Batches that are not being committed have fewer units than ``together``, so
  /// even the largest batch eventually fits. Room for two more transactions bridges an occasional checkpoint.
  private static let longestQueue = 3 * together

  private struct State {
    var batches: [LocalBatch] = []
    /// The numbers of units in pending batches and in batches that are being committed.
    var pendingUnits = 0
    var committingUnits = 0
    /// Whether a caller waits until everything is committed.
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
        // After a failure nothing more is stored: later batches depend on the missing one.
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

  // Batches still pending here belong to a failed run and are not committed. The thread is joined because it holds the
  // store, which the next run may need at once.
  deinit {
    state.change { $0.isClosed = true }
    thread.join()
  }

  /// - Throws: the error of an earlier batch; later ones were not stored.
  func add(_ batch: LocalBatch) throws {
    let units = min(Self.longestQueue - Self.together, 1 + batch.byteCount / Self.unit)
    try state.wait { state -> Void? in
      if let failure = state.failure { throw failure }
      guard state.pendingUnits + state.committingUnits + units <= Self.longestQueue else { return nil }
      state.batches.append(batch)
      state.pendingUnits += units
      return ()
    }
  }

  /// Waits until everything added is durable.
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

  /// Returns the batches to commit next, once there are enough; nil after the writer is closed.
  private static func takeBatches(_ state: Guarded<State>) -> [LocalBatch]? {
    state.wait { state -> [LocalBatch]?? in
      if state.isClosed { return .some(nil) }
      guard state.pendingUnits >= together || (state.isFlushing && !state.batches.isEmpty) else { return nil }
      defer {
        (state.batches, state.committingUnits, state.pendingUnits) = ([], state.pendingUnits, 0)
      }
      return state.batches
    }
  }
}
