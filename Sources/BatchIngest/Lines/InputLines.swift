package import BatchFoundation
import Glibc

/// A line of an input, looked up by its number.
package struct InputLine: Sendable, Equatable {
  package var number: UInt64
  /// The offset of the line's first byte in the (inflated) file.
  package var offset: UInt64
  /// The line without its line ending or the file's byte order mark; truncated to the requested limit.
  package var bytes: [UInt8]

  package init(number: UInt64, offset: UInt64, bytes: [UInt8]) {
    (self.number, self.offset, self.bytes) = (number, offset, bytes)
  }
}

extension InputFiles {
  /// Rereads individual lines, for data that records do not carry. Lines that no longer exist are skipped.
  ///
  /// - Parameter body: receives the index of the file and the line, file after file or in the order of the part.
  /// - Throws: ``IngestFailure``, ``InputChanged``, or what `body` throws.
  package func forEachLine(
    at positions: Set<RecordPosition>, _ options: IngestOptions, _ body: (UInt32, InputLine) throws -> Void
  ) throws {
    guard part == nil else { return try forEachCutLine(at: positions, options) { try body($0, $1) } }
    for (file, positions) in Dictionary(grouping: positions, by: \.file).sorted(by: { $0.key < $1.key }) {
      if files[Int(file)].map == nil {
        try files[Int(file)].forEachLine(of: positions.map(\.line).sorted(), longest: options.maxLineBytes) {
          try body(file, $0)
        }
      } else {
        let one = InputFiles(files: [files[Int(file)]])
        let places = Set(positions.map { RecordPosition(file: 0, line: $0.line) })
        try one.forEachCutLine(at: places, options) { try body(file, $1) }
      }
    }
  }

  /// Rereads lines that are not literally lines of a file: those of a part, and foreign records.
  private func forEachCutLine(
    at positions: Set<RecordPosition>, _ options: IngestOptions, _ body: (UInt32, InputLine) throws -> Void
  ) throws {
    let source = LineSource(self, options, inOrder: true) {}
    let block = LineBlock(capacity: options.blockBytes)
    while try source.next(block) != nil {
      var lines = BlockLines(block)
      while let line = lines.next() {
        guard positions.contains(RecordPosition(file: line.file, line: line.number)) else { continue }
        try body(line.file, unsafe InputLine(number: line.number, offset: line.offset, bytes: Array(line.bytes)))
      }
    }
  }
}

extension InputFile {
  /// Rereads individual lines for their bytes and offsets, which records do not carry.
  ///
  /// Each call reads the file once from its start, so request all lines at once. Lines that the file does not have are
  /// skipped.
  ///
  /// - Parameters:
  ///   - numbers: the line numbers, ascending.
  ///   - longest: the maximum number of bytes kept per line.
  ///   - body: receives the lines found, in order.
  /// - Throws: ``IngestFailure``, ``InputChanged``, or what `body` throws.
  package func forEachLine(
    of numbers: [UInt64], longest: Int, _ body: (InputLine) throws -> Void
  ) throws {
    let reader = try FileReader(self)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
    defer { unsafe buffer.deallocate() }
    var wanted = numbers[...]
    var line = InputLine(number: 1, offset: 0, bytes: [])
    var offset: UInt64 = 0
    while !wanted.isEmpty {
      let count = try unsafe reader.read(into: buffer)
      guard count > 0 else { break }
      var rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
      while let start = rest.baseAddress, unsafe !rest.isEmpty, let next = wanted.first {
        let feed = unsafe memchr(start, 0x0A, rest.count).map { unsafe UnsafeRawPointer($0) - start }
        let end = feed ?? rest.count
        if next == line.number { unsafe line.bytes += rest.prefix(min(end, max(longest + 4 - line.bytes.count, 0))) }
        guard feed != nil else {
          offset += UInt64(end)
          break
        }
        offset += UInt64(end) + 1
        if next == line.number {
          try body(line.trimmed(to: longest))
          wanted = wanted.drop { $0 == line.number }
        }
        line = InputLine(number: line.number + 1, offset: offset, bytes: [])
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
      }
    }
    // The last line of a file counts even without a line feed, unless damage truncated it.
    if wanted.first == line.number, !line.bytes.isEmpty, reader.fault == nil { try body(line.trimmed(to: longest)) }
  }
}

extension InputLine {
  fileprivate func trimmed(to longest: Int) -> InputLine {
    var line = self
    if line.offset == 0 {
      let mark = line.bytes.byteOrderMarkLength
      line.bytes.removeFirst(mark)
      line.offset = UInt64(mark)
    }
    if line.bytes.last == 0x0D { line.bytes.removeLast() }
    line.bytes.removeLast(max(0, line.bytes.count - longest))
    return line
  }
}
