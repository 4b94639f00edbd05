package import BatchFoundation
import Glibc

/// A line in a block, where it stood, and what it was read as.
@safe package struct BlockLine {
  /// Without the line end; not empty.
  var bytes: UnsafeBufferPointer<UInt8>
  var file: UInt32
  package var kind: InputKind
  /// From 1.
  var number: UInt64
  /// Of its first byte in the (inflated) file.
  var offset: UInt64
  /// What stood in the file; for a line that a map wrote, the foreign record.
  var raw: UnsafeBufferPointer<UInt8>
  /// Whether that is known of the bytes.
  var isASCII = false
  /// What it holds, where it need not be read for that.
  var values: JSONView?
  /// Of a line that a map wrote: its number among those of its record, and the rule.
  var element: UInt16 = 0
  var rule = 0
  var isMapped = false
}

extension BlockLine {
  /// Without white space at both ends; empty for a blank line.
  @inline(__always)
  package var text: Text {
    guard let base = unsafe bytes.baseAddress else { return .empty }
    return unsafe Text(base: base, count: bytes.count).trimmed
  }

  /// The bytes of it that a quarantine keeps.
  func quarantined(_ rejection: Rejection, _ block: LineBlock) -> QuarantinedLine {
    let file = block.files[Int(file)]
    let short = block.warnings(of: number).first { $0.warning.kind == LineWarning.shortRowKind }?.warning.detail
    let raw = unsafe Array(
      rejection.reason == .lineTooLong ? self.raw.prefix(LineSource.keptOfLongLine) : self.raw[...])
    return QuarantinedLine(
      file: file.path.description, line: number, offset: offset, reason: rejection.reason,
      detail: block.isPart
        ? rejection.detail
        : (file.map?.map.detail(of: rejection, rule: rule, record: raw) ?? rejection.detail)
          + (short.map { ": \($0)" } ?? ""),
      raw: raw, kind: kind)
  }
}

/// Walks through the lines of a block, blank ones left out.
@safe struct BlockLines {
  private let block: LineBlock
  private let base: UnsafePointer<UInt8>
  private let count: Int
  private var at: Int
  private var line: UInt64
  /// Line feeds so far.
  private var passed = 0

  init(_ block: LineBlock) {
    self.block = block
    unsafe base = UnsafePointer(block.base)
    count = block.count
    at = block.markLength
    line = block.firstLine
  }

  @inline(__always)
  mutating func next() -> BlockLine? { block.isFramed ? nextFrame() : nextLine() }

  @inline(__always)
  private mutating func nextLine() -> BlockLine? {
    while at < count {
      var end = count
      if let known = block.ends.place(of: passed) {
        end = known
      } else if let feed = unsafe memchr(base + at, 0x0A, count - at) {
        end = unsafe UnsafeRawPointer(feed) - UnsafeRawPointer(base)
      }
      defer {
        at = end + 1
        line += 1
        passed += 1
      }
      var last = end
      if last > at, unsafe base[last - 1] == 0x0D { last -= 1 }
      guard last > at else { continue }
      let bytes = unsafe UnsafeBufferPointer(start: base + at, count: last - at)
      return unsafe BlockLine(
        bytes: bytes, file: block.file, kind: block.kind, number: line, offset: block.offset + UInt64(at), raw: bytes,
        isASCII: block.ends.areOfASCII)
    }
    return nil
  }

  private mutating func nextFrame() -> BlockLine? {
    let bytes = unsafe UnsafeBufferPointer(start: base, count: count)
    while at < count, let frame = unsafe PartFrame(bytes, at: at) {
      at = frame.bytes.upperBound
      guard frame.content == .line else { continue }
      let own = unsafe UnsafeBufferPointer(rebasing: bytes[frame.bytes])
      return unsafe BlockLine(
        bytes: own, file: frame.file, kind: block.files[Int(frame.file)].kind, number: frame.line, offset: frame.offset,
        raw: own, element: frame.element, isMapped: frame.isMapped)
    }
    return nil
  }
}
