import BatchFoundation
import BatchPipeline
import BatchWire
import Engage

/// Sends operations one after another, each once, and keeps a ledger of their outcomes.
struct OperationSeries {
  struct Counts: Equatable {
    var answered = 0
    var failed = 0
    /// Sent or possibly sent; the service may or may not have carried them out.
    var inDoubt = 0
    /// Answered by the service in an earlier command.
    var doneBefore = 0
    var failedBefore = 0
    var left = 0
  }

  enum Again: String, CaseIterable {
    case failed
    case inDoubt = "in-doubt"
  }

  private enum Fate { case send, doneBefore, failedBefore, inDoubt }

  private let input: OperationInput
  private let ledger: OperationLedger
  private let again: [Again]
  private(set) var counts = Counts()

  init(_ input: OperationInput, _ ledger: OperationLedger, again: [Again]) throws {
    self.input = input
    self.ledger = ledger
    self.again = again
    var counts = Counts()
    try input.forEach { record in
      switch fate(of: record) {
      case .send: counts.left += 1
      case .doneBefore: counts.doneBefore += 1
      case .failedBefore: counts.failedBefore += 1
      case .inDoubt: counts.inDoubt += 1
      }
    }
    self.counts = counts
  }

  private func fate(of record: OperationRecord) -> Fate {
    switch ledger.state(of: record.key) {
    case .answered: .doneBefore
    case .failed: again.contains(.failed) ? .send : .failedBefore
    case .begun, .unknown: again.contains(.inDoubt) ? .send : .inDoubt
    case .pending, nil: .send
    }
  }

  /// Sends the remaining operations until a failure stops the series.
  ///
  /// - Parameters:
  ///   - send: Sends one operation, without retries.
  ///   - report: Receives the report of each operation sent, and nil for one in doubt since an earlier command.
  /// - Returns: The exit code of the failure, or `done` if all operations were handled.
  mutating func run(
    _ monitor: TerminalMonitor, _ interruption: Interruption, send: (NamedOperation) -> ServiceOutcome<XMLElement?>,
    report: (OperationRecord, XMLAPIReport?) -> Void
  ) throws -> RunExit {
    let all = counts.left
    var stop = RunExit.done
    try input.forEach { record in
      guard stop == .done else { return }
      try interruption.check()
      let fate = fate(of: record)
      if fate == .inDoubt { report(record, nil) }
      guard fate == .send else { return }
      try ledger.note(.begun, of: record.key)
      let outcome = send(record.operation)
      let answer = XMLAPIReport(record.operation.name, outcome)
      try ledger.note(settle(outcome), of: record.key)
      report(record, answer)
      switch outcome {
      case .answered, .rejected: break
      case .notSent, .refused, .unknown: stop = answer.exit
      }
      monitor.sent(all - counts.left, of: all)
    }
    return stop
  }

  private mutating func settle(_ outcome: ServiceOutcome<XMLElement?>) -> OperationLedger.State {
    switch outcome {
    case .notSent, .refused: return .pending
    case .answered:
      counts.answered += 1
      counts.left -= 1
      return .answered
    case .rejected:
      counts.failed += 1
      counts.left -= 1
      return .failed
    case .unknown:
      counts.inDoubt += 1
      counts.left -= 1
      return .unknown
    }
  }
}

extension OperationSeries.Counts {
  /// The exit code of a command that ran to its end.
  var exit: RunExit { failed + failedBefore > 0 ? .inputRefused : inDoubt > 0 ? .protocolRefused : .done }

  var line: String {
    "operations: \(answered) answered, \(failed) failed, \(inDoubt) in doubt, \(doneBefore) done before, "
      + "\(failedBefore) failed before, \(left) left"
  }
}
