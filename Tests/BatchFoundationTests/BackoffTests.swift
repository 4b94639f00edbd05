import BatchFoundation
import Testing

@Suite("Pauses before a repetition") struct BackoffTests {
  /// Draws the least that may come. Not zero, which the standard library draws again.
  struct Least: RandomNumberGenerator {
    func next() -> UInt64 { 1 }
  }

  let backoff = Backoff(first: Milliseconds(1000), longest: Milliseconds(60_000))

  @Test(arguments: [(1, 1000), (2, 2000), (3, 4000), (6, 32_000), (7, 60_000), (1000, 60_000)] as [(Int, Int64)])
  func areFromNothingToASpanThatDoubles(repetition: Int, span: Int64) {
    var least = Least()
    #expect(backoff.pause(before: repetition, using: &least) == .zero)
    var random = SplitMix64(seed: 5)
    let pauses = (0..<400).map { _ in backoff.pause(before: repetition, using: &random).count }
    #expect(pauses.allSatisfy { (0...span).contains($0) })
    #expect(pauses.contains { $0 < span / 10 })
    #expect(pauses.contains { $0 > span / 10 * 9 })
  }

  /// Without a pause, an outage was asked about as fast as the machine could.
  @Test func anOutageIsAskedAboutNotMoreThanOnceASecond() {
    var random = SplitMix64(seed: 5)
    let hasty = Backoff(first: .zero, longest: .zero)
    #expect((1...20).allSatisfy { hasty.pauseInOutage(before: $0, using: &random) == Milliseconds(1000) })
    let pauses = (0..<400).map { _ in backoff.pauseInOutage(before: 6, using: &random).count }
    #expect(pauses.allSatisfy { (1000...32_000).contains($0) })
    #expect(pauses.contains { $0 > 28_800 })
  }

  @Test func doNotOverflow() {
    var random = SplitMix64(seed: 5)
    let endless = Backoff(first: Milliseconds(.max), longest: Milliseconds(10))
    #expect((0...10).contains(endless.pause(before: 9, using: &random).count))
    #expect(Backoff(first: .zero, longest: Milliseconds(10)).pause(before: 3, using: &random) == .zero)
  }
}
