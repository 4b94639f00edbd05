import GRDB

/// A connection that can be let go also where the system gives no thread.
///
/// What GRDB attaches to a queue is freed by a thread of Dispatch when the queue goes, and Dispatch waits for ever for one that it does not get.
/// So the queue, a few kilobytes, stays to the end of the process; the database is closed.
final class StoreConnection: Sendable {
  let queue: DatabaseQueue

  init(_ queue: DatabaseQueue) {
    self.queue = queue
    _ = unsafe Unmanaged.passRetained(queue)
  }

  // Whoever wrote has closed it and was told of errors.
  deinit { try? queue.close() }
}
