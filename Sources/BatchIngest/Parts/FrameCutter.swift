import BatchFoundation

/// Splits a part into blocks of whole frames (``PartFrame``).
final class FrameCutter: BlockCutter {
  private let files: [InputFile]
  private let reader: PartReader
  private let blockBytes: Int
  private(set) var isDone = false
  private var reportedBytes: UInt64 = 0
  /// The start of a frame whose end has not been read.
  private let carry = LineBlock(capacity: 1 << 12)

  init(_ part: InputPart, of files: [InputFile], _ options: IngestOptions) {
    self.files = files
    reader = PartReader(part)
    blockBytes = options.blockBytes
  }

  func takeBytesRead() -> UInt64 {
    defer { reportedBytes = reader.bytesRead }
    return reader.bytesRead - reportedBytes
  }

  func fill(_ block: LineBlock) throws {
    block.begin(with: carry, of: files, blockBytes)
    (block.isPart, block.isFramed) = (true, true)
    while true {
      let count = try unsafe reader.read(into: block.room)
      block.count += count
      if count == 0 {
        guard try takeFrames(block) == block.count else { throw reader.damage }
        isDone = true
        return
      }
      guard block.count == block.capacity else { continue }
      let end = try takeFrames(block)
      if end > 0 {
        unsafe carry.hold(block.base + end, block.count - end, blockBytes)
        block.count = end
        return
      }
      // A corrupt length must not lead to a huge allocation.
      let bytes = unsafe UnsafeBufferPointer(start: UnsafePointer(block.base), count: block.count)
      guard unsafe PartFrame.length(bytes) <= UInt64(block.count) + reader.left else { throw reader.damage }
      block.resize(to: block.capacity * 2)
    }
  }

  /// Checks the frames of the block, collects their findings, and counts the records that maps left out.
  ///
  /// - Returns: the offset after the last whole frame.
  private func takeFrames(_ block: LineBlock) throws -> Int {
    let bytes = unsafe UnsafeBufferPointer(start: UnsafePointer(block.base), count: block.count)
    var end = 0
    while end < block.count, let frame = unsafe PartFrame(bytes, at: end) {
      guard frame.file < files.count else { throw reader.damage }
      switch frame.content {
      case .line: break
      case .finding:
        let path = files[Int(frame.file)].path.description
        guard let finding = unsafe frame.finding(bytes, path: path) else { throw reader.damage }
        block.findings.append(finding)
      case .leftOut:
        let reason = unsafe String(decoding: UnsafeBufferPointer(rebasing: bytes[frame.bytes]), as: UTF8.self)
        block.leftOut[reason, default: 0] += 1
      case .element: throw reader.damage
      }
      end = frame.bytes.upperBound
    }
    return end
  }
}

/// Reads the bytes of a part, slice after slice, and verifies each slice at its end.
private final class PartReader {
  private final class OpenSlice {
    let slice: InputPart.Slice
    private let file: OpenFile
    private var sum = CopySum()
    private(set) var left: UInt64

    init(_ slice: InputPart.Slice) throws(SystemError) {
      self.slice = slice
      left = slice.bytes
      file = try OpenFile(slice.path)
      try file.seek(to: slice.start)
    }

    /// - Returns: 0 at the end of the slice, or of the file if that comes first.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: left)))
      guard unsafe !room.isEmpty else { return 0 }
      let count = try unsafe file.read(into: room)
      unsafe sum.update(UnsafeRawBufferPointer(rebasing: room[..<count]))
      left -= UInt64(count)
      return count
    }

    var isWhole: Bool {
      let sum = sum
      return left == 0 && Hexadecimal.text(of: sum.finalize()).utf8.elementsEqual(slice.sum.utf8)
    }
  }

  private let slices: [InputPart.Slice]
  private var next = 0
  private var open: OpenSlice?
  private(set) var bytesRead: UInt64 = 0
  /// The number of bytes still expected.
  private(set) var left: UInt64

  init(_ part: InputPart) {
    slices = part.slices
    left = part.size
  }

  /// The error to throw if the current slice differs from the data that was written.
  var damage: CommandError {
    .damagedCopy(slices[max(0, next - 1)].path.description)
  }

  /// Reads bytes into `buffer`, which must not be empty.
  ///
  /// - Returns: 0 at the end.
  /// - Throws: `CommandError.damagedCopy`, ``IngestFailure``.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      do {
        if let slice = open {
          let count = try unsafe slice.read(into: buffer)
          bytesRead += UInt64(count)
          left -= UInt64(count)
          if count > 0 { return count }
          guard slice.isWhole else { throw damage }
          open = nil
        }
        guard next < slices.count else { return 0 }
        next += 1
        open = try OpenSlice(slices[next - 1])
      } catch let error as SystemError {
        throw IngestFailure(operation: "read", path: slices[next - 1].path.description, code: error.code)
      }
    }
  }
}
