package import BatchFoundation
internal import CBytes

/// One thread's share of reading: packs the lines of blocks as records into the buffers of their buckets.
@safe struct LineWorker: ~Copyable {
  private var reader: LineReader
  private var mapping = BlockMapping()
  private let space: BucketSpace
  private let options: IngestOptions
  private let buffers: UnsafeMutablePointer<PackedRecords?>
  private var head = RecordHead()
  private(set) var counts = IngestCounts()
  /// The tally of each file; empty if not requested.
  private(set) var tallies: [FileTally]
  private(set) var pastLines = PastLines()
  private(set) var quarantined: [QuarantinedLine] = []
  private var quarantinedBytes = 0
  private(set) var warnings: [String: PlacedWarnings] = [:]
  private var borrowed = 0
  /// Lines of the block that have been found but not yet read.
  private var ahead: [BlockLine] = []

  /// The maximum number of lines that a decoder prepares together.
  private static let linesAhead = 16

  /// - Parameter countedFiles: the number of files to keep tallies for; 0 keeps none.
  init(space: BucketSpace, vocabulary: RecordVocabulary, options: IngestOptions, countedFiles: Int) {
    tallies = Array(repeating: FileTally(), count: countedFiles)
    self.options = options
    reader = LineReader(vocabulary, maxLineBytes: options.maxLineBytes)
    self.space = space
    unsafe buffers = .allocate(capacity: DeviceHash.bucketCount)
    unsafe buffers.initialize(repeating: nil, count: DeviceHash.bucketCount)
  }

  deinit { unsafe buffers.deallocate() }

  var unknownFields: UnknownFields { reader.decoder.unknownFields }

  /// Whether enough quarantined lines have accumulated for a batch.
  var hasFullBatch: Bool { quarantined.count >= 256 || quarantinedBytes >= 1 << 19 }

  mutating func takeQuarantined() -> [QuarantinedLine] {
    defer {
      quarantined = []
      quarantinedBytes = 0
    }
    return quarantined
  }

  /// - Parameter setAside: receives lines that are not records, and records of forgotten people, in batches, because
  ///   a block may have hundreds of thousands of them.
  mutating func read(_ block: LineBlock, _ setAside: ([QuarantinedLine]) throws -> Void) throws {
    if let known = block.known {
      let counts = options.counts(of: known)
      self.counts += counts
      if !tallies.isEmpty { tallies[Int(block.file)].add(counts) }
      return
    }
    // A long line exists in the block, on the tape and on its way to a buffer; the first two grow by doubling.
    let needed = block.count > 2 << 20 ? block.count * 5 : 0
    if needed != borrowed {
      space.borrow(needed - borrowed)
      borrowed = needed
    }
    let unknownFields = reader.decoder.unknownFields.noted
    mapping.map(block)
    warn(of: nil, block)
    var lines = BlockLines(block)
    var place = MappedBlock.Place()
    let isMapped = block.mapped.isFilled
    var isEnd = false
    while !isEnd {
      ahead.removeAll(keepingCapacity: true)
      while ahead.count < Self.linesAhead, !isEnd {
        if !isMapped {
          if let line = lines.next() { ahead.append(line) } else { isEnd = true }
        } else if let entry = block.mapped.next(&place) {
          take(entry, block)
          if hasFullBatch { try setAside(takeQuarantined()) }
        } else {
          isEnd = true
        }
      }
      reader.decoder.prepare(ahead)
      for line in ahead {
        try read(line, block)
        if hasFullBatch { try setAside(takeQuarantined()) }
      }
    }
    for (reason, count) in block.leftOut { leaveOut(reason, count) }
    if !tallies.isEmpty, !block.findings.isEmpty || reader.decoder.unknownFields.noted > unknownFields {
      tallies[Int(block.file)].isRemarkable = true
    }
    for finding in block.findings {
      counts.read += 1
      set(aside: refused(finding))
    }
  }

  /// Queues a line to be read with those in ``ahead``; entries that are not lines are counted at once.
  private mutating func take(_ entry: MappedBlock.Entry, _ block: LineBlock) {
    switch entry {
    case .line(let line): ahead.append(line)
    case .leftOut(let record, let reason):
      countLine(record)
      leaveOut(reason, 1)
      warn(of: record, block)
    case .refused(let record, let rejection):
      countLine(record)
      counts.read += 1
      set(aside: refused(record, rejection, block))
    }
  }

  private mutating func leaveOut(_ reason: String, _ count: Int) {
    counts.read += count
    counts.leftOut[reason, default: 0] += count
  }

  @inline(__always)
  private mutating func read(_ line: BlockLine, _ block: LineBlock) throws {
    let text = line.text
    guard !text.isEmpty else { return }
    counts.read += 1
    countLine(line)
    let position = RecordPosition(file: line.file, line: line.number, element: line.element)
    if let rejection = reader.read(line, position: position, into: &head) {
      return set(aside: refused(line, rejection, block))
    }
    guard options.window.contains(head.timestamp) || options.late?.contains(head.timestamp) ?? false else {
      counts.addOutOfWindow(1, head.timestamp...head.timestamp)
      if options.past?.contains(head.timestamp) ?? false, !isOfSomebodyForgotten {
        pastLines.add(SourceLine(text: text, kind: line.kind, position: position), head)
      }
      return
    }
    if let knownSince = options.knownSince, head.timestamp < knownSince {
      counts.addOutOfWindow(1, head.timestamp...head.timestamp)
      counts.beforeKnown += 1
      return
    }
    if isOfSomebodyForgotten {
      counts.forgotten += 1
      var forgotten = line.quarantined(Rejection(reason: .forgotten), block)
      forgotten.raw = []
      return hand(over: forgotten)
    }
    if !tallies.isEmpty { tallies[Int(line.file)].addRecord(at: head.timestamp.milliseconds) }
    if !block.warnings.isEmpty { warn(of: line, block, device: head.device) }
    try pack(SourceLine(text: text, kind: line.kind, position: position))
  }

  /// Adds the warnings of a foreign record; without a line, the warnings of the file.
  private mutating func warn(of line: BlockLine?, _ block: LineBlock, device: Text = .empty) {
    guard warnings.add(of: line, block, device: device), !tallies.isEmpty else { return }
    tallies[Int(line?.file ?? block.file)].isRemarkable = true
  }

  /// Counts a line; if several lines come from one foreign record, only the first is counted.
  @inline(__always)
  private mutating func countLine(_ line: BlockLine) {
    if !tallies.isEmpty, line.element == 0 { tallies[Int(line.file)].lines += 1 }
  }

  private func refused(_ line: BlockLine, _ rejection: Rejection, _ block: LineBlock) -> QuarantinedLine {
    let refused = line.quarantined(rejection, block)
    return unsafe namesSomebody(line.raw) ? withoutContent(refused) : refused
  }

  /// Returns a finding from the source in the form to quarantine: without its content if the content names a forgotten
  /// person.
  private func refused(_ finding: QuarantinedLine) -> QuarantinedLine {
    unsafe finding.raw.withUnsafeBufferPointer { unsafe namesSomebody($0) } ? withoutContent(finding) : finding
  }

  private func namesSomebody(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    options.isForgotten.map { unsafe MentionedPerson.isNamed(in: bytes, options.personKinds, $0) } ?? false
  }

  /// Removes the content of a line that is not a record and names a forgotten person: the line is quarantined, but its
  /// content is not kept.
  private func withoutContent(_ line: QuarantinedLine) -> QuarantinedLine {
    var line = line
    (line.detail, line.raw) = ("names a forgotten person; the line's content is not kept", [])
    return line
  }

  private var isOfSomebodyForgotten: Bool {
    guard let isForgotten = options.isForgotten else { return false }
    if isForgotten(.device, head.device) { return true }
    var found = false
    reader.decoder.forEachPerson { kind, id in found = found || isForgotten(kind, id) }
    return found
  }

  private mutating func set(aside line: QuarantinedLine) {
    counts.quarantined += 1
    counts.reasons[line.reason, default: 0] += 1
    hand(over: line)
  }

  private mutating func hand(over line: QuarantinedLine) {
    quarantined.append(line)
    quarantinedBytes += line.memory
  }

  @inline(__always)
  private mutating func pack(_ line: SourceLine) throws {
    let device = DeviceHash(head.device)
    let bucket = device.bucket
    let bound = PackedRecord.bound(head, payload: reader.decoder.payloadBound)
    let digest = head.identity ?? LineDigest(line: line.text, kind: line.kind)
    if PackedRecords.size(for: bound) > space.bufferBytes {
      // A large record gets a separate buffer, which is passed on at once.
      var buffer = try space.empty(atLeast: bound)
      let size = unsafe PackedRecord.write(
        head, of: line, digest: digest, device: device, by: reader, at: buffer.base)
      buffer.add(size, at: place(of: line))
      return space.place(buffer, bucket: bucket)
    }
    if unsafe buffers[bucket].map({ $0.room < bound }) ?? true {
      if let full = unsafe buffers[bucket] { space.place(full, bucket: bucket) }
      unsafe buffers[bucket] = nil
      unsafe buffers[bucket] = try space.empty()
    }
    guard let buffer = unsafe buffers[bucket] else { return }
    let size = unsafe PackedRecord.write(
      head, of: line, digest: digest, device: device, by: reader, at: buffer.base + buffer.used)
    unsafe buffers[bucket]?.add(size, at: place(of: line))
    // Each record goes to another of many buffers. The processor has the memory of this one in its cache when the next
    // record comes to it, instead of waiting for it then.
    unsafe engage_prefetch(buffer.base + buffer.used + size, min(buffer.room - size, size))
  }

  @inline(__always)
  private func place(of line: SourceLine) -> RecordPlace {
    RecordPlace(
      timestamp: head.timestamp.milliseconds, kind: line.kind, file: line.position.file, line: line.position.line,
      element: line.position.element)
  }

  /// Passes on the open buffers; call it once there is nothing more to read.
  mutating func finish() {
    for bucket in 0..<DeviceHash.bucketCount {
      if let buffer = unsafe buffers[bucket] { space.place(buffer, bucket: bucket) }
      unsafe buffers[bucket] = nil
    }
    space.borrow(-borrowed)
    borrowed = 0
  }
}

/// Searches for people in lines that are not records but whose bytes the quarantine would keep.
enum MentionedPerson {
  /// Returns whether a line names a forgotten person: in a string or number if the line is JSON, and otherwise between
  /// quotes, white space, commas, `&` or `=`.
  static func isNamed(
    in bytes: UnsafeBufferPointer<UInt8>, _ kinds: [PersonID.Kind], _ isForgotten: (PersonID.Kind, Text) -> Bool
  ) -> Bool {
    func isAny(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      let text = unsafe Text(bytes)
      return kinds.contains { isForgotten($0, text) }
    }
    // A line that is not JSON is searched below.
    if let node = try? unsafe JSONNode.parse(Array(bytes), options: [.duplicateKeys, .nulCharacters]) {
      return unsafe names(node, isAny)
    }
    let ends: Set<UInt8> = [UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "&"), UInt8(ascii: "=")]
    var start = 0
    for index in 0...bytes.count {
      if index < bytes.count, unsafe bytes[index] > 0x20 && !ends.contains(bytes[index]) { continue }
      if index > start, unsafe isAny(UnsafeBufferPointer(rebasing: bytes[start..<index])) { return true }
      start = index + 1
    }
    return false
  }

  private static func names(_ node: JSONNode, _ isAny: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
    switch node.value {
    case .null, .bool: return false
    case .string(let text), .number(let text), .date(let text), .written(let text):
      var text = text
      return text.withUTF8 { unsafe isAny($0) }
    case .array(let elements): return elements.contains { unsafe names($0, isAny) }
    case .object(let members): return members.contains { unsafe names($0.value, isAny) }
    }
  }
}

/// A line that is out of the window, with a time in ``IngestOptions/past``; an earlier run may or may not have read it.
package struct PastLine: Sendable, Equatable {
  package var timestamp: Instant
  package var bucket: Int
  package var digest: LineDigest
  package var position: RecordPosition
}

/// The past lines that one thread read. For each file, only enough are kept to show whether it has new ones.
struct PastLines {
  private static let mostOfFile = 32
  private static let most = 2048
  private(set) var lines: [PastLine] = []
  private var counts: [UInt32: Int] = [:]

  mutating func add(_ line: SourceLine, _ head: RecordHead) {
    let count = counts[line.position.file, default: 0]
    guard count < Self.mostOfFile, lines.count < Self.most else { return }
    counts[line.position.file] = count + 1
    lines.append(
      PastLine(
        timestamp: head.timestamp, bucket: DeviceHash(head.device).bucket,
        digest: head.identity ?? LineDigest(line: line.text, kind: line.kind), position: line.position))
  }
}
