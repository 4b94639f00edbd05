package import BatchFoundation
internal import CBytes

@safe package struct BlockLine {
  /// The line without its line ending; not empty.
  var bytes: UnsafeBufferPointer<UInt8>
  var file: UInt32
  package var kind: InputKind
  var number: UInt64
  /// The offset of the line's first byte in the (inflated) file.
  var offset: UInt64
  /// The line's bytes in the file; for a line written by a map, those of the foreign record.
  var raw: UnsafeBufferPointer<UInt8>
  /// Whether the bytes are known to be ASCII.
  var isASCII = false
  /// The line's content if it is already parsed; nil if it must be read from the bytes.
  var values: JSONView?
  /// For a line written by a map: its index among the lines of its record; ``rule`` is the rule that wrote it.
  var element: UInt16 = 0
  var rule = 0
  var isMapped = false
}

extension BlockLine {
  /// The line without white space at either end; empty for a blank line.
  @inline(__always)
  package var text: Text {
    unsafe Text(bytes).trimmed
  }

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

/// An iterator over the lines of a block; empty lines are skipped.
@safe struct BlockLines {
  private let block: LineBlock
  private let base: UnsafePointer<UInt8>
  private let count: Int
  private var at: Int
  private var line: UInt64
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

/// Returns the offset after the last line feed; 0 if there is none.
func endOfLastLine(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int {
  var end = count
  while end > 0, unsafe base[end - 1] != 0x0A { end -= 1 }
  return end
}

@safe struct LineEnds: ~Copyable {
  /// The maximum number of line feeds whose places are kept, enough for a block of short lines; others are searched for
  /// while reading.
  private static let room = 1 << 14

  private var places: UnsafeMutablePointer<UInt32>?
  private var known = 0
  /// The number of line feeds in the block, including those whose places are not kept.
  private(set) var count = 0
  /// Whether all bytes are ASCII, so that no check for UTF-8 is needed.
  private(set) var areOfASCII = false

  deinit { unsafe places?.deallocate() }

  mutating func removeAll() { (known, count, areOfASCII) = (0, 0, false) }

  mutating func find(in base: UnsafePointer<UInt8>, _ bytes: Int) {
    let places = unsafe self.places ?? .allocate(capacity: Self.room)
    unsafe self.places = places
    var isASCII: Int32 = 0
    count = unsafe engage_find_line_feeds(base, bytes, places, Self.room, &isASCII)
    known = min(count, Self.room)
    areOfASCII = isASCII != 0
  }

  /// Returns the place of a line feed, numbered from 0; nil if its place is not kept.
  @inline(__always)
  func place(of number: Int) -> Int? {
    guard number < known, let places = unsafe places else { return nil }
    return unsafe Int(places[number])
  }
}

/// Counts the line feeds. It is in C because the C compiler vectorizes the loop.
func countLineFeeds(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int { unsafe engage_count_line_feeds(base, count) }
