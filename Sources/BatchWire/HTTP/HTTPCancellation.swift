import Synchronization

/// Ends attempts from another thread, within about a second. One may be shared by many attempts; it stays cancelled.
package final class HTTPCancellation: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package func cancel() { flag.store(true, ordering: .relaxed) }

  package var isCancelled: Bool { flag.load(ordering: .relaxed) }
}
