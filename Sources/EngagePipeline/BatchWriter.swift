import Dispatch
import EngageStore
import Synchronization

/// Commits batches one after the other on a thread of its own, so that no worker waits for the disk.
///
/// A few batches may wait; a worker that is further ahead than that is held until one is done.
final class BatchWriter: Sendable {
  private static let longestQueue = 4

  private let queue = DispatchQueue(label: "engage-batch.store")
  private let places = DispatchSemaphore(value: longestQueue)
  private let failure = Mutex<(any Error)?>(nil)
  private let commit: @Sendable (LocalBatch) throws -> Void

  init(_ commit: @escaping @Sendable (LocalBatch) throws -> Void) { self.commit = commit }

  /// - Throws: the error of an earlier batch; what came after it was not stored.
  func add(_ batch: LocalBatch) throws {
    try check()
    places.wait()
    queue.async {
      defer { self.places.signal() }
      guard self.failure.withLock({ $0 == nil }) else { return }
      do {
        try self.commit(batch)
      } catch {
        self.failure.withLock { $0 = error }
      }
    }
  }

  /// Waits until everything that was added is durable.
  func finish() throws {
    queue.sync {}
    try check()
  }

  private func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
