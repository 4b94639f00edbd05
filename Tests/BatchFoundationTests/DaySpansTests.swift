import BatchFoundation
import Testing

@Suite struct DaySpansTests {
  private func spans(_ days: some Sequence<Int64>) -> [ClosedRange<Int64>] {
    var spans = DaySpans()
    for day in days { spans.add(day * DaySpans.day + 17) }
    return spans.spans.map { $0.lowerBound.milliseconds / DaySpans.day...$0.upperBound.milliseconds / DaySpans.day }
  }

  @Test func joinsNeighboursAndLeavesTheRestApart() {
    #expect(spans([]) == [])
    #expect(spans([9, 5, 4, 9, 3, 40_000]) == [3...5, 9...9, 40_000...40_000])
  }

  @Test func aSpanIsOfWholeDays() {
    var days = DaySpans()
    days.add(DaySpans.day)
    #expect(days.spans == [Instant(milliseconds: DaySpans.day)...Instant(milliseconds: 2 * DaySpans.day - 1)])
  }

  /// Every look-up costs something, too.
  @Test func manySpansAreJoinedOverMonths() {
    #expect(spans((0..<32).map { $0 * 2 }).count == 32)
    #expect(spans((0..<33).map { $0 * 2 }) == [0...64])
    #expect(spans((0..<40).map { $0 * 2 } + [30_000]) == [0...78, 30_000...30_000])
  }
}
