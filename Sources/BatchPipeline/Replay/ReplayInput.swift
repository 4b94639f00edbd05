import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchStore

/// Quarantined lines as input files, one for each file and input kind they came from, in the same order.
///
/// Of each line only its number is kept; its bytes go from the store to the files.
struct ReplayInput: Sendable {
  private(set) var files = InputFiles.none
  /// Every line that is tried.
  private(set) var ids: [Int64] = []
  private(set) var unavailable = 0
  /// From the first to the last instant that the job reads now, or that the runs were to read that quarantined the lines.
  private(set) var window = TimeWindow()
  /// By path of the file, the places of its lines among ``ids``.
  private var places: [String: Range<Int>] = [:]
  private let job: Job
  private let maps: JobMaps
  /// Has the files; they go with it.
  private let folder: TemporaryFolder

  /// Lines that are looked at together.
  static let linesAtOnce = 10_000

  /// - Parameters:
  ///   - longest: bytes of a line beyond which it is not worth fetching.
  ///   - job: whose inputs say which lines are foreign records.
  ///   - interruption: ends it between some lines and the next.
  init(
    _ store: EventStore, _ folder: TemporaryFolder, longest: Int, job: Job, _ interruption: Interruption
  ) throws {
    self.folder = folder
    self.job = job
    maps = try JobMaps(job)
    let waiting = try store.quarantine.waitingLines()
    window = TimeWindow(spanning: try store.quarantine.waitingWindows() + [job.window])
    var copy: Copy?
    for start in stride(from: 0, to: waiting.count, by: Self.linesAtOnce) {
      // A broken row is not a record, and its cells may hold whole ones: its file has to be mended.
      let page = try store.quarantine.waitingLines(waiting[start..<min(start + Self.linesAtOnce, waiting.count)])
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

  /// The place among ``ids`` of the line that stands at a place of these files.
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

  /// That of the first entry that finds the file on whatever day: it may be of another one than the job's now, or gone.
  private func map(of line: WaitingLine) -> InputMap? {
    job.inputs[line.kind].first { InputPattern.finds(line.file, by: $0.anyDay) }.flatMap { maps[$0] }
  }
}

/// The lines of one file, on their way into a file of their own.
private struct Copy {
  let origin: WaitingLine
  let path: String
  let file: OutputFile
  var ids: [Int64] = []
  /// Their numbers in the file that they came from.
  var lines: [UInt64] = []
  var unavailable = 0

  init(of origin: WaitingLine, at path: String) throws {
    self.origin = origin
    self.path = path
    file = try OutputFile(path)
    // A blank line first, so that no line starts where a byte order mark would.
    try file.write("\n")
  }

  /// - Parameter waiting: by their numbers in the file.
  mutating func add(_ waiting: ArraySlice<WaitingLine>, _ store: EventStore, _ longest: Int) throws {
    var rest = waiting
    let cut = waiting.filter { $0.isCut(below: longest) }
    if !cut.isEmpty {
      do {
        // Lines that the store has the beginning of come from their file if it still has them, one at a time.
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
      } catch is InputChanged {
        // As below.
      } catch is IngestFailure {
        // Gone or unreadable: its lines stay where they are.
      }
    }
    var next = rest.startIndex
    try store.quarantine.forEachRawLine(rest.map(\.id)) { _, raw in
      try write(rest[next].isCut(below: longest) ? [] : raw, of: rest[next])
      next += 1
    }
  }

  /// - Parameter bytes: none if they could not be had.
  private mutating func write(_ bytes: [UInt8], of line: WaitingLine) throws {
    guard !bytes.isEmpty else {
      unavailable += 1
      return
    }
    try unsafe (bytes + [0x0A]).withUnsafeBytes { try unsafe file.write($0) }
    ids.append(line.id)
    lines.append(line.line)
  }
}

extension WaitingLine {
  /// Whether the store may have its beginning only, and the rest decides.
  fileprivate func isCut(below longest: Int) -> Bool {
    keptBytes >= QuarantinedLine.keptOfLongLine && keptBytes <= longest
  }
}

extension TimeWindow {
  /// The smallest window that has all of these; without bounds for none.
  fileprivate init(spanning windows: [TimeWindow]) {
    self.init()
    // One that is open is open in all of them together.
    from = windows.contains { $0.from == nil } ? nil : windows.compactMap(\.from).min()
    to = windows.contains { $0.to == nil } ? nil : windows.compactMap(\.to).max()
  }
}
