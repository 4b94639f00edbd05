import BatchStore
import Dispatch
import Synchronization

/// Commits batches, several at a time, on a thread of its own, so that no worker waits for the disk.
///
/// Batches up to a number of bytes may wait; a worker that is further ahead than that is held until some are done.
final class BatchWriter: Sendable {
  /// Memory is given out in units of so many bytes.
  private static let unit = 1 << 16
  /// Units of one transaction: enough that the pages they share are written once.
  private static let together = 48
  private static let longestQueue = 2 * together

  private let queue = DispatchQueue(label: "engage-batch.store")
  private let places: DispatchSemaphore
  /// Held while places are taken, so that two large batches do not wait for each other's.
  private let entry = Mutex(())
  private let waiting = Mutex(Waiting())
  private let failure = Mutex<(any Error)?>(nil)
  private let commit: @Sendable ([LocalBatch]) throws -> Void

  private struct Waiting {
    var batches: [LocalBatch] = []
    var units = 0
  }

  init(_ commit: @escaping @Sendable ([LocalBatch]) throws -> Void) {
    self.commit = commit
    // A semaphore must not end with less than it began with, and a run that fails leaves batches waiting.
    places = DispatchSemaphore(value: 0)
    for _ in 0..<Self.longestQueue { places.signal() }
  }

  /// - Throws: the error of an earlier batch; what came after it was not stored.
  func add(_ batch: LocalBatch) throws {
    try check()
    let units = Self.units(of: batch)
    entry.withLock { _ in
      for _ in 0..<units { places.wait() }
    }
    let isFull = waiting.withLock { waiting in
      waiting.batches.append(batch)
      waiting.units += units
      return waiting.units >= Self.together
    }
    if isFull { queue.async { self.commitWaiting() } }
  }

  /// Waits until everything that was added is durable.
  func finish() throws {
    queue.sync { commitWaiting() }
    try check()
  }

  /// Batches that wait for more to come hold fewer units than ``together``, so even the largest batch gets its own some time.
  private static func units(of batch: LocalBatch) -> Int {
    min(longestQueue - together, 1 + batch.byteCount / unit)
  }

  private func commitWaiting() {
    let taken = waiting.withLock { waiting in
      defer { waiting = Waiting() }
      return waiting
    }
    defer { for _ in 0..<taken.units { places.signal() } }
    guard !taken.batches.isEmpty, failure.withLock({ $0 == nil }) else { return }
    do {
      try commit(taken.batches)
    } catch {
      failure.withLock { $0 = error }
    }
  }

  private func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
