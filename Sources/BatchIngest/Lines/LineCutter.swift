import BatchFoundation
import Glibc

final class LineCutter: BlockCutter {
  private let files: [InputFile]
  private let number: UInt32
  /// Splits the file into foreign records; nil for a file of lines.
  private let cutter: (any RecordCutter)?
  private let blockBytes: Int
  private let maxLineBytes: Int
  private let reader: FileReader
  private var offset: UInt64 = 0
  private var line: UInt64 = 1
  /// For foreign records, whether the last byte was a line feed.
  private var endsInFeed = true
  private(set) var isDone = false
  private var reportedBytes: UInt64 = 0
  /// The start of a line whose end has not been read.
  private let carry = LineBlock(capacity: 1 << 12)

  init(
    _ files: InputFiles, _ number: Int, _ options: IngestOptions, remote: (any RemoteReader)?,
    idle: @escaping @Sendable () throws -> Void
  ) throws {
    self.files = files.files
    self.number = UInt32(number)
    blockBytes = options.blockBytes
    maxLineBytes = options.maxLineBytes
    let input = files.files[number]
    cutter = input.map?.map.makeCutter(of: input.path, options)
    reader = try FileReader(
      input, sums: options.knownFiles != nil && input.mayBeKnown, remote: remote, idle: idle)
    if let length = input.handedOver { (offset, line) = (length.bytesBefore, 1 + length.linesBefore) }
  }

  func takeBytesRead() -> UInt64 {
    defer { reportedBytes = reader.bytesRead }
    return reader.bytesRead - reportedBytes
  }

  var sum: (file: Int, sum: Digest)? { reader.sumOfWhole.map { (Int(number), $0) } }

  func fill(_ block: LineBlock) throws {
    block.begin(with: carry, of: files, blockBytes)
    (block.file, block.kind) = (number, reader.file.kind)
    (block.isPart, block.isFramed) = (false, cutter != nil)
    (block.offset, block.firstLine) = (offset, line)
    if let cutter { return try fill(block, cutter) }
    try fillLines(block)
    if block.offset == 0 { refuseOtherForm(block) }
    unsafe block.ends.find(in: block.base, block.count)
    offset += UInt64(block.count)
    line += UInt64(block.ends.count)
  }

  /// Replaces all lines with one finding that names the format, if the file is in another format.
  private func refuseOtherForm(_ block: LineBlock) {
    guard block.count > 0 else { return }
    let mark = block.markLength
    let head = unsafe UnsafeBufferPointer(start: UnsafePointer(block.base) + mark, count: block.count - mark)
    guard tellsForm, let form = unsafe TextForm.of(head, isWhole: isDone) else { return }
    // Plain links may be lines with tabs.
    if block.kind == .deepLinks, form == .table(separator: 0x09) { return }
    block.count = 0
    refuse(form.words, block)
  }

  /// Whether to check the file's format. For handed-over files, pipes and copies, the sender is responsible for that.
  private var tellsForm: Bool { reader.file.handedOver == nil && !reader.file.isPipe && reader.file.copied == nil }

  private func refuse(_ form: String, _ block: LineBlock) {
    find(.otherForm, line: 0, offset: 0, detail: form, block)
    isDone = true
  }

  private func find(
    _ reason: QuarantineReason, line: UInt64, offset: UInt64, detail: String, raw: [UInt8] = [], kind: InputKind? = nil,
    _ block: LineBlock
  ) {
    block.findings.append(
      QuarantinedLine(
        file: reader.file.path.description, line: line, offset: offset, reason: reason, detail: detail, raw: raw,
        kind: kind))
  }

  private func fillLines(_ block: LineBlock) throws {
    while true {
      guard try readMore(block) else { return try finish(block) }
      guard block.count == block.capacity else { continue }
      let end = unsafe endOfLastLine(block.base, block.count)
      if end > 0 {
        unsafe carry.hold(block.base + end, block.count - end, blockBytes)
        block.count = end
        return
      }
      if block.capacity >= maxLineBytes + 8 { return try passLongLine(block) }
      block.resize(to: min(block.capacity * 2, max(maxLineBytes + 8, block.capacity + 8)))
    }
  }

  /// Fills the block with about `blockBytes` bytes of foreign records.
  private func fill(_ block: LineBlock, _ cutter: any RecordCutter) throws {
    var frames = ByteBuffer(capacity: blockBytes)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { unsafe piece.deallocate() }
    func add(_ record: CutRecord) {
      if let fault = record.fault {
        let kept = unsafe record.bytes.prefix(fault == .lineTooLong ? LineSource.keptOfLongLine : .max)
        find(
          fault, line: record.number, offset: record.offset, detail: record.detail, raw: unsafe Array(kept),
          kind: reader.file.kind, block)
      } else {
        unsafe PartFrame.append(
          record.bytes, file: number, line: record.number, offset: record.offset, to: &frames)
        block.addWarnings(record.warnings.map { RecordWarning(line: record.number, warning: $0) })
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

  /// Ends a file. Its last line counts even without a line feed, unless damage truncated it.
  private func finish(_ block: LineBlock) throws {
    try reader.proveWhole(lines: line - 1 + linesStarted(in: block))
    if let fault = reader.fault {
      let damage = offset + UInt64(block.count)
      block.count = unsafe endOfLastLine(block.base, block.count)
      find(.damagedFile, line: 0, offset: damage, detail: fault.rawValue, block)
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
        unsafe carry.hold(block.base + end + 1, block.count - end - 1, blockBytes)
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
    find(
      .lineTooLong, line: block.firstLine, offset: start + UInt64(mark), detail: "", raw: raw, kind: reader.file.kind,
      block)
  }
}

/// Produces the only block for a file that need not be read.
final class KnownFileCutter: BlockCutter {
  private let known: KnownFile
  private let files: InputFiles
  private let number: Int
  private(set) var isDone = false

  init(_ known: KnownFile, of files: InputFiles, _ number: Int) {
    (self.known, self.files, self.number) = (known, files, number)
  }

  func takeBytesRead() -> UInt64 { known.size }

  func fill(_ block: LineBlock) {
    block.begin(with: LineBlock(capacity: 0), of: files.files, block.capacity)
    (block.file, block.kind, block.known) = (UInt32(number), files.files[number].kind, known)
    isDone = true
  }
}
