import BatchFoundation

/// Whole lines of an input in memory, used by one worker at a time.
@safe final class LineBlock {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private(set) var capacity: Int
  /// The number of bytes in whole lines; the last line of a file may lack its line feed.
  var count = 0
  var file: UInt32 = 0
  var kind = InputKind.events
  /// The offset of the first byte in the (inflated) file.
  var offset: UInt64 = 0
  var firstLine: UInt64 = 1
  /// Quarantine entries for faults found while reading; they come after the lines of the block.
  var findings: [QuarantinedLine] = []
  /// Warnings about foreign records of the block, in record order.
  private(set) var warnings: [RecordWarning] = []
  var files: [InputFile] = []
  /// The number of the block within its source, from 0.
  var number = 0
  /// Whether lines are framed with their places (``PartFrame``), like lines of a part and foreign records.
  var isFramed = false
  var isPart = false
  /// For a part, the number of records that maps left out, by reason.
  var leftOut: [String: Int] = [:]
  /// The line feeds of an unframed block; empty if they have not been searched for.
  var ends = LineEnds()
  var mapped = MappedBlock()
  /// The file that the block represents without its lines, because an earlier run read it; otherwise nil.
  var known: KnownFile?

  init(capacity: Int) {
    self.capacity = capacity
    unsafe base = .allocate(capacity: capacity)
  }

  deinit { unsafe base.deallocate() }

  func resize(to capacity: Int) {
    let other = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    unsafe other.update(from: base, count: count)
    unsafe base.deallocate()
    unsafe base = other
    self.capacity = capacity
  }

  func addWarnings(_ more: [RecordWarning]) {
    guard let first = more.first else { return }
    // A block may have a warning for every record, so the warnings are sorted only if necessary.
    let isInOrder = warnings.last.map { $0.line <= first.line } ?? true
    warnings += more
    if !isInOrder { warnings.sort { $0.line < $1.line } }
  }

  func warnings(of line: UInt64) -> ArraySlice<RecordWarning> {
    warnings[warnings.place { $0.line < line }...].prefix { $0.line == line }
  }

  var room: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: base + count, count: capacity - count)
  }

  /// Empties the block for the next data of an input, which begins with the bytes that `carry` holds.
  func begin(with carry: LineBlock, of files: [InputFile], _ blockBytes: Int) {
    findings.removeAll()
    warnings.removeAll()
    leftOut.removeAll()
    mapped.removeAll()
    known = nil
    ends.removeAll()
    count = 0
    if capacity > max(blockBytes, 8 << 20) || capacity < carry.count + blockBytes / 2 {
      resize(to: carry.count + blockBytes)
    }
    unsafe base.update(from: carry.base, count: carry.count)
    count = carry.count
    carry.count = 0
    self.files = files
  }

  /// Keeps the start of unfinished data for the next block, which receives it in ``begin(with:of:_:)``.
  func hold(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ blockBytes: Int) {
    if capacity < count || capacity > max(count * 2, blockBytes) { resize(to: max(count, 1 << 12)) }
    unsafe base.update(from: start, count: count)
    self.count = count
  }

  /// The number of bytes of a byte order mark at the start of the file, which is not part of the first line.
  var markLength: Int {
    unsafe !isFramed && offset == 0 ? UnsafeBufferPointer(start: base, count: count).byteOrderMarkLength : 0
  }
}

/// A type that splits an input into blocks, used by one worker at a time.
protocol BlockCutter: AnyObject {
  var isDone: Bool { get }

  /// Returns the number of bytes read from the disk since the last call.
  func takeBytesRead() -> UInt64

  /// Fills the block with the next data; leaves it empty if only the rest of a line remained to be read.
  func fill(_ block: LineBlock) throws

  /// The number of a completely read file and the checksum of its bytes; nil if not requested or if the file was not
  /// read completely.
  var sum: (file: Int, sum: Digest)? { get }
}

extension BlockCutter {
  var sum: (file: Int, sum: Digest)? { nil }
}

/// Splits the files of a run into blocks of whole lines and gives each block to the next worker that asks for one.
///
/// Each file has one reader, used by one worker at a time. Reading and inflating hold no lock, so as many files are
/// read at once as there are workers. Memory is bounded: a block grows up to the longest allowed line, and a longer
/// line is skipped.
final class LineSource: Sendable {
  private struct State {
    var nextFile = 0
    var nextBlock = 0
    /// Open files that no worker is reading.
    var open: [any BlockCutter] = []
    var reading = 0
    var stopped = false
    var bytesRead: UInt64 = 0
    var sums: [Int: Digest] = [:]
    /// The readers of the next objects, which have requested them, by number, and their total size.
    var ahead: [Int: any RemoteReader] = [:]
    var aheadBytes: UInt64 = 0
    /// The number of files that were opened or considered for ``ahead``.
    var considered = 0
  }

  private enum Claim {
    case cutter(any BlockCutter)
    case file(Int)
    case nothing
  }

  private let files: InputFiles
  private let options: IngestOptions
  private let inOrder: Bool
  private let idle: @Sendable () throws -> Void
  private let state = Guarded(State())

  /// Thrown to end the wait for a pipe after another thread has failed; that thread's error ends the run.
  private struct Stopped: Error {}

  /// The limits of what is requested ahead, whatever the number of workers.
  private static let most = (files: 8, bytes: UInt64(8 << 20))

  static let keptOfLongLine = QuarantinedLine.keptOfLongLine

  /// - Parameters:
  ///   - inOrder: whether files are read one after another, so that ``LineBlock/number`` follows the order of their
  ///     lines.
  ///   - idle: called a few times a second while a pipe has nothing to read; may throw to stop.
  init(
    _ files: InputFiles, _ options: IngestOptions, inOrder: Bool, idle: @escaping @Sendable () throws -> Void
  ) {
    (self.files, self.options, self.inOrder) = (files, options, inOrder)
    self.idle = { [weak state] in
      if state?.withLock({ $0.stopped }) == true { throw Stopped() }
      try idle()
    }
  }

  /// Makes every later ``next(_:)`` return nil, and ends a wait for a pipe.
  func stop() {
    state.change {
      $0.stopped = true
      $0.ahead = [:]
    }
  }

  /// Fills the block with the next lines.
  ///
  /// - Returns: the number of bytes read from the disk so far in all files; nil when there are no more lines.
  func next(_ block: LineBlock) throws -> UInt64? {
    while true {
      let cutter: any BlockCutter
      do {
        switch claim() {
        case .cutter(let open): cutter = open
        case .file(let number): cutter = try makeCutter(number)
        case .nothing: return nil
        }
        try cutter.fill(block)
      } catch is Stopped {
        state.change { $0.reading -= 1 }
        return nil
      } catch {
        state.change { $0.reading -= 1 }
        throw error
      }
      let isEmpty = block.count == 0 && block.findings.isEmpty && block.known == nil
      let sum = cutter.isDone ? cutter.sum : nil
      let bytesRead = state.change { state in
        state.reading -= 1
        state.bytesRead += cutter.takeBytesRead()
        if let sum { state.sums[sum.file] = sum.sum }
        if !cutter.isDone { state.open.append(cutter) }
        if !isEmpty {
          block.number = state.nextBlock
          state.nextBlock += 1
        }
        return state.bytesRead
      }
      if !isEmpty { return bytesRead }
    }
  }

  private func makeCutter(_ number: Int) throws -> any BlockCutter {
    if let part = files.part { return FrameCutter(part, of: files.files, options) }
    let remote = files.files[number].remote == nil ? nil : takeReader(number)
    if let known = try options.knownFiles?.find(files.files[number], options, idle: idle) {
      return KnownFileCutter(known, of: files, number)
    }
    return try LineCutter(files, number, options, remote: remote, idle: idle)
  }

  /// Returns the reader that has requested an object, if any, and requests the next small objects: each would take a
  /// worker the time of an answer.
  private func takeReader(_ number: Int) -> (any RemoteReader)? {
    state.withLock { state in
      let reader = state.ahead.removeValue(forKey: number)
      if reader != nil { state.aheadBytes -= files.files[number].size }
      state.considered = max(state.considered, state.nextFile)
      while !state.stopped, state.considered < files.files.count, state.ahead.count < Self.most.files {
        let file = files.files[state.considered]
        guard let remote = file.remote, state.aheadBytes + file.size <= Self.most.bytes else { break }
        // Its errors are thrown when the file is opened.
        if (try? options.knownFiles?.find(file, options, idle: {})) == nil {
          let reader = remote.storage.reader(of: remote)
          // What the system refuses now is requested when the file is read.
          try? reader.request()
          state.ahead[state.considered] = reader
          state.aheadBytes += file.size
        }
        state.considered += 1
      }
      return reader
    }
  }

  /// The number of files read to their end.
  var filesRead: Int { state.withLock { $0.nextFile - $0.open.count - $0.reading } }

  /// The checksums of completely read files, by number.
  var sums: [Int: Digest] { state.change { $0.sums } }

  private var inputCount: Int { files.part == nil ? files.files.count : 1 }

  /// Claims a file to read. If every remaining file has a worker, waits, because each may have more blocks.
  private func claim() -> Claim {
    state.wait { state in
      if state.stopped { return .nothing }
      if let cutter = state.open.popLast() {
        state.reading += 1
        return .cutter(cutter)
      }
      if state.nextFile < inputCount, !inOrder || state.reading == 0 {
        state.reading += 1
        state.nextFile += 1
        return .file(state.nextFile - 1)
      }
      return state.reading == 0 ? .nothing : nil
    }
  }
}
