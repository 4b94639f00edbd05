package import BatchFoundation
package import BatchIngest
package import BatchReport
import BatchStore
import Glibc

package struct StreamCounts: Sendable, Equatable {
  package var lines = IngestCounts()
  /// The first refused lines, at most ``RuleStream/shownRefusals``.
  package var refusals: [FindingCause] = []
  package var devices = 0
  package var events = 0
  /// The number of events that still needed a user id or a sample when the records of their device ended; a stream
  /// drops them.
  package var held = 0
}

/// Applies only the rules: lines that are grouped by device become events in canonical form, one device after another.
///
/// Nothing is kept from one device to the next, so the largest device determines the memory used. If a device's lines
/// come in several groups, the stream fails after everything is read; to detect this, a temporary file keeps the starts
/// of groups.
package final class RuleStream {
  /// The maximum number of refused lines shown; further ones are only counted.
  package static let shownRefusals = 20

  private let options: ProcessingStage.Options
  private let kind: InputKind
  private let output: OutputFile
  private let records = RecordBuffer()
  private let decider: any DeviceDecider
  private let wireForm: WireForm
  private var reader: LineReader
  private var head = RecordHead()
  private var device: [UInt8]?
  private var groups: DeviceGroups
  private var line: UInt64 = 0
  private var partial: [UInt8] = []
  private var buffer = ByteBuffer(capacity: 1 << 16)
  package private(set) var counts = StreamCounts()

  /// - Parameter output: the file for events; "-" is stdout.
  /// - Throws: errors in files and settings that the rules need; ``OutputError``, ``StoreError`` for a temporary file.
  package init(_ request: RunRequest, kind: InputKind, output: String) throws {
    options = try Pipeline(request).processingOptions()
    self.kind = kind
    self.output = try OutputFile(output)
    groups = try DeviceGroups()
    wireForm = request.platform.storeFormat.wireForm
    var settings = options.decider
    settings.keepsAll = true
    settings.knownUntil = request.knownUntil(after: nil)
    decider = options.rules.makeDecider(settings)
    reader = LineReader(options.vocabulary, maxLineBytes: options.ingest.maxLineBytes)
  }

  /// Reads stdin to its end.
  ///
  /// - Throws: the errors of ``take(_:)`` and ``finish()``, or ``CommandError`` if a read fails.
  package func run() throws {
    do {
      try unsafe FileDescriptor.forEachPiece(of: STDIN_FILENO, atMost: 1 << 17) { try unsafe take($0) }
    } catch let error as SystemError {
      throw CommandError(.inputOutput, "stdin: error: cannot be read: \(error)")
    }
    try finish()
  }

  /// Processes the next bytes, which may begin and end within lines.
  ///
  /// - Throws: ``OutputError``; ``StoreError`` for the temporary file.
  package func take(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = unsafe bytes.bindMemory(to: UInt8.self)
    while let base = rest.baseAddress, !rest.isEmpty {
      guard let feed = unsafe memchr(base, 0x0A, rest.count) else {
        unsafe keepPartial(rest)
        return
      }
      let end = unsafe UnsafeRawPointer(feed) - UnsafeRawPointer(base)
      let head = unsafe UnsafeBufferPointer(rebasing: rest[..<end])
      if partial.isEmpty {
        try unsafe take(line: head)
      } else {
        unsafe keepPartial(head)
        try takePartial()
      }
      unsafe rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
    }
  }

  /// Completes the last line and the last device.
  ///
  /// - Throws: the errors of ``take(_:)``, or ``CommandError`` for repeated devices once all events are written.
  package func finish() throws {
    if !partial.isEmpty { try takePartial() }
    try endDevice()
    try output.finish()
    try groups.refuseRepeated()
  }

  /// Keeps the start of a line, up to the number of bytes needed to recognize a line that is too long.
  private func keepPartial(_ bytes: UnsafeBufferPointer<UInt8>) {
    unsafe partial += bytes.prefix(max(0, options.ingest.maxLineBytes + 2 - partial.count))
  }

  private func takePartial() throws {
    let whole = partial
    partial = []
    try unsafe whole.withUnsafeBufferPointer { try unsafe take(line: $0) }
  }

  private func take(line bytes: UnsafeBufferPointer<UInt8>) throws {
    line += 1
    var whole = unsafe bytes
    if line == 1 { unsafe whole = UnsafeBufferPointer(rebasing: whole.dropFirst(whole.byteOrderMarkLength)) }
    if unsafe whole.last == 0x0D { unsafe whole = unsafe UnsafeBufferPointer(rebasing: whole.dropLast()) }
    guard let base = whole.baseAddress else { return }
    let text = unsafe Text(base: base, count: whole.count).trimmed
    guard !text.isEmpty else { return }
    counts.lines.read += 1
    let position = RecordPosition(file: 0, line: line)
    if let rejection = unsafe reader.read(whole, kind: kind, position: position, into: &head) {
      counts.lines.quarantined += 1
      counts.lines.reasons[rejection.reason, default: 0] += 1
      if counts.refusals.count < Self.shownRefusals {
        counts.refusals.append(
          FindingCause(reason: rejection.reason.rawValue, detail: rejection.detail, file: "stdin", line: line))
      }
      return
    }
    guard options.ingest.window.contains(head.timestamp) else {
      counts.lines.outOfWindow += 1
      return
    }
    if let device, unsafe !head.device.bytes.elementsEqual(device) { try endDevice() }
    if device == nil {
      device = unsafe Array(head.device.bytes)
      try groups.begin(head.device, at: line)
    }
    if records.keep(head, of: SourceLine(text: text, kind: kind, position: position), reader) {
      counts.lines.accepted += 1
    } else {
      counts.lines.duplicates += 1
    }
  }

  private func endDevice() throws {
    guard !records.isEmpty else { return }
    var batch = LocalBatch()
    try records.withRecords { device in
      try decider.begin(device.device, earlier: nil, isExplained: false)
      try decider.take(device.records, lookahead: nil)
      decider.finish()
      decider.end(into: &batch.devices)
      try decider.handOver(to: &batch, isLast: true)
      decider.core.closeSteps()
    }
    counts.devices += 1
    counts.held += batch.devices.last?.held ?? 0
    for series in batch.events {
      counts.events += series.eventCount
      for index in series.entries.indices {
        let events = try wireForm.reader(of: series.block(index))
        while try events.next() {
          events.appendJSON(to: &buffer)
          buffer.append(UInt8(ascii: "\n"))
        }
      }
    }
    try unsafe output.write(UnsafeRawBufferPointer(buffer.bytes))
    buffer.removeAll()
    device = nil
    records.removeAll()
  }
}

/// The starts of all groups in a stream; a group consists of consecutive lines of one device. Starts are spooled to a
/// temporary file, so any number is possible. Each is stored as an empty line with the device, for sorting, and the
/// line number as its emission number.
struct DeviceGroups {
  private let groups: OrderedLines
  private var series = LineSeries()

  init() throws { groups = try OrderedLines() }

  mutating func begin(_ device: Text, at line: UInt64) throws {
    series.add([], at: Instant(milliseconds: 0), device, Int64(line))
    if series.isFull { try groups.append(&series) }
  }

  /// Refuses a device whose records came in several groups, because each was processed as if it were complete.
  ///
  /// - Throws: ``CommandError`` for the first group whose device already had one.
  mutating func refuseRepeated() throws {
    try groups.append(&series)
    var first: OrderedLines.Line?
    var repeated: (line: Int64, first: Int64)?
    try groups.forEach { group in
      guard let begin = first, begin.device == group.device else { return first = group }
      if group.emission < repeated?.line ?? .max { repeated = (group.emission, begin.emission) }
    }
    guard let repeated else { return }
    throw CommandError(
      .inputRefused,
      "stdin:\(repeated.line): error: a device whose records began at line \(repeated.first) has more records here, after those of another device, so its "
        + "events are wrong. A stream must be grouped by device: sort it, or use 'run', which accepts any order")
  }
}
