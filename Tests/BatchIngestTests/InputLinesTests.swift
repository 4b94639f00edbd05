import BatchFoundation
import BatchIngest
import Testing

@Suite struct InputLinesTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func lines(_ numbers: [UInt64], of text: String, longest: Int = 100) throws -> [InputLine] {
    let path = try scratch.write("f", Array(text.utf8))
    var found: [InputLine] = []
    try InputFile(path: FilePath(path), kind: .events, size: 0)
      .forEachLine(of: numbers, longest: longest) { found.append($0) }
    return found
  }

  private func line(_ number: UInt64, _ offset: UInt64, _ text: String) -> InputLine {
    InputLine(number: number, offset: offset, bytes: Array(text.utf8))
  }

  @Test func findsLinesByTheirNumbers() throws {
    let text = "\u{FEFF}one\r\n\ntwo\nthree"
    #expect(
      try lines([1, 3, 4, 9], of: text) == [line(1, 3, "one"), line(3, 9, "two"), line(4, 13, "three")])
    #expect(try lines([2], of: text) == [line(2, 8, "")])
    #expect(try lines([], of: text) == [])
    #expect(try lines([1], of: "") == [])
  }

  @Test func cutsLongLines() throws {
    let long = String(repeating: "x", count: 300_000)
    #expect(
      try lines([1, 2], of: long + "\nend\n", longest: 5) == [line(1, 0, "xxxxx"), line(2, 300_001, "end")])
  }
}
