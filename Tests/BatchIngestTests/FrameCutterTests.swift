import BatchFoundation
import TestSupport
import Testing

@testable import BatchIngest

/// Parts are proved while they are read: what comes to the end of one has read what was written.
@Suite("Reading of parts") struct FrameCutterTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private static func text(_ line: Int) -> String { String(repeating: "line \(line) ", count: 1 + line % 40) }

  private static func frames(_ lines: Range<Int>) -> [UInt8] {
    var buffer = ByteBuffer()
    for line in lines {
      unsafe Array(text(line).utf8).withUnsafeBufferPointer {
        unsafe PartFrame.append($0, file: 0, line: UInt64(line), offset: UInt64(line), to: &buffer)
      }
    }
    return buffer.array
  }

  private func slice(_ path: String, from start: Int, _ bytes: [UInt8]) -> InputPart.Slice {
    InputPart.Slice(
      path: FilePath(path), start: UInt64(start), bytes: UInt64(bytes.count),
      sum: Hexadecimal.text(of: CopySum.hash(bytes)))
  }

  private func read(_ slices: [InputPart.Slice], into block: LineBlock = LineBlock(capacity: 256)) throws -> [String] {
    var files = InputFiles.none
    files.files = [InputFile(path: FilePath("export"), kind: .events, size: 0)]
    files.part = InputPart(slices: slices, numbers: [1])
    var options = IngestOptions.test(temporaryFolder: folder.path)
    options.blockBytes = 256
    let source = LineSource(files, options, inOrder: true) {}
    var found: [String] = []
    while try source.next(block) != nil {
      var lines = BlockLines(block)
      while let line = lines.next() {
        found.append("\(line.number) \(unsafe String(decoding: line.bytes, as: UTF8.self))")
      }
    }
    return found
  }

  @Test("Slices are read one behind the other, and nothing of what stands around them")
  func joined() throws {
    let (one, two) = (Self.frames(0..<100), Self.frames(100..<250))
    let first = try folder.write("one", one)
    let second = try folder.write("two", Self.frames(0..<3) + two + [0xFF])
    let slices = [
      slice(first, from: 0, one), slice(first, from: one.count, []),
      slice(second, from: Self.frames(0..<3).count, two),
    ]
    #expect(try read(slices) == (0..<250).map { "\($0) \(Self.text($0))" })
    #expect(try read([]) == [])
  }

  @Test("A byte that is another, one that is missing and a digest of other bytes end the reading")
  func damaged() throws {
    let (good, whole) = (Self.frames(0..<10), Self.frames(10..<30))
    let before = slice(try folder.write("good", good), from: 0, good)
    let path = try folder.write("part", whole)
    let slice = slice(path, from: 0, whole)
    #expect(try read([before, slice]).count == 30)
    for at in 0..<whole.count {
      var bytes = whole
      bytes[at] ^= 1 << UInt8(at % 8)
      try folder.write("part", bytes)
      #expect(throws: CommandError.damagedCopy(path), "byte \(at)") { try read([before, slice]) }
    }
    for count in [0, 1, whole.count - 1] {
      try folder.write("part", Array(whole[..<count]))
      #expect(throws: CommandError.damagedCopy(path), "\(count) bytes") { try read([before, slice]) }
    }
    try folder.write("part", whole)
    var other = slice
    other.sum = before.sum
    #expect(throws: CommandError.damagedCopy(path)) { try read([other, before]) }
  }

  /// The sum of such a slice is right; who wrote it, or says where it ends, was wrong.
  @Test("Slices that end within a line end the reading")
  func cutLine() throws {
    let (good, whole) = (Self.frames(0..<10), Self.frames(10..<12))
    let before = slice(try folder.write("good", good), from: 0, good)
    let path = try folder.write("part", whole)
    #expect(try read([before, slice(path, from: 0, Self.frames(10..<11))]).count == 11)
    for count in 1..<whole.count where count != Self.frames(10..<11).count {
      #expect(throws: CommandError.damagedCopy(path), "\(count) bytes") {
        try read([before, slice(path, from: 0, Array(whole[..<count]))])
      }
    }
  }

  @Test("A length that is none asks for no memory")
  func absurdLength() throws {
    // A file, a line, an offset, and a length of 2^40 bytes.
    var bytes: [UInt8] = [0, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]
    bytes += [UInt8](repeating: 0x20, count: 4 << 20)
    let path = try folder.write("part", bytes)
    let block = LineBlock(capacity: 256)
    #expect(throws: CommandError.damagedCopy(path)) { try read([slice(path, from: 0, bytes)], into: block) }
    #expect(block.capacity == 256)
  }

  /// Short numbers are read at once, and others one by one.
  @Test("Numbers of a frame are those that were written, whatever their length and wherever the block ends")
  func numbers() throws {
    var random = SplitMix64(seed: 51)
    func number(_ bits: Int) -> UInt64 { bits == 0 ? 0 : random.next() >> UInt64(64 - bits) }
    for round in 0..<3000 {
      let longest = [7, 21, 35, 64][round % 4]
      let file = UInt32(truncatingIfNeeded: number(Int.random(in: 0...min(longest, 32), using: &random)))
      let line = number(Int.random(in: 0...longest, using: &random))
      let offset = number(Int.random(in: 0...longest, using: &random))
      let element = round % 5 == 0 ? UInt16.random(in: 0...9, using: &random) : 0
      let text = [UInt8](repeating: 0xC3, count: Int.random(in: 0...300, using: &random))
      var buffer = ByteBuffer()
      buffer.append(0x80)
      unsafe text.withUnsafeBufferPointer {
        unsafe PartFrame.append($0, file: file, line: line, offset: offset, element: element, to: &buffer)
      }
      let end = buffer.count
      // What comes behind it is no part of it.
      let behind = Int.random(in: 0...30, using: &random)
      let bytes = buffer.array + [UInt8](repeating: UInt8(round & 0xFF), count: behind)
      for count in [end - 1, end, bytes.count] {
        unsafe bytes.withUnsafeBufferPointer {
          let frame = unsafe PartFrame(UnsafeBufferPointer(rebasing: $0[..<count]), at: 1)
          guard count >= end else { return #expect(frame == nil) }
          #expect(frame?.file == file && frame?.line == line && frame?.offset == offset)
          #expect(frame?.element == element && frame?.content == .line)
          #expect(frame?.bytes == (end - text.count)..<end)
        }
      }
    }
  }
}
