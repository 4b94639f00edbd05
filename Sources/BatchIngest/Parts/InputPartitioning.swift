package import BatchFoundation
import CBytes

/// Distributes the lines of an export among parts by device. Lines are read as a run would read them.
///
/// All records of a device go to one part. A line that a run would quarantine goes to a part by its line number, or by
/// the device that it seems to name (``SourceLine/plainDevice``). Each line keeps its bytes and place, so that runs of
/// the parts report the same as a run of the whole export. Lines keep their order.
package struct InputPartitioning: Sendable {
  package let files: InputFiles
  package let vocabulary: RecordVocabulary
  package let options: IngestOptions
  package let parts: Int
  /// The number that the first file in ``files`` has in the whole export, which may have other files before it.
  package let firstFile: UInt32

  /// The name of the method by which `part(of:among:)` distributes devices. A different method needs a different name.
  package static let hash = "device-64"

  package init(
    _ files: InputFiles, vocabulary: RecordVocabulary, options: IngestOptions, parts: Int, firstFile: UInt32
  ) {
    (self.files, self.vocabulary, self.options) = (files, vocabulary, options)
    (self.parts, self.firstFile) = (parts, firstFile)
  }

  /// Returns the part of a device, which depends on its whole hash; the bucket within a part is the hash's top byte.
  static func part(of device: DeviceHash, among parts: Int) -> Int { Int(device.value % UInt64(parts)) }

  /// - Parameters:
  ///   - take: receives the next bytes of a part; never called by two threads at once. The calls are the same for any
  ///     number of threads.
  ///   - progress: called periodically, never by two threads at once; may throw to stop.
  /// - Returns: the number of lines of each part, including findings, which equals `read` of a run of the part; and the
  ///   warnings about foreign records, by kind.
  /// - Throws: ``IngestFailure`` if a read fails, ``InputChanged``, ``CommandError``, ``InputError/short(_:)``, or an
  ///   error from a closure.
  package func run(
    _ take: @escaping @Sendable (_ part: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws -> Void,
    progress: @escaping @Sendable (IngestProgress) throws -> Void
  ) throws -> (lines: [Int], warnings: [String: PlacedWarnings]) {
    let run = unsafe PartitioningRun(self, take, progress)
    try Threads.run(options.workers) { _ in try run.readLines() }
    try files.refuseShort(run.usableByFile)
    return (run.lines, run.warnings)
  }
}

@safe private final class PartitioningRun: Sendable {
  private struct Shared {
    var nextBlock = 0
    var failed = false
    var lines: [Int]
    var usableByFile: [Int]
    var warnings: [String: PlacedWarnings] = [:]
    var progress = IngestProgress(stage: .reading, bytesRead: 0, records: 0)
  }

  private let whole: InputPartitioning
  private let take: @Sendable (Int, UnsafeBufferPointer<UInt8>) throws -> Void
  private let source: LineSource
  private let shared: Guarded<Shared>

  init(
    _ whole: InputPartitioning, _ take: @escaping @Sendable (Int, UnsafeBufferPointer<UInt8>) throws -> Void,
    _ progress: @escaping @Sendable (IngestProgress) throws -> Void
  ) {
    self.whole = whole
    unsafe self.take = take
    let shared = Guarded(
      Shared(
        lines: Array(repeating: 0, count: whole.parts),
        usableByFile: Array(repeating: 0, count: whole.files.minima.isEmpty ? 0 : whole.files.files.count)))
    shared.withLock { $0.progress.files = whole.files.files.count }
    (self.shared, self.progress) = (shared, progress)
    source = LineSource(whole.files, whole.options, inOrder: true) { try shared.withLock { try progress($0.progress) } }
  }

  private let progress: @Sendable (IngestProgress) throws -> Void

  var lines: [Int] { shared.withLock(\.lines) }
  var usableByFile: [Int] { shared.withLock(\.usableByFile) }
  var warnings: [String: PlacedWarnings] { shared.withLock(\.warnings) }

  func readLines() throws {
    do {
      let block = LineBlock(capacity: whole.options.blockBytes)
      var distributor = LineDistributor(whole)
      while let bytesRead = try source.next(block) {
        distributor.read(block)
        guard try handOver(&distributor, block.number, bytesRead) else { return }
      }
      let (lines, warnings) = (distributor.usableByFile, distributor.warnings)
      shared.change { shared in
        for (kind, more) in warnings { shared.warnings[kind, default: PlacedWarnings()].add(more) }
        for file in lines.indices { shared.usableByFile[file] += lines[file] }
      }
    } catch {
      source.stop()
      shared.change { $0.failed = true }
      throw error
    }
  }

  /// Passes on a block's lines in the order of the blocks, regardless of which worker finishes first.
  ///
  /// - Returns: false when another worker has failed; its error ends the partition.
  private func handOver(_ distributor: inout LineDistributor, _ number: Int, _ bytesRead: UInt64) throws -> Bool {
    let continues = shared.wait { shared -> Bool? in
      if shared.failed { return false }
      return shared.nextBlock == number ? true : nil
    }
    guard continues else { return false }
    // It remains this worker's turn until `nextBlock` is increased below.
    try unsafe distributor.handOver(take)
    let filesRead = source.filesRead
    try shared.change { shared in
      for part in shared.lines.indices { shared.lines[part] += distributor.lines[part] }
      shared.nextBlock += 1
      shared.progress.records += distributor.lines.reduce(0, +)
      shared.progress.bytesRead = max(shared.progress.bytesRead, bytesRead)
      shared.progress.filesRead = max(shared.progress.filesRead, filesRead)
      try progress(shared.progress)
    }
    distributor.reset()
    return true
  }
}

private struct LineDistributor: ~Copyable {
  private var reader: LineReader
  private let whole: InputPartitioning
  private var mapping = BlockMapping()
  private var head = RecordHead()
  private let buffers: [PartBuffer]
  private(set) var lines: [Int]
  /// For each file, the number of records in the window, which a run accepts or already knows; empty if no input has a
  /// minimum.
  private(set) var usableByFile: [Int]
  private(set) var warnings: [String: PlacedWarnings] = [:]

  init(_ whole: InputPartitioning) {
    self.whole = whole
    usableByFile = Array(repeating: 0, count: whole.files.minima.isEmpty ? 0 : whole.files.files.count)
    reader = LineReader(whole.vocabulary, maxLineBytes: whole.options.maxLineBytes)
    buffers = (0..<whole.parts).map { _ in PartBuffer() }
    lines = Array(repeating: 0, count: whole.parts)
  }

  mutating func read(_ block: LineBlock) {
    mapping.map(block)
    warnings.add(of: nil, block)
    if block.mapped.isFilled {
      var place = MappedBlock.Place()
      while let entry = block.mapped.next(&place) { take(entry, block) }
    } else {
      var rest = BlockLines(block)
      while let line = rest.next() { read(line, block) }
    }
    for finding in block.findings { add(finding, block.file) }
  }

  private mutating func take(_ entry: MappedBlock.Entry, _ block: LineBlock) {
    switch entry {
    case .line(let line): read(line, block)
    case .refused(let record, let rejection):
      add(record.quarantined(rejection, block), record.file)
    case .leftOut(let record, let reason):
      warnings.add(of: record, block)
      let part = part(of: record.number)
      PartFrame.append(
        leftOut: reason, file: whole.firstFile + record.file, line: record.number, offset: record.offset,
        to: &buffers[part].bytes)
      lines[part] += 1
    }
  }

  private mutating func read(_ line: BlockLine, _ block: LineBlock) {
    guard !line.text.isEmpty else { return }
    let position = RecordPosition(file: line.file, line: line.number)
    if !block.mapped.isFilled, unsafe line.bytes.count <= whole.options.maxLineBytes,
      let device = SourceLine(text: line.text, kind: line.kind, position: position).plainDevice
    {
      let part = InputPartitioning.part(of: DeviceHash(device), among: lines.count)
      if !usableByFile.isEmpty { count(line, isRecord: reader.read(line, position: position, into: &head) == nil) }
      return keep(line, in: part)
    }
    let rejection = reader.read(line, position: position, into: &head)
    count(line, isRecord: rejection == nil)
    // A run of the part sees only the line that a map wrote, and could not refuse it in terms of the foreign record.
    if let rejection, rejection.reason == .lineTooLong || block.mapped.isFilled {
      return add(line.quarantined(rejection, block), line.file)
    }
    if rejection == nil { warnings.add(of: line, block, device: head.device) }
    keep(
      line,
      in: rejection == nil
        ? InputPartitioning.part(of: DeviceHash(head.device), among: lines.count) : part(of: line.number))
  }

  private mutating func keep(_ line: BlockLine, in part: Int) {
    unsafe PartFrame.append(
      line.bytes, file: whole.firstFile + line.file, line: line.number, offset: line.offset,
      element: line.isMapped ? line.element : nil, to: &buffers[part].bytes)
    lines[part] += 1
  }

  private mutating func count(_ line: BlockLine, isRecord: Bool) {
    guard isRecord, !usableByFile.isEmpty, whole.options.window.contains(head.timestamp) else { return }
    usableByFile[Int(line.file)] += 1
  }

  private mutating func add(_ finding: QuarantinedLine, _ file: UInt32) {
    let part = part(of: finding.line)
    PartFrame.append(finding, file: whole.firstFile + file, to: &buffers[part].bytes)
    lines[part] += 1
  }

  private func part(of number: UInt64) -> Int { Int(number % UInt64(lines.count)) }

  func handOver(_ take: (Int, UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    for part in buffers.indices where buffers[part].bytes.count > 0 {
      try unsafe take(part, buffers[part].bytes.bytes)
    }
  }

  mutating func reset() {
    for part in buffers.indices {
      buffers[part].bytes.truncate(to: 0)
      lines[part] = 0
    }
  }
}

private final class PartBuffer {
  var bytes = ByteBuffer(capacity: 1 << 10)
}

extension SourceLine {
  /// The device of a record, found in the bytes of its line without parsing; if the line is not a record, the result is
  /// arbitrary.
  ///
  /// If the field's name occurs once and no backslash could hide another occurrence, the record's device follows it.
  /// Nil if the line must be parsed, as for an event from a phone's own store, whose device is elsewhere (reference
  /// formats 3.6, deltadna 2).
  package var plainDevice: Text? {
    if kind == .deepLinks, text.isEmpty || text[0] != UInt8(ascii: "{") { return nil }
    return kind == .events
      ? text.only(.deviceId, without: .attributes, .eventParams) : text.only(.deviceId, without: .deviceId, .deviceId)
  }
}

extension Text {
  /// Returns the string of the only member with this name; nil if there is not exactly one, or if there is a backslash
  /// or one of the other names.
  fileprivate func only(_ field: RecordField, without one: RecordField, _ other: RecordField) -> Text? {
    let name = field.quotedName
    let place = unsafe engage_find_only(base, count, name.known, one.quotedName.known, other.quotedName.known)
    guard place < count else { return nil }
    var at = place + name.count
    func skipSpace() { while at < count, self[at].isLineSpace { at += 1 } }
    func take(_ byte: UInt8) -> Bool {
      skipSpace()
      guard at < count, self[at] == byte else { return false }
      at += 1
      return true
    }
    guard take(UInt8(ascii: ":")), take(UInt8(ascii: "\"")),
      let end = unsafe memchr(base + at, 0x22, count - at)
    else { return nil }
    return slice(at, unsafe UnsafeRawPointer(end) - UnsafeRawPointer(base))
  }

  private var known: engage_name { unsafe engage_name(bytes: base, length: count) }
}

extension RecordField {
  fileprivate var quotedName: Text { Self.quotedNames[Int(rawValue)] }

  private static let quotedNames = allCases.map { Text(permanent: "\"\($0.name)\"") }
}
