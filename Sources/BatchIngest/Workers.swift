import Glibc

/// A mutual exclusion lock around blocking work such as file reads, where a spinning one would burn a core.
final class Lock: @unchecked Sendable {
  // The system's own lock; it is only ever used through this address.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}

/// Runs `body` once on each of `count` threads, the calling one among them, and waits for all.
///
/// - Throws: the error of the worker with the lowest number that failed. The others are not told: what they share must do that.
func runWorkers(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let jobs = (0..<count).map { index in WorkerJob { try body(index) } }
  var threads: [pthread_t] = []
  for job in jobs.dropFirst() {
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        // The context is the retained job that was passed below.
        if let context { Unmanaged<WorkerJob>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, Unmanaged.passRetained(job).toOpaque())
    if status == 0 {
      threads.append(thread)
    } else {
      Unmanaged.passUnretained(job).release()
      job.run()
    }
  }
  jobs.first?.run()
  for thread in threads { pthread_join(thread, nil) }
  for job in jobs { if let error = job.error { throw error } }
}

/// Written by its own thread only, and read after that thread was joined.
private final class WorkerJob: @unchecked Sendable {
  private let work: () throws -> Void
  private(set) var error: (any Error)?

  init(_ work: @escaping () throws -> Void) { self.work = work }

  func run() {
    do { try work() } catch { self.error = error }
  }
}
