import Dispatch
import EngageStore
import Synchronization

/// Commits batches, several at a time, on a thread of its own, so that no worker waits for the disk.
///
/// A few batches may wait; a worker that is further ahead than that is held until some are done.
final class BatchWriter: Sendable {
  /// Batches of one transaction: enough that the pages they share are written once, few enough to be held in memory.
  private static let together = 8
  private static let longestQueue = 2 * together

  private let queue = DispatchQueue(label: "engage-batch.store")
  private let places = DispatchSemaphore(value: longestQueue)
  private let waiting = Mutex<[LocalBatch]>([])
  private let failure = Mutex<(any Error)?>(nil)
  private let commit: @Sendable ([LocalBatch]) throws -> Void

  init(_ commit: @escaping @Sendable ([LocalBatch]) throws -> Void) { self.commit = commit }

  /// - Throws: the error of an earlier batch; what came after it was not stored.
  func add(_ batch: LocalBatch) throws {
    try check()
    places.wait()
    let isFull = waiting.withLock { waiting in
      waiting.append(batch)
      return waiting.count >= Self.together
    }
    if isFull { queue.async { self.commitWaiting() } }
  }

  /// Waits until everything that was added is durable.
  func finish() throws {
    queue.sync { commitWaiting() }
    try check()
  }

  private func commitWaiting() {
    let batches = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    defer { for _ in batches { places.signal() } }
    guard !batches.isEmpty, failure.withLock({ $0 == nil }) else { return }
    do {
      try commit(batches)
    } catch {
      failure.withLock { $0 = error }
    }
  }

  private func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
