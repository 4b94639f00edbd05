import BatchFoundation
import BatchStore
import TestSupport
import Testing

@testable import BatchPipeline

/// What a later run reads of the digests does not grow by single records of other times.
@Suite struct DigestCollectorTests {
  private static let day = DaySpans.day

  private func segments(_ records: [(day: Int64, count: Int)]) -> [(first: Int64, last: Int64, digests: Int)] {
    var collector = DigestCollector(bucket: 7)
    var number: UInt64 = 0
    for (day, count) in records {
      for index in 0..<count {
        number += 1
        collector.add(
          LineDigest(high: number &* 0x9E37_79B9_7F4A_7C15, low: number),
          at: Instant(milliseconds: day * Self.day + Int64(index)))
      }
    }
    return collector.segments.map {
      ($0.first.milliseconds / Self.day, $0.last.milliseconds / Self.day, $0.digests.count / 16)
    }
  }

  @Test func aWrongClockHasASegmentOfItsOwn() {
    let found = segments([(20_000, 600), (47_000, 1), (20_000, 400), (3, 1)])
    #expect(found.map(\.first) == [3, 20_000, 47_000])
    #expect(found.map(\.last) == [3, 20_000, 47_000])
    #expect(found.map(\.digests) == [1, 1000, 1])
  }

  @Test func lateRecordsDoNotStretchTheNight() {
    let found = segments((0..<7).map { (day: 19_993 + $0, count: 20) } + [(20_000, 2000)])
    #expect(found.map(\.first) == [19_993, 20_000])
    #expect(found.map(\.last) == [19_999, 20_000])
    #expect(found.map(\.digests) == [140, 2000])
  }

  @Test func sparseYearsTakeFewSegments() {
    let found = segments((0..<3650).map { (day: 10_000 + $0, count: 1) })
    #expect(found.count == 8)
    #expect(found.reduce(0) { $0 + $1.digests } == 3650)
  }

  @Test func digestsOfASegmentAreSorted() {
    var collector = DigestCollector(bucket: 0)
    for high in [3, 1, 2] as [UInt64] { collector.add(LineDigest(high: high, low: 0), at: Instant(milliseconds: 5)) }
    #expect(collector.segments[0].digests.enumerated().filter { $0.offset % 16 == 7 }.map(\.element) == [1, 2, 3])
  }

  @Test func digestsAreSortedHoweverTheyAreDistributed() {
    var random = SplitMix64(seed: 8)
    let some = (0..<3000).map { _ in LineDigest(high: random.next(), low: random.next() % 3) }
    for digests in [
      [], Array(some.prefix(1)), Array(some.prefix(5)), some, some + some.prefix(100),
      some.map { LineDigest(high: $0.high % 7, low: $0.high) }, some.map { LineDigest(high: $0.high >> 40, low: 0) },
    ] {
      let segment = DigestSegment(
        bucket: 0, first: Instant(milliseconds: 0), last: Instant(milliseconds: 0),
        digests: LineDigest.sortedBytes(digests))
      #expect(LineDigest.merged([segment]) == digests.sorted())
    }
  }
}
