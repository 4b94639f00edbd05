import BatchFoundation
import BatchIngest
import BatchMaps
import BatchReport

/// A preview of inputs: devices and times in them, and fields that nothing reads, shown when a user first sees them.
extension Pipeline {
  /// The number of records examined.
  private static let lookedAt = 10_000

  /// - Parameter isFirst: whether the store has no earlier run.
  func lookAtInputs(_ files: InputFiles, isFirst: Bool, _ outcome: inout RunOutcome) throws {
    guard isFirst || request.refusesQuarantined, request.mode.readsInputs, request.part == nil else { return }
    var lines: [String] = []
    var seen: Set<String> = []
    for file in files.files where seen.insert("\(file.kind.name) \(file.map?.identity ?? "")").inserted {
      let alike = files.files.filter {
        $0.kind == file.kind && $0.map == file.map && !$0.isPipe && $0.handedOver == nil
      }
      guard let first = alike.first else { continue }
      let trial = try ExportTrial(of: alike, request.vocabulary, limit: Self.lookedAt)
      let map = file.map.map { " by the map '\($0.map.name.split(separator: "/").last ?? "")'" } ?? ""
      lines.append("\(file.kind.name)\(map): \(trial.words)")
      lines += trial.guardWords.map { "  \($0)" }
      guard request.mode.isDryRun else { continue }
      for words in trial.emptyKeys where trial.accepted > 0 {
        outcome.findings.warnings += 1
        outcome.findings.first.append(
          Finding(severity: .warning, file: first.original, line: 0, reason: "empty-field", detail: words))
        outcome.findings.causes.append(
          FindingCause(
            isWarning: true, reason: "empty-field", count: 1, detail: words, file: first.original, line: 0))
      }
    }
    outcome.report.inputs = lines
  }
}
