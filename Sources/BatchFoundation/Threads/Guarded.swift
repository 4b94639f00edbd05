import Glibc

/// State shared by threads, accessible only under its lock, with a way to wait for changes. It is the product's only
/// kind of lock: the system's mutex, because threads that wait for a disk or a network must sleep rather than spin, and
/// because the thread sanitizer understands it. `docs/architecture.md` has the lock order.
@safe package final class Guarded<State: ~Copyable>: @unchecked Sendable {
  // The state is accessed only while the mutex is held; mutex and condition are used only through these addresses.
  private var state: State
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  package init(_ state: consuming sending State) {
    self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe changed = .allocate(capacity: 1)
    unsafe changed.initialize(to: pthread_cond_t())
    // Deadlines must not move when the time of day is set.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(changed, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(changed)
    unsafe changed.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Reads or changes the state without waking waiting threads.
  package func withLock<Value: ~Copyable, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Like ``withLock(_:)``, but returns nil at once if another thread has the lock.
  package func withLockIfAvailable<Value>(_ body: (inout State) throws -> Value) rethrows -> Value? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Changes the state and wakes all waiting threads.
  package func change<Value: ~Copyable>(_ body: (inout State) throws -> Value) rethrows -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(changed)
      unsafe pthread_mutex_unlock(mutex)
    }
    return try body(&state)
  }

  /// Waits until `body` returns a value. `body` is called at once and after each change, and may change the state.
  package func wait<Value>(_ body: (inout State) throws -> Value?) rethrows -> Value {
    while true {
      if let value = try wait(upTo: .max, body) { return value }
    }
  }

  /// Like ``wait(_:)``, but returns nil after `milliseconds`; with zero or less, `body` is called at most twice.
  package func wait<Value>(upTo milliseconds: Int64, _ body: (inout State) throws -> Value?) rethrows -> Value? {
    var deadline = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
    let span = max(milliseconds, 0)
    let nanoseconds = deadline.tv_nsec + Int(span % 1000) * 1_000_000
    deadline.tv_sec += Int(span / 1000) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(changed)
      unsafe pthread_mutex_unlock(mutex)
    }
    var isOver = false
    while true {
      if let value = try body(&state) { return value }
      if isOver { return nil }
      isOver = unsafe pthread_cond_timedwait(changed, mutex, &deadline) == ETIMEDOUT
    }
  }
}

/// The state of a lock that guards an order of steps rather than values. It has one byte because the thread sanitizer
/// mistakes access to an empty state for access to the memory next to it.
package struct Turn: Sendable {
  private var byte: UInt8 = 0

  package init() {}
}
