import BatchFoundation
import Testing

@testable import BatchIngest

@Suite("Line ends") struct LineEndsTests {
  @Test("They are where they are, at every distance from the ends of what is looked at together", arguments: 0..<50)
  func places(count: Int) {
    for first in 0...count {
      var bytes = [UInt8](repeating: 0x61, count: count)
      for place in [first, first + 1, first + 17] where place < count { bytes[place] = 0x0A }
      var ends = LineEnds()
      bytes.withUnsafeBufferPointer { text in
        if let base = text.baseAddress { ends.find(in: base, count) }
      }
      let wanted = bytes.indices.filter { bytes[$0] == 0x0A }
      let found = (0...wanted.count).map { ends.place(of: $0) }
      let (all, areOfASCII) = (ends.count, ends.areOfASCII)
      #expect(all == wanted.count)
      #expect(found == wanted + [nil])
      #expect(count == 0 || areOfASCII)
    }
  }

  @Test("One byte beyond ASCII is seen wherever it stands", arguments: 1..<50) func bytesBeyondASCII(count: Int) {
    for place in 0..<count {
      var bytes = [UInt8](repeating: 0x7F, count: count)
      bytes[place] = 0x80
      var ends = LineEnds()
      bytes.withUnsafeBufferPointer { text in
        if let base = text.baseAddress { ends.find(in: base, count) }
      }
      let areOfASCII = ends.areOfASCII
      #expect(!areOfASCII)
    }
  }

  @Test("A block of more lines than have a place is cut into the same lines") func manyLines() throws {
    let folder = try ScratchFolder()
    let lines = 40_000
    try folder.write("a", String(repeating: "\n", count: lines) + launch("x", 1))
    let harvest = try harvest([.events: ["a"]], in: folder) { $0.blockBytes = 1 << 16 }
    #expect(harvest.records == ["x 1000 0 a:\(lines + 1) launch -"])
  }
}
