import BatchFoundation
import BatchStore
import BatchWire

/// Threads that send one request at a time each, and hand back what is known about it.
///
/// A spare job waits for the first thread that ends with an acknowledged request, so that the service does not idle while the
/// ledger is written. After any other answer nothing is taken: what comes next is then for the schedule to say.
final class DeliveryWorkers: Sendable {
  struct Job: Sendable {
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
    /// Jobs whose thread has not taken them yet; each counts as running.
    var started: [Job] = []
    var running = 0
    var spares: [Job] = []
    var isClosed = false
  }

  private let destination: any Destination
  private let count: Int
  private let state = Guarded(State())

  /// - Parameter count: threads, and so requests that may be under way.
  /// - Throws: ``ThreadRefused``.
  init(_ destination: any Destination, count: Int, signal: DeliverySignal) throws {
    self.destination = destination
    self.count = count
    for _ in 0..<count {
      try Threads.detach { [state] in Self.work(state, destination, signal) }
    }
  }

  // A thread ends after the request that it has under way.
  deinit { state.change { $0.isClosed = true } }

  /// Sends jobs, the spare ones first, as long as fewer than `limit` requests are under way; the others become spares.
  func send(_ jobs: [Job], limit: Int) {
    state.change { state in
      state.spares += jobs
      while state.running < min(limit, count), !state.spares.isEmpty {
        state.started.append(state.spares.removeFirst())
        state.running += 1
      }
    }
  }

  /// The spare jobs; none of them was or will be sent.
  func takeBack() -> [Job] {
    state.withLock { state in
      defer { state.spares = [] }
      return state.spares
    }
  }

  private static func work(_ state: Guarded<State>, _ destination: any Destination, _ signal: DeliverySignal) {
    while let first = takeStarted(state) {
      var next: Job? = first
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

  /// Waits for a job; nil when the delivery is over.
  private static func takeStarted(_ state: Guarded<State>) -> Job? {
    state.wait { state -> Job?? in
      if !state.started.isEmpty { return state.started.removeFirst() }
      return state.isClosed ? .some(nil) : nil
    }
  }

  /// The answers that came since the last call.
  func takeAnswers() -> [Answer] {
    state.withLock { state in
      defer { state.answers.removeAll(keepingCapacity: true) }
      return state.answers
    }
  }

  func abort() { destination.abort() }
}
