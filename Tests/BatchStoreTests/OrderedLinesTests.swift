import BatchFoundation
import BatchStore
import Testing

@Suite struct OrderedLinesTests {
  private struct Line: Equatable {
    var at: Int64
    var device: String
    var side: Int
    var emission: Int64
    var text: String

    static func precedes(_ one: Line, _ other: Line) -> Bool {
      if one.at != other.at { return one.at < other.at }
      if one.device != other.device { return one.device.utf8.lexicographicallyPrecedes(other.device.utf8) }
      return (one.side, one.emission) < (other.side, other.emission)
    }
  }

  @Test(
    "Lines of several series come by time, device, side and emission number, equal ones as they came", arguments: 1...9)
  func order(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let lines = try OrderedLines()
    var expected: [Line] = []
    for number in 0..<Int.random(in: 0...5, using: &random) {
      var series = LineSeries()
      for index in 0..<Int.random(in: 0...200, using: &random) {
        let line = Line(
          at: Int64.random(in: 0...4, using: &random),
          device: ["", "D", "D\0", "ä", "d"].randomElement(using: &random) ?? "",
          side: Int.random(in: 0...1, using: &random), emission: Int64.random(in: 0...9, using: &random),
          text: index % 7 == 0 ? "" : "\(number).\(index)")
        expected.append(line)
        Array(line.device.utf8).withText {
          series.add(line.text.utf8, at: Instant(milliseconds: line.at), $0, line.emission, side: line.side)
        }
      }
      try lines.append(&series)
      try lines.append(&series)
    }
    var found: [Line] = []
    try lines.forEach {
      found.append(
        Line(
          at: $0.timestamp.milliseconds, device: String(decoding: $0.device, as: UTF8.self), side: $0.side,
          emission: $0.emission, text: String(decoding: $0.bytes, as: UTF8.self)))
    }
    #expect(found == expected.sorted(by: Line.precedes))
  }

  @Test("A series is full once its lines have four million bytes, and empty when they were added")
  func fullSeries() throws {
    let lines = try OrderedLines()
    var series = LineSeries()
    for number in 0..<5 {
      #expect(!series.isFull)
      series.add(Array(repeating: 0x61, count: 1 << 20), at: Instant(milliseconds: 0), .empty, Int64(number))
    }
    #expect(series.isFull)
    try lines.append(&series)
    #expect(!series.isFull)
    var sizes: [Int] = []
    try lines.forEach { sizes.append($0.bytes.count) }
    #expect(sizes == Array(repeating: 1 << 20, count: 5))
  }
}
