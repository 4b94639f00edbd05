package import BatchFoundation
import BatchStore
import BatchWire
import Glibc

/// Threads that each send one request at a time. A thread whose request was acknowledged takes a spare job, so that the
/// service does not idle while the ledger is written. After any other outcome, the schedule determines what comes next.
final class DeliveryWorkers: Sendable {
  struct SendTask: Sendable {
    var begun: BegunAttempt
    var body: [UInt8]
  }

  struct Answer: Sendable {
    var begun: BegunAttempt
    var body: [UInt8]
    var outcome: SendOutcome
  }

  private struct State {
    var answers: [Answer] = []
    /// The jobs that no thread has taken yet; each counts as running.
    var started: [SendTask] = []
    var running = 0
    var spares: [SendTask] = []
    var isClosed = false
  }

  private let destination: any Destination
  private let count: Int
  private let state = Guarded(State())

  /// - Parameter count: the number of threads, which limits the number of concurrent requests.
  /// - Throws: ``ThreadRefused``.
  init(_ destination: any Destination, count: Int, signal: DeliverySignal) throws {
    self.destination = destination
    self.count = count
    for _ in 0..<count {
      try Threads.detach { [state] in Self.work(state, destination, signal) }
    }
  }

  // Each thread ends after its current request.
  deinit { state.change { $0.isClosed = true } }

  /// Sends jobs, the spare ones first, while fewer than `limit` requests are under way; the others become spares. None
  /// is sent while the schedule does not know of a failure.
  func send(_ jobs: [SendTask], limit: Int) {
    state.change { state in
      state.spares += jobs
      guard state.answers.allSatisfy({ $0.outcome == .acknowledged }) else { return }
      while state.running < min(limit, count), !state.spares.isEmpty {
        state.started.append(state.spares.removeFirst())
        state.running += 1
      }
    }
  }

  /// Removes and returns the spare jobs, none of which was or will be sent.
  func takeBack() -> [SendTask] {
    state.withLock { state in
      defer { state.spares = [] }
      return state.spares
    }
  }

  private static func work(_ state: Guarded<State>, _ destination: any Destination, _ signal: DeliverySignal) {
    while let first = takeStarted(state) {
      var next: SendTask? = first
      while let job = next {
        let outcome = destination.send(job.body, group: job.begun.chunk.group)
        CrashPoint.afterSend.reach()
        next = state.withLock { state in
          state.answers.append(Answer(begun: job.begun, body: job.body, outcome: outcome))
          if outcome == .acknowledged, !state.spares.isEmpty { return state.spares.removeFirst() }
          state.running -= 1
          return nil
        }
        signal.raise()
      }
    }
  }

  /// Waits for a job; returns nil when the delivery is over.
  private static func takeStarted(_ state: Guarded<State>) -> SendTask? {
    state.wait { state -> SendTask?? in
      if !state.started.isEmpty { return state.started.removeFirst() }
      return state.isClosed ? .some(nil) : nil
    }
  }

  /// Returns the outcomes that arrived since the last call.
  func takeAnswers() -> [Answer] {
    state.withLock { state in
      defer { state.answers.removeAll(keepingCapacity: true) }
      return state.answers
    }
  }

  func abort() { destination.abort() }
}

package protocol DeliveryClock: Sendable {
  /// The time of day, for the ledger only.
  var now: Instant { get }

  /// Monotonic time, from an arbitrary start.
  var uptime: Milliseconds { get }

  /// Waits until `signal` is raised or `limit` is reached. A simulated clock stops while requests are in flight.
  func wait(for signal: DeliverySignal, until limit: Milliseconds, inFlight: Int)
}

/// A signal that is raised when a request ends, and when the delivery is to end.
package final class DeliverySignal: Sendable {
  private let raised = Guarded(0)

  package func raise() { raised.change { $0 += 1 } }

  /// Waits for the signal; returns false on timeout.
  @discardableResult
  package func wait(_ span: Milliseconds) -> Bool {
    raised.wait(upTo: span.count) { count -> Void? in
      guard count > 0 else { return nil }
      count -= 1
      return ()
    } != nil
  }
}

package struct SystemDeliveryClock: DeliveryClock {
  package init() {}

  package var now: Instant { .now }

  package var uptime: Milliseconds {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Milliseconds(Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  package func wait(for signal: DeliverySignal, until limit: Milliseconds, inFlight: Int) {
    signal.wait(Milliseconds(limit.count - uptime.count))
  }
}
