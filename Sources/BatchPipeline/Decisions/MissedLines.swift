import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// Lines before the window and beyond the reach of a rewind that no run had read, though the store has decided their time: they count as
/// out of the window, and nothing but a rerun takes them in.
extension Pipeline {
  /// Lets such lines be told apart from those that are merely read again.
  func noteMissedLines(of store: EventStore, _ options: inout IngestOptions) throws {
    guard let from = options.window.from, let first = try store.timelines.decidedSpan()?.first else { return }
    // Of what was purged nobody knows any more whether it was read.
    let (begin, end) = (max(first, options.knownSince ?? first), options.late?.lowerBound ?? from)
    if begin < end { options.past = begin..<end }
  }

  /// The command that takes them in, for the end of a run; nil for a run that met none.
  ///
  /// - Parameter lines: as many of each file as were noted.
  func missedNote(_ lines: [PastLine], _ files: InputFiles, _ store: EventStore) throws -> String? {
    let missed = try Dictionary(grouping: lines, by: \.bucket).flatMap { bucket, lines in
      try lines.filter { line in
        let known = try store.timelines.knownDigests(bucket: bucket, from: line.timestamp, to: line.timestamp)
        return !LineDigest.merged(known).contains(line.digest)
      }
    }
    guard let first = missed.map(\.timestamp).min(), let last = missed.map(\.timestamp).max() else { return nil }
    let place = missed.map(\.position).min { ($0.file, $0.line) < ($1.file, $1.line) }.flatMap { files.source(of: $0) }
    let invocation = request.invocation
    let end = min(max(last + Milliseconds(1), request.asOf), .last)
    return
      missed.count.counted(
        "line counts as out of window that no run had read", "lines count as out of window that no run had read")
      + (place.map { " (such as \($0))" } ?? "")
      + ": beyond the reach of Ingest.rewind. To decide \(missed.count == 1 ? "it" : "them") in place, as far as events were not sent: "
      + invocation.rerun(from: first, to: end).text + invocation.omission
  }
}
