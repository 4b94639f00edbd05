import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchStore

/// Quarantined lines as input files: one for each original file and input kind, with the lines in the same order.
///
/// Only the ids and numbers of lines are kept in memory; their bytes are copied from the store to the files.
struct ReplayInput: Sendable {
  private(set) var files = InputFiles.none
  /// The quarantine ids of all lines in the files, in order.
  private(set) var ids: [Int64] = []
  private(set) var unavailable = 0
  /// The smallest window that covers the job's current window and those of the runs that quarantined the lines.
  private(set) var window = TimeWindow()
  /// The range of each file's lines in ``ids``, by the path of the copy.
  private var places: [String: Range<Int>] = [:]
  private let job: Job
  private let maps: JobMaps
  /// The folder of the files, which is removed together with this value.
  private let folder: TemporaryFolder

  /// The number of lines processed together.
  static let linesAtOnce = 10_000

  /// - Parameters:
  ///   - longest: the maximum number of bytes of a line; longer lines are not read from their original file.
  ///   - job: the job whose inputs determine the map of each file.
  ///   - interruption: checked between pages of lines.
  init(
    _ store: EventStore, _ folder: TemporaryFolder, longest: Int, job: Job, _ interruption: Interruption
  ) throws {
    self.folder = folder
    self.job = job
    maps = try JobMaps(job)
    let pending = try store.quarantine.pendingLines()
    window = TimeWindow(spanning: try store.quarantine.pendingWindows() + [job.window])
    var copy: Copy?
    for start in stride(from: 0, to: pending.count, by: Self.linesAtOnce) {
      // A broken row is excluded, because its cells may contain whole records; only repairing the file helps.
      let page = try store.quarantine.pendingLines(pending[start..<min(start + Self.linesAtOnce, pending.count)])
        .filter { $0.reason != .invalidRow }
      try interruption.check()
      for lines in page.byFile {
        guard let first = lines.first else { continue }
        if let last = copy, !last.origin.hasPlace(of: first) {
          try finish(last)
          copy = nil
        }
        var current = try copy ?? Copy(of: first, at: folder.path(files.files.count))
        try current.add(lines, store, longest)
        copy = current
      }
    }
    if let copy { try finish(copy) }
  }

  var isEmpty: Bool { ids.isEmpty }

  /// Returns the index in ``ids`` of a line in these files; nil if the files have no such line.
  func place(file: String, line: UInt64) -> Int? {
    guard let places = places[file], (2...UInt64(places.count + 1)).contains(line) else { return nil }
    return places.lowerBound + Int(line) - 2
  }

  private mutating func finish(_ copy: Copy) throws {
    unavailable += copy.unavailable
    guard !copy.ids.isEmpty else { return }
    try copy.file.finish()
    places[copy.path] = ids.count..<ids.count + copy.ids.count
    ids += copy.ids
    var input = InputFile(path: FilePath(copy.path), kind: copy.origin.kind, size: 0)
    input.copied = CopiedLines(file: copy.origin.file, lines: copy.lines, skipped: 1)
    if let map = map(of: copy.origin) {
      input.map = InputMap(map.map.ofKeptRecords, identity: map.identity)
    }
    files.files.append(input)
    files.holdsCopies = true
  }

  /// Returns the map of the first entry whose pattern, with the dates of any day, matches the file.
  private func map(of line: PendingLine) -> InputMap? {
    job.inputs[line.kind].first { InputPattern.finds(line.file, by: $0.anyDay) }.flatMap { maps[$0] }
  }
}

/// The lines of one original file while they are copied to a new file.
private struct Copy {
  let origin: PendingLine
  let path: String
  let file: OutputFile
  var ids: [Int64] = []
  /// The line numbers in the original file.
  var lines: [UInt64] = []
  var unavailable = 0

  init(of origin: PendingLine, at path: String) throws {
    self.origin = origin
    self.path = path
    file = try OutputFile(path)
    // The file starts with a blank line, so that no quarantined line can begin with what counts as a byte order mark.
    try file.write("\n")
  }

  /// - Parameter pending: lines in the order of their numbers.
  mutating func add(_ pending: ArraySlice<PendingLine>, _ store: EventStore, _ longest: Int) throws {
    var rest = pending
    let cut = pending.filter { $0.isCut(below: longest) }
    if !cut.isEmpty {
      do {
        // A line that the store truncated is read from its file, if the file still has it.
        let source = InputFile(path: FilePath(origin.file), kind: origin.kind, size: 0)
        try source.forEachLine(of: Set(cut.map(\.line)).sorted(), longest: longest + 1) { found in
          while let line = rest.first, line.line <= found.number {
            rest = rest.dropFirst()
            let kept = try store.quarantine.rawLine(line.id)
            let isWhole = !line.isCut(below: longest)
            let isFound = line.line == found.number && found.bytes.starts(with: kept)
            try write(isWhole ? kept : isFound ? found.bytes : [], of: line)
          }
        }
      } catch is any InputFailure {
        // The file has changed, or is gone or unreadable: its truncated lines remain in quarantine.
      }
    }
    var next = rest.startIndex
    try store.quarantine.forEachRawLine(rest.map(\.id)) { _, raw in
      try write(rest[next].isCut(below: longest) ? [] : raw, of: rest[next])
      next += 1
    }
  }

  /// - Parameter bytes: empty if not available.
  private mutating func write(_ bytes: [UInt8], of line: PendingLine) throws {
    guard !bytes.isEmpty else {
      unavailable += 1
      return
    }
    try unsafe (bytes + [0x0A]).withUnsafeBytes { try unsafe file.write($0) }
    ids.append(line.id)
    lines.append(line.line)
  }
}

extension PendingLine {
  /// Returns whether the store may have only the beginning of the line, although the line is not known to exceed the
  /// maximum length.
  fileprivate func isCut(below longest: Int) -> Bool {
    keptBytes >= QuarantinedLine.keptOfLongLine && keptBytes <= longest
  }
}

extension TimeWindow {
  /// Creates the smallest window that includes all of these; unbounded if there are none.
  fileprivate init(spanning windows: [TimeWindow]) {
    self.init()
    // If a bound is open in one window, it is open in the result.
    from = windows.contains { $0.from == nil } ? nil : windows.compactMap(\.from).min()
    to = windows.contains { $0.to == nil } ? nil : windows.compactMap(\.to).max()
  }
}

/// Quarantined lines that are imported again. Lines that are refused again are not quarantined a second time.
///
/// The new reasons are written to the store in batches, so that memory holds only one flag for each line.
final class ReplayedLines: Sendable {
  let input: ReplayInput
  /// The store for the reasons; nil if there is none.
  private let store: EventStore?
  private let state: Guarded<State>

  private struct State {
    /// Whether each line was refused, indexed like ``ReplayInput/ids``.
    var isRefused: [Bool]
    /// Reasons found but not yet noted.
    var reasons: [Int64: (reason: QuarantineReason, detail: String)] = [:]
  }

  init(_ input: ReplayInput, store: EventStore?) {
    self.input = input
    self.store = store
    state = Guarded(State(isRefused: [Bool](repeating: false, count: input.ids.count)))
  }

  func refuse(_ lines: [QuarantinedLine]) throws {
    let full = state.withLock { state in
      for line in lines {
        guard let place = input.place(file: line.file, line: line.line) else { continue }
        state.isRefused[place] = true
        state.reasons[input.ids[place]] = (line.reason, line.detail)
      }
      return Self.take(&state.reasons, from: ReplayInput.linesAtOnce)
    }
    try note(full)
  }

  /// Notes the remaining reasons.
  func finishNotes() throws { try note(state.withLock { Self.take(&$0.reasons, from: 1) }) }

  /// Passes to `body`, in pages, the ids of the lines that were not refused.
  func forEachTaken(_ body: ([Int64]) throws -> Void) throws {
    let isRefused = state.withLock(\.isRefused)
    for start in stride(from: 0, to: input.ids.count, by: ReplayInput.linesAtOnce) {
      let end = min(start + ReplayInput.linesAtOnce, input.ids.count)
      try body((start..<end).filter { !isRefused[$0] }.map { input.ids[$0] })
    }
  }

  private static func take(
    _ reasons: inout [Int64: (reason: QuarantineReason, detail: String)], from limit: Int
  ) -> [Int64: (reason: QuarantineReason, detail: String)] {
    guard reasons.count >= limit else { return [:] }
    defer { reasons.removeAll(keepingCapacity: true) }
    return reasons
  }

  /// Notes reasons; lines of forgotten people are deleted.
  private func note(_ reasons: [Int64: (reason: QuarantineReason, detail: String)]) throws {
    try store?.quarantine.note(reasons.filter { $0.value.reason != .forgotten })
    try store?.quarantine.drop(reasons.filter { $0.value.reason == .forgotten }.map(\.key).sorted())
  }
}
