import BatchFoundation
import BatchIngest
package import BatchStore

extension Pipeline {
  /// Resolves pending quarantined lines from earlier runs if this run read their places and did not
  /// quarantine the same bytes again. Returns the number of resolved lines.
  ///
  /// A line keeps its place if its number is the same and its offset has changed only by the differences in
  /// length of replaced lines before it. Therefore, an export of another day under an old name resolves only
  /// damaged files.
  func settleReplacedLines(_ files: InputFiles, _ store: EventStore, _ run: RunID) throws -> Int {
    // Places in the output of a pipe are not stable.
    let read = Set(files.files.filter { !$0.isPipe }.map { "\($0.kind.rawValue) \($0.path)" })
    var settled = 0
    var shift: Shift?
    let pending = try store.quarantine.pendingLines(besides: run)
    for start in stride(from: 0, to: pending.count, by: ReplayInput.linesAtOnce) {
      let page = try store.quarantine.pendingLines(pending[start..<min(start + ReplayInput.linesAtOnce, pending.count)])
      for lines in page.byFile {
        guard let first = lines.first, read.contains("\(first.kind.rawValue) \(first.file)") else { continue }
        var moved = shift.flatMap { $0.origin.hasPlace(of: first) ? $0 : nil } ?? Shift(origin: first)
        let remote = files.files.first { $0.remote?.address == first.file }?.remote
        let found = try replaced(Array(lines), remote, &moved)
        try store.quarantine.resolve(found.sorted(), as: .replaced)
        settled += found.count
        shift = moved
      }
    }
    return settled
  }

  /// The shift, in bytes, of everything after the replaced lines in a file.
  private struct Shift {
    var origin: PendingLine
    var bytes: Int64 = 0
  }

  /// - Parameter lines: quarantined lines of one file, in order; this run read none of them unchanged.
  private func replaced(_ lines: [PendingLine], _ remote: RemoteFile?, _ shift: inout Shift) throws -> [Int64] {
    guard let first = lines.first else { return [] }
    let damage = lines.filter { $0.reason == .damagedFile }.map(\.id)
    let places = Dictionary(grouping: lines.filter { $0.reason != .damagedFile }, by: \.line)
    let file =
      remote.map { InputFile($0, first.kind) } ?? InputFile(path: FilePath(first.file), kind: first.kind, size: 0)
    var settled = damage
    do {
      try file.forEachLine(of: places.keys.sorted(), longest: ingestOptions.maxLineBytes) { found in
        for line in places[found.number] ?? [] where Int64(line.offset) + shift.bytes == Int64(found.offset) {
          settled.append(line.id)
          shift.bytes += Int64(found.bytes.count) - Int64(line.keptBytes)
          return
        }
      }
    } catch is any InputFailure {
      // The file has been removed since it was read: the other lines remain pending.
    }
    return settled
  }
}

extension CommandError {
  /// The error that ends a run with `--max-quarantine`, after everything usable is stored.
  static func exceeded(_ limit: Int, lines: Int, events: Int, isDryRun: Bool) -> CommandError {
    let quarantined =
      events == 0
      ? lines.counted("line was", "lines were")
      : lines == 0
        ? events.counted("event was", "events were") : "\(lines.counted("line")) and \(events.counted("event")) were"
    return CommandError(
      .inputRefused,
      "error: \(quarantined) quarantined, but --max-quarantine allows \(limit.grouped), so "
        + (isDryRun
          ? "a run would send nothing"
          : "nothing was sent; usable records are kept. Fix the cause and run the job again, or run it with a higher limit")
    )
  }
}

extension Quarantine {
  /// Returns a note about quarantined lines that were counted but not kept, in one run or in all runs; nil if there are
  /// none.
  package func unkeptNote(of run: RunID? = nil) throws -> String? {
    let unkept = try unkeptLines(of: run)
    guard !unkept.isEmpty else { return nil }
    let shown = unkept.prefix(3).map { "\($0.lines.grouped) x \($0.reason.rawValue) in \($0.file)" }
    let rest =
      unkept.count > shown.count
      ? ", and \((unkept.count - shown.count).counted("more pair", "more pairs")) of file and reason" : ""
    let lines = unkept.reduce(0) { $0 + $1.lines }.counted(
      "quarantined line was counted but not kept", "quarantined lines were counted but not kept")
    return
      "\(lines), because the store had reached Ingest.quarantineLimit: \(shown.joined(separator: ", "))\(rest)"
  }
}
