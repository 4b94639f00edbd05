import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// Lines that are dated before the window and that no run has read. This run does not import them; they are out of
/// window.
///
/// A rerun imports those in the period already processed; a run over the gap before this window imports the
/// others.
extension Pipeline {
  /// Sets up the options so that these lines can be distinguished from lines that earlier runs read.
  func noteMissedLines(of store: EventStore, _ options: inout IngestOptions) throws {
    guard let from = options.window.from, let first = try store.timelines.processedSpan()?.first else { return }
    // For periods whose data was purged, it is unknown which lines were read.
    let begin = max(first, options.knownSince ?? first)
    if begin < from { options.past = begin..<from }
  }

  /// Returns notes for the end of a run, with the commands that import these lines; empty if there are none.
  ///
  /// - Parameters:
  ///   - lines: the lines dated before the window, noted while reading, up to a limit per file.
  ///   - known: the known time of the store before the run; nil if nothing was known.
  func missedNotes(
    _ lines: [PastLine], processedBefore known: Instant?, _ rules: any PlatformRules, _ files: InputFiles,
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
      unprocessed(missed.filter { $0.timestamp >= gap }, from: gap, files),
    ].compactMap { $0 }
  }

  private func beyondReach(_ lines: [PastLine], _ rules: any PlatformRules, _ files: InputFiles) -> String? {
    guard let first = lines.map(\.timestamp).min(), let last = lines.map(\.timestamp).max() else { return nil }
    return counted(lines, files)
      + ": Ingest.rewind does not reach back that far. To process \(lines.count == 1 ? "it" : "them") in time order (only unsent events are replaced): "
      + rerun(request.invocation, from: first, to: last, rules)
  }

  private func unprocessed(_ lines: [PastLine], from known: Instant, _ files: InputFiles) -> String? {
    guard !lines.isEmpty, let from = request.job.window.from else { return nil }
    var between = request.invocation
    (between.from, between.to) = (known, from)
    return counted(lines, files)
      + ": records were processed only up to \(known.rfc3339), but this window begins at \(from.rfc3339). Run the period in between, then this "
      + "window again to import \(lines.count == 1 ? "it" : "them"): " + between.run.text + between.omission
  }

  private func counted(_ lines: [PastLine], _ files: InputFiles) -> String {
    let place = lines.map(\.position).min { ($0.file, $0.line) < ($1.file, $1.line) }.flatMap { files.source(of: $0) }
    return lines.count.counted(
      "line that no run has read counts as out of window", "lines that no run has read count as out of window")
      + (place.map { lines.count == 1 ? " (\($0))" : " (first: \($0))" } ?? "")
  }
}
