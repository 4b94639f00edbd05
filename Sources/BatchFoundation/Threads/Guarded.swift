import Glibc

/// State that threads share: reached only under its lock, with a way to wait until it changes.
///
/// The one lock of the product. It is the system's mutex, because threads that wait for a disk or a network must sleep rather than
/// spin, and because the thread sanitizer understands it. Locks are taken in the order of `docs/architecture.md`, "Order of locks".
@safe package final class Guarded<State: ~Copyable>: @unchecked Sendable {
  // The state is only reached while the mutex is held; mutex and condition are only used through these addresses.
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
    // Deadlines must not move with the time of day.
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

  /// Reads or changes the state; wakes nobody.
  package func withLock<Value: ~Copyable>(_ body: (inout State) throws -> Value) rethrows -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// As ``withLock(_:)``, but does not wait; nil while another thread has the state.
  package func withLockIfAvailable<Value>(_ body: (inout State) throws -> Value) rethrows -> Value? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Changes the state and wakes all threads that wait for a change.
  package func change<Value: ~Copyable>(_ body: (inout State) throws -> Value) rethrows -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(changed)
      unsafe pthread_mutex_unlock(mutex)
    }
    return try body(&state)
  }

  /// Waits until `body` returns a value, which may have changed the state; asked at once and after each change.
  package func wait<Value>(_ body: (inout State) throws -> Value?) rethrows -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(changed)
      unsafe pthread_mutex_unlock(mutex)
    }
    while true {
      if let value = try body(&state) { return value }
      unsafe pthread_cond_wait(changed, mutex)
    }
  }

  /// As ``wait(_:)``, but for a limited time.
  ///
  /// - Parameter milliseconds: how long to wait at most; not positive asks once.
  /// - Returns: nil when the time is up.
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

/// The state of a lock that guards an order of steps rather than values: whoever has it, has the turn.
///
/// It has a byte, because the thread sanitizer takes an access to a state of none for one to what stands in its place.
package struct Turn: Sendable {
  private var byte: UInt8 = 0

  package init() {}
}
