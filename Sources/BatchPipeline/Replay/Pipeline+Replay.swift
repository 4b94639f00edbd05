import BatchConfiguration
import BatchFoundation
package import BatchIngest
import BatchPlatform
import BatchReport
import BatchStore
import FoundationEssentials
import Glibc

/// What became of quarantined lines and events that were tried again.
package struct ReplayOutcome: Sendable, Equatable {
  /// Lines that were tried, with what they turned out to be; and events that were checked again.
  package var counts = IngestCounts()
  /// Lines whose bytes could not be had: cut in the store and changed or gone in their file.
  package var unavailable = 0
  package var events = 0
  /// Records older than what was decided of their devices meanwhile.
  package var late = 0

  package init() {}
}

extension Pipeline {
  /// Takes the lines and events in that wait in quarantine, by the job's present configuration.
  ///
  /// Each line goes through everything that a line of a file goes through. What is a record now, a duplicate of one, or out of
  /// the window leaves the quarantine; what still is none stays there, with the reason that holds now. Marking comes last, so
  /// a kill in between leaves lines to be found as duplicates the next time.
  ///
  /// Events are kept and not sent; the next run does that.
  func replay(
    _ lines: ReplaySink, _ preparation: RunPreparation, _ storage: RunStorage, _ outcome: inout RunOutcome
  ) throws {
    var replay = ReplayOutcome()
    replay.unavailable = lines.input.unavailable
    defer { outcome.replay = replay }
    guard let (store, run) = storage.kept else { return }
    try replayEvents(preparation.options, store, run, &replay)
    guard !lines.input.ids.isEmpty else { return }
    let local = try decided(lines.input.files, preparation, storage, &outcome)
    replay.counts += local.ingest.counts
    replay.late = local.lateRecords
    if let note = lateNote(replay.late) { monitor.note("Late: \(note)") }
    replay.events += local.tally.events.total
    let refused = lines.refused
    try store.note(refused)
    try store.dropQuarantined(lines.forgotten)
    try store.markReplayed(lines.input.ids.filter { refused[$0] == nil }, by: run)
  }

  /// Events are not lines: they are what they are, with their ids, and only checked again.
  ///
  /// Events and marks are stored together, so a replay that is killed can be repeated and nothing comes twice.
  private func replayEvents(
    _ options: DecisionStage.Options, _ store: EventStore, _ run: RunID, _ outcome: inout ReplayOutcome
  ) throws {
    var last: Int64?
    while true {
      let waiting = try store.waitingEvents(after: last, limit: 1000)
      guard let newest = waiting.last else { break }
      last = newest.id
      let checked = try options.rules.recheck(waiting, limits: options.decider.limits)
      var batch = LocalBatch()
      if let blocks = checked.blocks { batch.events = [blocks] }
      batch.replayed = waiting.map(\.id).filter { checked.refused[$0] == nil }
      try store.commit(batch, run: run)
      try store.note(checked.refused.mapValues { (.schemaInvalid, $0) })
      outcome.counts.read += waiting.count
      outcome.counts.accepted += batch.replayed.count
      if !checked.refused.isEmpty {
        outcome.counts.quarantined += checked.refused.count
        outcome.counts.reasons[.schemaInvalid, default: 0] += checked.refused.count
      }
      outcome.events += batch.replayed.count
    }
    try store.indexChunks()
  }
}

/// Quarantined lines as input files, one for each file and input kind they came from, in the same order.
struct ReplayInput: Sendable {
  private(set) var files = InputFiles.none
  /// Every line that is tried.
  private(set) var ids: [Int64] = []
  private(set) var unavailable = 0
  /// By path of the file, the lines in it in their order.
  private var lines: [String: [Int64]] = [:]
  /// Has the files; they go with it.
  private let folder: TemporaryFolder

  /// - Parameter longest: bytes of a line beyond which it is not worth fetching.
  init(_ store: EventStore, _ folder: TemporaryFolder, longest: Int) throws {
    self.folder = folder
    let waiting = try store.waitingLines()
    var start = 0
    while start < waiting.count {
      let first = waiting[start]
      let end =
        waiting[start...].firstIndex { $0.kind != first.kind || !$0.file.utf8.elementsEqual(first.file.utf8) }
        ?? waiting.count
      try add(waiting[start..<end], from: first, store, longest)
      start = end
    }
  }

  /// The line of the store that stands at a place of these files.
  func id(file: String, line: UInt64) -> Int64? {
    guard let ids = lines[file], (2...UInt64(ids.count + 1)).contains(line) else { return nil }
    return ids[Int(line) - 2]
  }

  private mutating func add(
    _ waiting: ArraySlice<WaitingLine>, from origin: WaitingLine, _ store: EventStore, _ longest: Int
  ) throws {
    let whole = try Self.wholeLines(waiting.filter { $0.isCut(below: longest) }, store, longest)
    let path = folder.path(files.files.count)
    let file = try OutputFile(path)
    // A blank line first, so that no line starts where a byte order mark would.
    try file.write("\n")
    var written: [Int64] = []
    var writtenLines: [UInt64] = []
    for line in waiting {
      let bytes = try line.isCut(below: longest) ? whole[line.id] : store.rawLine(line.id)
      guard let bytes, !bytes.isEmpty else {
        unavailable += 1
        continue
      }
      try unsafe (bytes + [0x0A]).withUnsafeBytes { try unsafe file.write($0) }
      written.append(line.id)
      writtenLines.append(line.line)
    }
    guard !written.isEmpty else { return }
    try file.finish()
    ids += written
    lines[path] = written
    var input = InputFile(path: FilePath(path), kind: origin.kind, size: 0)
    input.copied = CopiedLines(file: origin.file, lines: writtenLines, skipped: 1)
    files.files.append(input)
    files.holdsCopies = true
  }

  /// Lines that the store has the beginning of, from their file if it still has them.
  private static func wholeLines(
    _ cut: [WaitingLine], _ store: EventStore, _ longest: Int
  ) throws -> [Int64: [UInt8]] {
    guard let origin = cut.first else { return [:] }
    var whole: [Int64: [UInt8]] = [:]
    do {
      let file = InputFile(path: FilePath(origin.file), kind: origin.kind, size: 0)
      try file.forEachLine(of: Set(cut.map(\.line)).sorted(), longest: longest + 1) { found in
        for line in cut where line.line == found.number {
          if found.bytes.starts(with: try store.rawLine(line.id)) { whole[line.id] = found.bytes }
        }
      }
    } catch is InputChanged {
      // As below.
    } catch is IngestFailure {
      // Gone or unreadable: its lines stay where they are.
    }
    return whole
  }
}

extension WaitingLine {
  /// Whether the store may have its beginning only, and the rest decides.
  fileprivate func isCut(below longest: Int) -> Bool {
    keptBytes >= QuarantinedLine.keptOfLongLine && keptBytes <= longest
  }
}
