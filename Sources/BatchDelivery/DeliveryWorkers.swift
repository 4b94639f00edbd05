import BatchStore
import Dispatch
import Synchronization

/// Threads that send one request at a time each, and hand back what is known about it.
///
/// A spare job waits for the first thread that ends with an acknowledged request, so that the service does not idle while the
/// ledger is written. After any other answer nothing is taken: what comes next is then for the schedule to say.
final class DeliveryWorkers: Sendable {
  struct Job: Sendable {
    var begun: BegunAttempt
    var body: [UInt8]
    /// The chunk had a request in this delivery before.
    var isRetry: Bool
  }

  struct Answer: Sendable {
    var begun: BegunAttempt
    var outcome: SendOutcome
  }

  private struct State {
    var answers: [Answer] = []
    /// A serial queue for each request that may be under way.
    var idle: [DispatchQueue]
    var running = 0
    var spares: [Job] = []
  }

  private let destination: any Destination
  private let signal: DeliverySignal
  private let state: Mutex<State>

  init(_ destination: any Destination, count: Int, signal: DeliverySignal) {
    self.destination = destination
    self.signal = signal
    state = Mutex(State(idle: (0..<count).map { DispatchQueue(label: "delivery \($0)") }))
  }

  /// Sends jobs, the spare ones first, as long as fewer than `limit` requests are under way; the others become spares.
  func send(_ jobs: [Job], limit: Int) {
    let starts = state.withLock { state in
      state.spares += jobs
      var starts: [(DispatchQueue, Job)] = []
      while state.running < limit, !state.spares.isEmpty, let queue = state.idle.popLast() {
        starts.append((queue, state.spares.removeFirst()))
        state.running += 1
      }
      return starts
    }
    for (queue, job) in starts { queue.async { self.work(queue, job) } }
  }

  /// The spare jobs; none of them was or will be sent.
  func takeBack() -> [Job] {
    state.withLock { state in
      defer { state.spares = [] }
      return state.spares
    }
  }

  private func work(_ queue: DispatchQueue, _ first: Job) {
    var next: Job? = first
    while let job = next {
      let outcome = destination.send(job.body)
      CrashPoint.afterSend.reach()
      next = state.withLock { state in
        state.answers.append(Answer(begun: job.begun, outcome: outcome))
        if outcome == .acknowledged, !state.spares.isEmpty { return state.spares.removeFirst() }
        state.running -= 1
        state.idle.append(queue)
        return nil
      }
      signal.raise()
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
