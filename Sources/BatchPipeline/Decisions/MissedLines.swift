import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// Lines before the window that no run had read and that this one does not take in: they count as out of the window.
///
/// Those beyond the reach of a rewind only a rerun takes in. Those of a time that no run has decided yet come in once somebody runs that.
extension Pipeline {
  /// Lets such lines be told apart from those that are merely read again.
  func noteMissedLines(of store: EventStore, _ options: inout IngestOptions) throws {
    guard let from = options.window.from, let first = try store.timelines.decidedSpan()?.first else { return }
    // Of what was purged nobody knows any more whether it was read.
    let begin = max(first, options.knownSince ?? first)
    if begin < from { options.past = begin..<from }
  }

  /// The commands that take them in, for the end of a run; none for a run that met none.
  ///
  /// - Parameters:
  ///   - lines: as many of each file as were noted.
  ///   - known: what the store had decided before the run.
  func missedNotes(
    _ lines: [PastLine], decidedBefore known: Instant?, _ rules: any DecisionRules, _ files: InputFiles,
    _ store: EventStore
  ) throws -> [String] {
    let missed = try Dictionary(grouping: lines, by: \.bucket).flatMap { bucket, lines in
      try lines.filter { line in
        let known = try store.timelines.knownDigests(bucket: bucket, from: line.timestamp, to: line.timestamp)
        return !LineDigest.merged(known).contains(line.digest)
      }
    }
    let gap = known ?? .last
    return [
      beyondReach(missed.filter { $0.timestamp < gap }, rules, files),
      undecided(missed.filter { $0.timestamp >= gap }, from: gap, files),
    ].compactMap { $0 }
  }

  private func beyondReach(_ lines: [PastLine], _ rules: any DecisionRules, _ files: InputFiles) -> String? {
    guard let first = lines.map(\.timestamp).min(), let last = lines.map(\.timestamp).max() else { return nil }
    return counted(lines, files)
      + ": beyond the reach of Ingest.rewind. To decide \(lines.count == 1 ? "it" : "them") in place, as far as events were not sent: "
      + rerun(request.invocation, from: first, to: last, rules)
  }

  private func undecided(_ lines: [PastLine], from known: Instant, _ files: InputFiles) -> String? {
    guard !lines.isEmpty, let from = request.job.window.from else { return nil }
    var between = request.invocation
    (between.from, between.to) = (known, from)
    return counted(lines, files)
      + ": the store is decided up to \(known.rfc3339), and this window begins at \(from.rfc3339). Run what lies between, then this "
      + "window again, which takes \(lines.count == 1 ? "it" : "them") in: " + between.run.text + between.omission
  }

  private func counted(_ lines: [PastLine], _ files: InputFiles) -> String {
    let place = lines.map(\.position).min { ($0.file, $0.line) < ($1.file, $1.line) }.flatMap { files.source(of: $0) }
    return lines.count.counted(
      "line counts as out of window that no run had read", "lines count as out of window that no run had read")
      + (place.map { " (such as \($0))" } ?? "")
  }
}
