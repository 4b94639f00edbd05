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
  /// Of the run.
  var files: [InputFile] = []
  /// Counts the blocks of a source from 0.
  var number = 0
  /// Whether lines have their places with them (``PartFrame``): those of a part, and foreign records that were cut out of a file.
  var isFramed = false
  var isPart = false
  /// Of a part, what a map left out, by reason.
  var leftOut: [String: Int] = [:]
  /// What a map made of the foreign records of the block.
  var mapped = MappedBlock()

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

  var room: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: base + count, count: capacity - count)
  }

  /// Empties the block for what comes next of an input, which begins with what another block holds of it.
  ///
  /// - Parameter files: those of the run.
  func begin(with carry: LineBlock, of files: [InputFile], _ blockBytes: Int) {
    findings.removeAll()
    leftOut.removeAll()
    mapped.removeAll()
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
    self.idle = idle
  }

  /// Makes every later ``next(_:)`` return nil.
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
      } catch {
        state.change { $0.reading -= 1 }
        throw error
      }
      let isEmpty = block.count == 0 && block.findings.isEmpty
      let bytesRead = state.change { state in
        state.reading -= 1
        state.bytesRead += cutter.takeBytesRead()
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
    guard let part = files.part else { return try LineCutter(files, number, options, idle: idle) }
    return FrameCutter(part, of: files.files, options)
  }

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

/// Where the reading of a file stands.
private final class LineCutter: BlockCutter {
  /// Those of the run, which blocks name.
  private let files: [InputFile]
  private let number: UInt32
  /// Cuts what is no line; nil for lines.
  private let cutter: (any RecordCutter)?
  private let blockBytes: Int
  private let maxLineBytes: Int
  private let reader: FileReader
  private var offset: UInt64 = 0
  private var line: UInt64 = 1
  /// Of what is no line, whether the last byte was a line feed.
  private var endsInFeed = true
  private(set) var isDone = false
  private var toldBytes: UInt64 = 0
  /// The start of a line whose end has not been read.
  private let carry = LineBlock(capacity: 1 << 12)

  init(
    _ files: InputFiles, _ number: Int, _ options: IngestOptions, idle: @escaping @Sendable () throws -> Void
  ) throws {
    self.files = files.files
    self.number = UInt32(number)
    blockBytes = options.blockBytes
    maxLineBytes = options.maxLineBytes
    let input = files.files[number]
    cutter = input.map?.map.makeCutter(of: input.path, options)
    reader = try FileReader(input, idle: idle)
    if let length = input.handedOver { (offset, line) = (length.bytesBefore, 1 + length.linesBefore) }
  }

  func takeBytesRead() -> UInt64 {
    defer { toldBytes = reader.bytesRead }
    return reader.bytesRead - toldBytes
  }

  func fill(_ block: LineBlock) throws {
    block.begin(with: carry, of: files, blockBytes)
    (block.file, block.kind) = (number, reader.file.kind)
    (block.isPart, block.isFramed) = (false, cutter != nil)
    (block.offset, block.firstLine) = (offset, line)
    if let cutter { return try fill(block, cutter) }
    try fillLines(block)
    if block.offset == 0 { refuseOtherForm(block) }
  }

  /// Says of a file that is no lines of JSON what it is, in place of its first lines and all others.
  private func refuseOtherForm(_ block: LineBlock) {
    guard block.count > 0 else { return }
    let mark = block.markLength
    let head = unsafe UnsafeBufferPointer(start: UnsafePointer(block.base) + mark, count: block.count - mark)
    guard tellsForm, let form = unsafe TextForm(head, isWhole: isDone) else { return }
    // Links may be lines with tabs.
    if block.kind == .deepLinks, form == .table(separator: 0x09) { return }
    block.count = 0
    refuse(form.words, block)
  }

  /// What is handed over or comes through a pipe is told of by whoever does.
  private var tellsForm: Bool { reader.file.handedOver == nil && !reader.file.isPipe && reader.file.copied == nil }

  private func refuse(_ form: String, _ block: LineBlock) {
    block.findings.append(
      QuarantinedLine(
        file: reader.file.path.description, line: 0, offset: 0, reason: .otherForm, detail: form, raw: []))
    isDone = true
  }

  private func fillLines(_ block: LineBlock) throws {
    while true {
      guard try readMore(block) else { return try finish(block) }
      guard block.count == block.capacity else { continue }
      let end = unsafe endOfLastLine(block.base, block.count)
      if end > 0 {
        unsafe keep(block.base + end, block.count - end)
        block.count = end
        return advance(block)
      }
      if block.capacity >= maxLineBytes + 8 { return try passLongLine(block) }
      block.resize(to: min(block.capacity * 2, max(maxLineBytes + 8, block.capacity + 8)))
    }
  }

  /// Puts about a block of foreign records into the block.
  private func fill(_ block: LineBlock, _ cutter: any RecordCutter) throws {
    var frames = ByteBuffer(capacity: blockBytes)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { unsafe piece.deallocate() }
    func add(_ record: CutRecord) {
      if let fault = record.fault {
        let kept = unsafe record.bytes.prefix(fault == .lineTooLong ? LineSource.keptOfLongLine : .max)
        block.findings.append(
          QuarantinedLine(
            file: reader.file.path.description, line: record.number, offset: record.offset, reason: fault,
            detail: record.detail, raw: unsafe Array(kept), kind: reader.file.kind))
      } else {
        unsafe PartFrame.append(
          record.bytes, file: number, line: record.number, offset: record.offset, to: &frames)
      }
    }
    while frames.count < blockBytes, block.findings.count < 1000 {
      let count = try unsafe reader.read(into: piece)
      if count == 0 {
        cutter.finish(isDamaged: reader.fault != nil, add)
        guard cutter.isDone else { break }
        if !endsInFeed { line += 1 }
        try finish(block)
        break
      }
      let bytes = unsafe piece.assumingMemoryBound(to: UInt8.self)
      if offset == 0, tellsForm {
        let head = unsafe TextForm.withoutMark(UnsafeBufferPointer(rebasing: bytes[..<count]))
        if let form = unsafe cutter.otherForm(head) { return refuse(form, block) }
      }
      offset += UInt64(count)
      if let base = bytes.baseAddress { unsafe line += UInt64(countLineFeeds(base, count)) }
      endsInFeed = unsafe bytes[count - 1] == 0x0A
      unsafe cutter.take(UnsafeBufferPointer(rebasing: bytes[..<count]), add)
    }
    if block.capacity < frames.count { block.resize(to: frames.count) }
    unsafe block.base.update(from: frames.base, count: frames.count)
    block.count = frames.count
  }

  private func readMore(_ block: LineBlock) throws -> Bool {
    let count = try unsafe reader.read(into: block.room)
    block.count += count
    return count > 0
  }

  private func keep(_ rest: UnsafeMutablePointer<UInt8>, _ count: Int) {
    unsafe carry.hold(rest, count, blockBytes)
  }

  private func advance(_ block: LineBlock) {
    offset += UInt64(block.count)
    unsafe line += UInt64(countLineFeeds(block.base, block.count))
  }

  /// The end of a file: its last line counts without a line feed, unless damage cut it.
  private func finish(_ block: LineBlock) throws {
    try reader.proveWhole(lines: line - 1 + linesStarted(in: block))
    if let fault = reader.fault {
      let damage = offset + UInt64(block.count)
      block.count = unsafe endOfLastLine(block.base, block.count)
      block.findings.append(
        QuarantinedLine(
          file: reader.file.path.description, line: 0, offset: damage, reason: .damagedFile, detail: fault.rawValue,
          raw: []))
    }
    isDone = true
  }

  private func linesStarted(in block: LineBlock) -> UInt64 {
    guard block.count > 0 else { return 0 }
    return unsafe UInt64(countLineFeeds(block.base, block.count)) + (block.base[block.count - 1] == 0x0A ? 0 : 1)
  }

  private func passLongLine(_ block: LineBlock) throws {
    let mark = block.markLength
    var raw = unsafe Array(
      UnsafeBufferPointer(start: block.base + mark, count: min(block.count - mark, LineSource.keptOfLongLine)))
    let start = offset
    var passed = UInt64(block.count)
    var ended = false
    while !ended {
      block.count = 0
      guard try readMore(block) else { break }
      var end = block.count
      if let feed = unsafe memchr(block.base, 0x0A, block.count) {
        end = unsafe feed - UnsafeMutableRawPointer(block.base)
        unsafe keep(block.base + end + 1, block.count - end - 1)
        passed += 1
        ended = true
      }
      unsafe raw += UnsafeBufferPointer(start: block.base, count: min(end, LineSource.keptOfLongLine - raw.count))
      passed += UInt64(end)
    }
    if ended, passed < LineSource.keptOfLongLine, raw.last == 0x0D { raw.removeLast() }
    block.count = 0
    offset += passed
    line += 1
    guard reader.fault == nil else { return }
    block.findings.append(
      QuarantinedLine(
        file: reader.file.path.description, line: block.firstLine, offset: start + UInt64(mark), reason: .lineTooLong,
        detail: "", raw: raw, kind: reader.file.kind))
  }
}
