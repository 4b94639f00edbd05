import BatchFoundation
import BatchStore
import Testing

@testable import BatchPipeline

@Suite("Lines of events, made by several threads") struct EventLinesTests {
  private static func precedes(_ one: Line, _ other: Line) -> Bool {
    if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
    if one.device != other.device { return one.device.utf8.lexicographicallyPrecedes(other.device.utf8) }
    return one.emission < other.emission
  }

  /// Series of lines, some longer than what a thread makes at once.
  private func recorded(_ seed: UInt64, series count: ClosedRange<Int> = 0...11) -> [[Line]] {
    var random = SplitMix64(seed: seed)
    return (0..<Int.random(in: count, using: &random)).map { number in
      (0..<Int.random(in: 0...400, using: &random)).map { index in
        Line(
          timestamp: Int64.random(in: 0...90, using: &random), device: "D\(Int.random(in: 0...9, using: &random))",
          emission: Int64(index),
          text: "\(number).\(index) " + String(repeating: "x", count: Int.random(in: 0...2000, using: &random)))
      }.sorted(by: Self.precedes)
    }
  }

  private func sequences(_ recorded: [[Line]]) -> [BlockSequence] {
    recorded.map { lines in
      var blocks = Line.blocks(of: lines)[...]
      return { blocks.popFirst() }
    }
  }

  @Test(
    "They come in the order of time, device, emission and series, whatever the number of threads", arguments: 1...12)
  func order(seed: UInt64) throws {
    let recorded = recorded(seed)
    let window = DeliveryWindow(after: Instant(milliseconds: 20), before: Instant(milliseconds: 80))
    for (shares, workers) in [(1, 1), (1, 4), (2, 2), (5, 1), (5, 3), (16, 16)] {
      for window in [nil, window] {
        var text: [UInt8] = []
        let made = try EventLines(
          [EventSelection(sequences: sequences(recorded), window: window)], wireForm: .lines, shares: shares)
        try made.run(workers: workers) { text += $0 }
        // Sorting is stable, so equal lines keep the order of their series.
        let expected = recorded.joined().filter { window?.contains(Instant(milliseconds: $0.timestamp)) ?? true }
          .sorted(by: Self.precedes).map { $0.text + "\n" }.joined()
        #expect(text == Array(expected.utf8), "\(shares) shares, \(workers) threads")
      }
    }
  }

  private struct Full: Error {}

  @Test("A reader or a taker that fails ends all threads, and its error is thrown", arguments: [1, 2, 8])
  func failures(workers: Int) throws {
    let recorded = recorded(3, series: 9...9)
    try #require(recorded.joined().count > 900)
    let full = try EventLines(
      [EventSelection(sequences: sequences(recorded))], wireForm: .lines, shares: workers)
    #expect(throws: Full.self) { try full.run(workers: workers) { _ in throw Full() } }
    var sequences = sequences(recorded)
    var blocks = 0
    let whole = sequences[1]
    sequences[1] = {
      blocks += 1
      if blocks == 3 { throw StoreError.damagedBlock }
      return try whole()
    }
    let damaged = try EventLines(
      [EventSelection(sequences: sequences)], wireForm: .lines, shares: workers)
    #expect(throws: StoreError.damagedBlock) { try damaged.run(workers: workers) { _ in } }
  }
}
