import BatchFoundation
import Glibc

/// Whole lines of one file in memory, for one worker at a time.
@safe final class LineBlock {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private(set) var capacity: Int
  /// Bytes of whole lines; the last one of a file may lack its line feed.
  var count = 0
  var file: UInt32 = 0
  var kind = InputKind.events
  /// Offset of the first byte in the (inflated) file.
  var offset: UInt64 = 0
  var firstLine: UInt64 = 1
  /// Entries for quarantine that reading itself found, behind the lines of the block.
  var findings: [QuarantinedLine] = []
  /// About foreign records of the block, in their order.
  private(set) var warnings: [RecordWarning] = []
  /// Of the run.
  var files: [InputFile] = []
  /// Counts the blocks of a source from 0.
  var number = 0
  /// Whether lines have their places with them (``PartFrame``): those of a part, and foreign records that were cut out of a file.
  var isFramed = false
  var isPart = false
  /// Of a part, what a map left out, by reason.
  var leftOut: [String: Int] = [:]
  /// Those of lines that are not framed; none where nobody looked for them.
  var ends = LineEnds()
  /// What a map made of the foreign records of the block.
  var mapped = MappedBlock()
  /// What the block stands for where it has no lines: all of a file that was read before.
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
    // A block may have as many as it has records.
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

  /// Empties the block for what comes next of an input, which begins with what another block holds of it.
  ///
  /// - Parameter files: those of the run.
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

  /// Holds the start of what has not been read to its end, for the block that ``begin(with:of:_:)`` fills next.
  func hold(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ blockBytes: Int) {
    if capacity < count || capacity > max(count * 2, blockBytes) { resize(to: max(count, 1 << 12)) }
    unsafe base.update(from: start, count: count)
    self.count = count
  }

  /// Bytes of a byte order mark at the start of the file, which is not part of the first line.
  var markLength: Int {
    unsafe !isFramed && offset == 0 && count >= 3 && base[0] == 0xEF && base[1] == 0xBB && base[2] == 0xBF ? 3 : 0
  }
}

/// Cuts an input into blocks, for one worker at a time.
protocol BlockCutter: AnyObject {
  /// Whether nothing is left to be read.
  var isDone: Bool { get }

  /// Bytes that were taken from the disk since the last call.
  func takeBytesRead() -> UInt64

  /// Puts what comes next into the block; nothing where there was only the rest of a line to read.
  func fill(_ block: LineBlock) throws

  /// The number of a file that was read to its end, and the sum of its bytes; nil where nobody asks, or it is not all that was there.
  var sum: (file: Int, sum: Digest)? { get }
}

extension BlockCutter {
  var sum: (file: Int, sum: Digest)? { nil }
}

/// Cuts the files of a run into blocks of whole lines and gives each block to the worker that asks next.
///
/// A file has one reader, which one worker at a time uses: reading and inflating hold no lock, so as many files are read at once as there
/// are workers. Memory is flat: a block grows up to the longest allowed line, and a longer line is read past.
final class LineSource: Sendable {
  private struct State {
    var nextFile = 0
    var nextBlock = 0
    /// Files that are open and that no worker reads at the moment.
    var open: [any BlockCutter] = []
    /// Workers that read a file.
    var reading = 0
    var stopped = false
    var bytesRead: UInt64 = 0
    var sums: [Int: Digest] = [:]
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

  /// Ends the wait for a pipe once another thread has failed, whose error ends the run.
  private struct Stopped: Error {}

  /// What is kept of a line that is too long.
  static let keptOfLongLine = QuarantinedLine.keptOfLongLine

  /// - Parameters:
  ///   - inOrder: whether files are read one after the other, so that ``LineBlock/number`` follows the order of their lines.
  ///   - idle: called a few times a second while a pipe has nothing to read; throw to stop.
  init(
    _ files: InputFiles, _ options: IngestOptions, inOrder: Bool, idle: @escaping @Sendable () throws -> Void
  ) {
    self.files = files
    self.options = options
    self.inOrder = inOrder
    self.idle = { [weak state] in
      if state?.withLock({ $0.stopped }) == true { throw Stopped() }
      try idle()
    }
  }

  /// Makes every later ``next(_:)`` return nil, and one that waits for a pipe.
  func stop() { state.change { $0.stopped = true } }

  /// Puts the next lines into the block.
  ///
  /// - Returns: bytes taken from the disk so far in all files; nil when there are no more lines.
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
    if let known = try options.knownFiles?.find(files.files[number], options, idle: idle) {
      return KnownFileCutter(known, of: files, number)
    }
    return try LineCutter(files, number, options, idle: idle)
  }

  /// Of files that were read to their end, by number, the sums of their bytes.
  var sums: [Int: Digest] { state.change { $0.sums } }

  private var inputCount: Int { files.part == nil ? files.files.count : 1 }

  /// Waits while all files that are left have a worker, because any of them may turn out to have more.
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
