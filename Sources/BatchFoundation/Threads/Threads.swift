internal import CLinux
import Glibc

/// Starts system threads, which may block, for work that waits for disks or networks or keeps a processor busy.
package enum Threads {
  /// Runs `body` once on each of `count` threads, including the calling one, and waits for all. If the system refuses a
  /// thread, the calling thread runs its share afterwards.
  ///
  /// - Parameter body: receives the index of its thread, 0 for the calling one.
  /// - Throws: the error of the lowest-numbered thread that failed. The other threads are not notified; state that they
  ///   share must make them stop.
  package static func run<Failure: Error>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws(Failure) -> Void
  ) throws(Failure) {
    let errors = Guarded([Int: Failure]())
    @Sendable func run(_ index: Int) {
      do throws(Failure) { try body(index) } catch { errors.withLock { $0[index] = error } }
    }
    var threads: [pthread_t] = []
    var refused: [Int] = []
    for index in 1..<max(count, 1) {
      if let thread = start({ run(index) }) { threads.append(thread) } else { refused.append(index) }
    }
    run(0)
    for index in refused { run(index) }
    for thread in threads { pthread_join(thread, nil) }
    if let first = errors.withLock({ $0.min { $0.key < $1.key } }) { throw first.value }
  }

  /// Runs `body` on a new thread that is never joined.
  ///
  /// - Throws: ``ThreadRefused`` if the system refuses the thread.
  package static func detach(_ body: @escaping @Sendable () -> Void) throws {
    guard let thread = start(body) else { throw ThreadRefused() }
    pthread_detach(thread)
  }

  /// Runs `body` on a new thread that must be joined.
  ///
  /// - Throws: ``ThreadRefused`` if the system refuses the thread.
  package static func begin(_ body: @escaping @Sendable () -> Void) throws -> RunningThread {
    guard let thread = start(body) else { throw ThreadRefused() }
    return RunningThread(thread: thread)
  }

  /// Starts a thread; returns nil if the system refuses it.
  private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(Body(body))
    let status = unsafe pthread_create(
      &thread, nil,
      { context in
        // The context is the retained body passed below.
        if let context = unsafe context { unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, unsafe context.toOpaque())
    if status == 0 { return thread }
    unsafe context.release()
    return nil
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}

/// A running thread, to be joined exactly once.
package struct RunningThread: Sendable {
  fileprivate let thread: pthread_t

  /// Waits until the body has returned and its captures are released.
  package func join() { pthread_join(thread, nil) }
}

package struct ThreadRefused: Error, CustomStringConvertible {
  package var description: String {
    "error: the system refused to create another thread; raise the thread limit (ulimit -u, the unit's TasksMax or the container's pids limit) and run again"
  }
}

package enum Processors {
  /// The number of processors available to the process (`taskset`, cpusets of cgroups), at least one.
  package static let available = max(Int(engage_available_processors()), 1)
}
