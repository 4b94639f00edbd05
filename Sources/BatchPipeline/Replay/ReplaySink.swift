import BatchFoundation
import BatchStore
import BatchThreads

/// Keeps what quarantined lines lead to; lines that are refused again are not quarantined anew.
final class ReplaySink: DecisionSink {
  private let kept: any DecisionSink
  let input: ReplayInput
  private let found = Guarded<[Int64: (reason: QuarantineReason, detail: String)]>([:])

  init(kept: any DecisionSink, input: ReplayInput) {
    self.kept = kept
    self.input = input
  }

  /// Lines that still are not records, and why.
  var refused: [Int64: (reason: QuarantineReason, detail: String)] { found.withLock { $0 } }

  /// Lines that turned out to be of people who were forgotten.
  var forgotten: [Int64] { refused.filter { $0.value.reason == .forgotten }.map(\.key).sorted() }

  var earlier: EarlierRuns { kept.earlier }

  func quarantine(_ lines: [QuarantinedLine]) throws {
    found.withLock { found in
      for line in lines {
        if let id = input.id(file: line.file, line: line.line) { found[id] = (line.reason, line.detail) }
      }
    }
  }

  func keep(_ batch: LocalBatch) throws { try kept.keep(batch) }

  func finish() throws { try kept.finish() }
}
