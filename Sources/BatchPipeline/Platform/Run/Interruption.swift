package import BatchFoundation

/// The error for a run that a signal ended; everything done so far is durable, and the next run continues from there.
package struct InterruptedError: RunError, Equatable, CustomStringConvertible {
  package var signal: Int32

  package var exit: RunExit { signal == 2 ? .interrupted : .terminated }

  package var description: String { "interrupted; everything stored is safe. To continue, run the same command again" }
}

package final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var ending: (@Sendable () -> Void)?
  }
  private let state = Guarded(State())

  package init() {}

  /// The signal that arrived; nil if none.
  package var signal: Int32? { state.withLock { $0.signal } }

  /// Records a signal; called by the thread that waits for signals.
  package func raise(_ signal: Int32) {
    let ending = state.withLock { state in
      state.signal = state.signal ?? signal
      return state.ending
    }
    ending?()
  }

  /// - Throws: ``InterruptedError`` after a signal.
  package func check() throws {
    if let signal { throw InterruptedError(signal: signal) }
  }

  /// Runs `body`. Calls `end` if a signal arrived earlier, and for each one that arrives meanwhile, possibly
  /// on another thread.
  package func during<Value>(_ body: () throws -> Value, end: @escaping @Sendable () -> Void) rethrows -> Value {
    let came = state.withLock { state in
      state.ending = end
      return state.signal != nil
    }
    if came { end() }
    defer { state.withLock { $0.ending = nil } }
    return try body()
  }
}
