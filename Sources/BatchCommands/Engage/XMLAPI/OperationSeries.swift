import BatchFoundation
import BatchPipeline
import BatchWire
import Engage

/// Operations that are sent one after the other, each once, with a ledger of what became of them.
struct OperationSeries {
  /// What a series came to, by operations.
  struct Counts: Equatable {
    var answered = 0
    var failed = 0
    /// Of which nobody knows whether the service has done them.
    var inDoubt = 0
    /// Done, or refused by the service, in an earlier command.
    var doneBefore = 0
    var failedBefore = 0
    /// Not sent yet.
    var left = 0
  }

  /// Operations that an earlier command sent, and that go out again.
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
    case .waiting, nil: .send
    }
  }

  /// Sends what is left, until something stands in the way.
  ///
  /// - Parameters:
  ///   - send: sends one operation, once.
  ///   - tell: called with what is known of each operation that was sent, and with nil for one that is in doubt since an earlier command.
  /// - Returns: how the way was blocked; done if all was gone through.
  mutating func run(
    _ monitor: TerminalMonitor, _ interruption: Interruption, send: (NamedOperation) -> ServiceOutcome<XMLElement?>,
    tell: (OperationRecord, XMLAPIReport?) -> Void
  ) throws -> RunExit {
    let all = counts.left
    var stop = RunExit.done
    try input.forEach { record in
      guard stop == .done else { return }
      try interruption.check()
      let fate = fate(of: record)
      if fate == .inDoubt { tell(record, nil) }
      guard fate == .send else { return }
      try ledger.note(.begun, of: record.key)
      let outcome = send(record.operation)
      let report = XMLAPIReport(record.operation.name, outcome)
      try ledger.note(settle(outcome), of: record.key)
      tell(record, report)
      switch outcome {
      case .answered, .rejected: break
      case .notSent, .refused, .unknown: stop = report.exit
      }
      monitor.sent(all - counts.left, of: all)
    }
    return stop
  }

  private mutating func settle(_ outcome: ServiceOutcome<XMLElement?>) -> OperationLedger.State {
    switch outcome {
    case .notSent, .refused: return .waiting
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
  /// How a command ends that nothing stopped.
  var exit: RunExit { failed + failedBefore > 0 ? .inputRefused : inDoubt > 0 ? .protocolRefused : .done }

  var line: String {
    "operations: \(answered) answered, \(failed) failed, \(inDoubt) in doubt, \(doneBefore) done before, "
      + "\(failedBefore) failed before, \(left) left"
  }
}
