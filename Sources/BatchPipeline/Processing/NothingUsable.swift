import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// The error for a run without a usable line, thrown before anything is processed, sent or requested (reference
/// decisions 48).
struct NothingUsable: RunError, Equatable, CustomStringConvertible {
  var read: Int
  /// The causes, the most frequent first.
  var causes: [String]

  var exit: RunExit { .inputRefused }

  var description: String {
    "error: "
      + (causes + [
        "\(read == 1 ? "the only line cannot" : "none of the \(read.grouped) lines can") be used, so nothing was processed or sent; correct the job or the export and run again, or "
          + "continue with --allow-empty"
      ]).joined(separator: "\n")
  }

  init(_ counts: IngestCounts, _ window: TimeWindow, _ samples: [QuarantineSample]) {
    read = counts.read
    causes = [counts.outsideWords(window)].compactMap { $0 } + Self.causes(counts.reasons, samples)
  }

  init(_ records: RunSummary.Records, _ reasons: [QuarantineReason: Int], _ samples: [QuarantineSample]) {
    read = records.read
    let outside = records.outOfWindow
    causes =
      (outside > 0 ? ["\(outside.counted("record is", "records are")) outside the window"] : [])
      + Self.causes(reasons, samples)
  }

  /// Returns one line of text for each quarantine reason.
  private static func causes(_ reasons: [QuarantineReason: Int], _ samples: [QuarantineSample]) -> [String] {
    reasons.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }.map { reason, count in
      let first = samples.filter { $0.reason == reason }
        .min { (ByteText($0.file), $0.line) < (ByteText($1.file), $1.line) }
      let place = first.map { sample in
        (sample.detail.isEmpty ? "" : ": \(sample.detail)")
          + " (first: \(sample.line == 0 ? sample.file : "\(sample.file):\(sample.line)"))"
      }
      return "\(count.grouped) x \(reason.rawValue)\(place ?? "")"
    }
  }
}

extension IngestCounts {
  /// Returns the number and times of the records outside the window, in words; nil if there are none.
  fileprivate func outsideWords(_ window: TimeWindow) -> String? {
    guard outOfWindow > 0, let span = outOfWindowSpan else { return nil }
    let records =
      outOfWindow < read
      ? outOfWindow.counted("record is", "records are")
      : read == 1 ? "the only record is" : "all \(outOfWindow.grouped) records are"
    let (first, last) = (span.lowerBound.rfc3339, span.upperBound.rfc3339)
    return "\(records) outside the window \(window.words): "
      + (first == last ? "at \(first)" : "from \(first) to \(last)")
  }
}

extension RunSummary.Records {
  /// Returns whether lines were read and all of them were quarantined or, unless `knowsRecords`, are out of window.
  ///
  /// - Parameter knowsRecords: whether an earlier run has accepted a record, so that lines out of window are not an
  ///   error.
  package func isUseless(_ knowsRecords: Bool) -> Bool {
    read > 0 && read == quarantined + (knowsRecords ? 0 : outOfWindow)
  }
}

extension Pipeline {
  /// Makes the stage end if nothing is usable. For parts, `collect` does so.
  func judgeUse(in store: EventStore?, _ options: inout ProcessingStage.Options) throws {
    guard request.part == nil, !request.processesAnew else { return }
    let knowsRecords = try store?.hasAccepted() ?? false
    options.isUsable = { [isUsableElsewhere = request.isUsableElsewhere] counts in
      try !RunSummary.Records(counts).isUseless(knowsRecords) || isUsableElsewhere()
    }
  }

  /// Returns a note if all lines except quarantined ones are outside the window, so that nothing was processed;
  /// otherwise nil.
  func outsideNote(_ local: ProcessingResult) -> String? {
    let counts = local.ingest.counts
    guard local.isUsable, request.mode.readsInputs, request.part == nil, counts.read > 0,
      counts.outOfWindow + counts.quarantined == counts.read
    else { return nil }
    return counts.outsideWords(request.job.window)
  }
}

extension EventStore {
  /// Returns whether an earlier run accepted a record, even if it has since been purged.
  func hasAccepted() throws -> Bool {
    guard try isEmpty else { return true }
    return try runs.all().contains { ($0.figures?["records"]?["accepted"]?.integer ?? 0) > 0 }
  }
}
