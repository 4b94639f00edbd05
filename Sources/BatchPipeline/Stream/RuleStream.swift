package import BatchFoundation
import BatchIngest
import BatchStore
import EngageRules
import Glibc

/// What a stream of records came to.
package struct StreamCounts: Sendable, Equatable {
  package var read = 0
  package var accepted = 0
  package var duplicates = 0
  package var outOfWindow = 0
  package var quarantined = 0
  package var reasons: [QuarantineReason: Int] = [:]
  package var devices = 0
  package var events = 0
  /// Events that wait for a user id or a sample, which a stream does not keep.
  package var held = 0
}

/// The rules alone: lines grouped by device in, events in the canonical form out, device by device.
///
/// Nothing is kept between devices, so memory is that of the largest device; a device whose lines come in two groups is two
/// devices to it.
package final class RuleStream {
  private let options: LocalStage.Options
  private let kind: InputKind
  private let output: OutputFile
  private let arena = Arena()
  private let kept = KeptRecords()
  private var rules: DeviceRules
  private var decoder: RecordDecoder
  private var record: Record
  private var device: [UInt8]?
  private var line: UInt64 = 0
  private var partial: [UInt8] = []
  private var buffer = ByteBuffer(capacity: 1 << 16)
  package private(set) var counts = StreamCounts()

  /// - Parameter request: whose configuration, routes, window and end of time hold.
  /// - Parameter output: where events go; "-" is stdout.
  package init(_ request: RunRequest, kind: InputKind, output: String) throws {
    options = try Pipeline(request, monitor: SilentMonitor()).localOptions()
    self.kind = kind
    self.output = try OutputFile(output)
    rules = DeviceRules(settings: options.rules, links: options.links, asOf: options.asOf, arena: arena)
    decoder = RecordDecoder(maxLineBytes: options.ingest.maxLineBytes)
    record = Record(
      device: .empty, timestamp: Instant(milliseconds: 0), type: .launch, kind: kind,
      position: RecordPosition(file: 0, line: 0))
  }

  /// Reads stdin to its end.
  ///
  /// - Throws: ``OutputError``, or ``StreamInputError`` when the system refuses a read.
  package func run() throws {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
    defer { piece.deallocate() }
    while true {
      let count = read(STDIN_FILENO, piece.baseAddress, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw StreamInputError(code: errno) }
      guard count > 0 else { break }
      try take(UnsafeRawBufferPointer(rebasing: piece[..<count]))
    }
    try finish()
  }

  /// Takes the next bytes, whole lines or not.
  package func take(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes.bindMemory(to: UInt8.self)
    while let base = rest.baseAddress, !rest.isEmpty {
      guard let feed = memchr(base, 0x0A, rest.count) else {
        keepPartial(rest)
        return
      }
      let end = UnsafeRawPointer(feed) - UnsafeRawPointer(base)
      let head = UnsafeBufferPointer(rebasing: rest[..<end])
      if partial.isEmpty {
        try take(line: head)
      } else {
        keepPartial(head)
        try takePartial()
      }
      rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
    }
  }

  /// Ends the last line and the last device.
  package func finish() throws {
    if !partial.isEmpty { try takePartial() }
    try endDevice()
  }

  /// A line beyond the limit needs no more bytes to be refused.
  private func keepPartial(_ bytes: UnsafeBufferPointer<UInt8>) {
    partial += bytes.prefix(max(0, options.ingest.maxLineBytes + 2 - partial.count))
  }

  private func takePartial() throws {
    let whole = partial
    partial = []
    try whole.withUnsafeBufferPointer { try take(line: $0) }
  }

  private func take(line bytes: UnsafeBufferPointer<UInt8>) throws {
    line += 1
    var text = bytes
    if line == 1, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = UnsafeBufferPointer(rebasing: text.dropFirst(3)) }
    if text.last == 0x0D { text = UnsafeBufferPointer(rebasing: text.dropLast()) }
    guard text.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return }
    counts.read += 1
    let position = RecordPosition(file: 0, line: line)
    if let rejection = decoder.decode(text, kind: kind, position: position, into: &record) {
      counts.quarantined += 1
      counts.reasons[rejection.reason, default: 0] += 1
      return
    }
    guard options.ingest.window.contains(record.timestamp) else {
      counts.outOfWindow += 1
      return
    }
    if let device, !record.device.bytes.elementsEqual(device) { try endDevice() }
    if device == nil { device = Array(record.device.bytes) }
    if kept.keep(record, of: text) { counts.accepted += 1 } else { counts.duplicates += 1 }
  }

  private func endDevice() throws {
    guard let first = kept.records.first, let last = kept.records.last else { return }
    rules.begin(first.device, nil)
    rules.foresee(until: last.timestamp)
    for record in kept.records where record.type.isSample { rules.foresee(record) }
    for record in kept.records { rules.process(record) }
    rules.finish()
    counts.devices += 1
    counts.events += rules.output.events.count
    counts.held += rules.state.heldCount
    for event in rules.output.events.sorted(by: Event.precedes) {
      EventJSON.append(event, to: &buffer)
      buffer.append(UInt8(ascii: "\n"))
    }
    try output.write(UnsafeRawBufferPointer(buffer.bytes))
    buffer.removeAll()
    rules.output = RuleOutput()
    rules.state = DeviceState(device: .empty)
    device = nil
    kept.removeAll()
    arena.reset()
  }
}

/// Stdin cannot be read.
package struct StreamInputError: Error, Equatable, CustomStringConvertible {
  package var code: Int32

  package var description: String { "stdin: error: cannot be read: \(String(cString: strerror(code)))" }
}

/// Nobody is told anything.
struct SilentMonitor: RunMonitor {
  func note(_ text: String) {}
  func progress(_ progress: IngestProgress, of total: UInt64) {}
  func delivered(_ events: Int) {}
}
