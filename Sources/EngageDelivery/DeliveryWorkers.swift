import Dispatch
import EngageStore
import Synchronization

/// Threads that send one request at a time each, and hand back what is known about it.
final class DeliveryWorkers: Sendable {
  struct Job: Sendable {
    var begun: BegunAttempt
    var body: [UInt8]
  }

  struct Answer: Sendable {
    var begun: BegunAttempt
    var outcome: SendOutcome
  }

  private let destination: any Destination
  private let signal: DeliverySignal
  private let answers = Mutex<[Answer]>([])
  /// A serial queue for each request that may be under way; the ones nobody uses are at the end.
  private let idle: Mutex<[DispatchQueue]>

  init(_ destination: any Destination, count: Int, signal: DeliverySignal) {
    self.destination = destination
    self.signal = signal
    idle = Mutex((0..<count).map { DispatchQueue(label: "delivery \($0)") })
  }

  /// Never more at once than there are workers.
  func send(_ job: Job) {
    guard let queue = idle.withLock({ $0.popLast() }) else { preconditionFailure("more requests than workers") }
    queue.async { [self] in
      let outcome = destination.send(job.body)
      CrashPoint.afterSend.reach()
      idle.withLock { $0.append(queue) }
      answers.withLock { $0.append(Answer(begun: job.begun, outcome: outcome)) }
      signal.raise()
    }
  }

  /// The answers that came since the last call.
  func takeAnswers() -> [Answer] {
    answers.withLock { answers in
      defer { answers.removeAll(keepingCapacity: true) }
      return answers
    }
  }

  func abort() { destination.abort() }
}
