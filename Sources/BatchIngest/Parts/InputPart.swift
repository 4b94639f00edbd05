package import BatchFoundation
import CBytes

/// A part of an export, as a partition wrote it: lines from many files in one file, each with its place.
package struct InputPart: Sendable, Equatable {
  /// Consecutive whole frames in a file.
  package struct Slice: Sendable, Equatable {
    package var path: FilePath
    /// The offset of the first byte.
    package var start: UInt64
    package var bytes: UInt64
    /// The ``CopySum`` of the slice's bytes, in hexadecimal.
    package var sum: String

    package init(path: FilePath, start: UInt64, bytes: UInt64, sum: String) {
      (self.path, self.start, self.bytes, self.sum) = (path, start, bytes, sum)
    }
  }

  /// The slices, in the order of their lines.
  package var slices: [Slice]
  /// The numbers under which stores know the files of the export.
  package var numbers: [UInt32]

  package init(slices: [Slice], numbers: [UInt32]) {
    (self.slices, self.numbers) = (slices, numbers)
  }

  /// The total size in bytes.
  package var size: UInt64 { slices.reduce(0) { $0 + $1.bytes } }
}

extension CommandError {
  /// Returns the error for a file in a partition or a result whose bytes differ from those written.
  package static func damagedCopy(_ path: String) -> CommandError {
    CommandError(
      .inputOutput, "\(path.printable): error: the file was changed or damaged; nothing was kept. Copy it again")
  }
}

/// A line of an export within a part, with its original place.
///
///     frame   = file, line, offset, length << 2 | content, bytes
///     finding = kind + 1 or 0, reason length, reason, detail length, detail, raw bytes
///
/// All numbers are varints. `file` is an index into the files of the manifest; the bytes are those of the line without
/// its line ending. A finding is a fault found while reading, such as a line that is too long or a damaged file, or a
/// refusal by a map; it is quarantined unchanged. For a line that a map wrote, the first two bytes hold its index among
/// the lines of its foreign record. For a record that a map left out, the bytes are the reason.
struct PartFrame {
  enum Content: UInt64 {
    case line, finding, leftOut, element
  }

  var file: UInt32
  var line: UInt64
  var offset: UInt64
  var content: Content
  /// For a line that a map wrote, its index among the lines of its foreign record.
  var element: UInt16 = 0
  var isMapped = false
  /// The range of its bytes, as offsets in the block.
  var bytes: Range<Int>

  /// Reads the frame that begins at `start`; nil if the block ends within it.
  @inline(__always)
  init?(_ block: UnsafeBufferPointer<UInt8>, at start: Int) {
    guard let head = unsafe Head(block, at: start), let content = Content(rawValue: head.length & 3) else { return nil }
    file = UInt32(truncatingIfNeeded: head.file)
    line = head.line
    offset = head.offset
    self.content = content
    bytes = head.end..<head.end + Int(head.length >> 2)
    guard content == .element, bytes.count >= 2 else { return }
    self.content = .line
    isMapped = true
    element = unsafe UInt16(block[head.end]) << 8 | UInt16(block[head.end + 1])
    bytes = (head.end + 2)..<bytes.upperBound
  }

  private struct Head {
    var (file, line, offset, length): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    var end: Int

    /// Reads the numbers; nil if the block ends before the frame does.
    @inline(__always)
    init?(_ block: UnsafeBufferPointer<UInt8>, at start: Int) {
      end = start
      // Nearly all numbers are short enough to be read at once.
      if block.count - start >= 24, let base = block.baseAddress {
        unsafe end += engage_read_varints(base + start, &file, &line, &offset, &length)
      }
      if end == start {
        guard let file = unsafe PartFrame.number(block, &end), let line = unsafe PartFrame.number(block, &end),
          let offset = unsafe PartFrame.number(block, &end), let length = unsafe PartFrame.number(block, &end)
        else { return nil }
        (self.file, self.line, self.offset, self.length) = (file, line, offset, length)
      }
      guard length >> 2 <= UInt64(block.count - end) else { return nil }
    }
  }

  /// Returns the declared length of an incomplete first frame; the length of the block if its numbers are incomplete.
  static func length(_ block: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var at = 0
    for _ in 0..<3 where unsafe number(block, &at) == nil { return UInt64(block.count) }
    guard let head = unsafe number(block, &at) else { return UInt64(block.count) }
    return UInt64(at) + head >> 2
  }

  static func append(
    _ bytes: UnsafeBufferPointer<UInt8>, file: UInt32, line: UInt64, offset: UInt64, element: UInt16? = nil,
    to target: inout ByteBuffer
  ) {
    if let element {
      append(file, line, offset, length: bytes.count + 2, .element, to: &target)
      target.append(UInt8(element >> 8))
      target.append(UInt8(element & 0xFF))
    } else {
      append(file, line, offset, length: bytes.count, .line, to: &target)
    }
    unsafe target.append(bytes)
  }

  static func append(leftOut reason: String, file: UInt32, line: UInt64, offset: UInt64, to target: inout ByteBuffer) {
    let bytes = Array(reason.utf8)
    append(file, line, offset, length: bytes.count, .leftOut, to: &target)
    unsafe bytes.withUnsafeBufferPointer { unsafe target.append($0) }
  }

  static func append(_ finding: QuarantinedLine, file: UInt32, to target: inout ByteBuffer) {
    var body = ByteBuffer(capacity: finding.raw.count + 64)
    body.append(varint: finding.kind.map { UInt64($0.rawValue) + 1 } ?? 0)
    for text in [Array(finding.reason.rawValue.utf8), Array(finding.detail.utf8)] {
      body.append(varint: UInt64(text.count))
      unsafe text.withUnsafeBufferPointer { unsafe body.append($0) }
    }
    unsafe finding.raw.withUnsafeBufferPointer { unsafe body.append($0) }
    append(file, finding.line, finding.offset, length: body.count, .finding, to: &target)
    unsafe target.append(body.bytes)
  }

  private static func append(
    _ file: UInt32, _ line: UInt64, _ offset: UInt64, length: Int, _ content: Content, to target: inout ByteBuffer
  ) {
    target.append(varint: UInt64(file))
    target.append(varint: line)
    target.append(varint: offset)
    target.append(varint: UInt64(length) << 2 | content.rawValue)
  }

  /// - Parameter path: the path of the file with the finding.
  /// - Returns: nil for bytes that no partition would write.
  func finding(_ block: UnsafeBufferPointer<UInt8>, path: String) -> QuarantinedLine? {
    let own = unsafe UnsafeBufferPointer(rebasing: block[bytes])
    var at = 0
    guard let kind = unsafe Self.number(own, &at), let name = unsafe Self.text(own, &at),
      let reason = QuarantineReason(rawValue: name), let detail = unsafe Self.text(own, &at)
    else { return nil }
    return unsafe QuarantinedLine(
      file: path, line: line, offset: offset, reason: reason, detail: detail, raw: Array(own[at...]),
      kind: kind == 0 ? nil : InputKind(rawValue: UInt8(truncatingIfNeeded: kind - 1)))
  }

  private static func text(_ block: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> String? {
    guard let count = unsafe number(block, &at), count <= UInt64(block.count - at) else { return nil }
    defer { at += Int(count) }
    return unsafe String(decoding: block[at..<at + Int(count)], as: UTF8.self)
  }

  @inline(__always)
  private static func number(_ block: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while at < block.count, shift < 64 {
      let byte = unsafe block[at]
      at += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return value }
      shift += 7
    }
    return nil
  }
}
