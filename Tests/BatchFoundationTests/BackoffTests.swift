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

  @Test func doNotOverflow() {
    var random = SplitMix64(seed: 5)
    let endless = Backoff(first: Milliseconds(.max), longest: Milliseconds(10))
    #expect((0...10).contains(endless.pause(before: 9, using: &random).count))
    #expect(Backoff(first: .zero, longest: Milliseconds(10)).pause(before: 3, using: &random) == .zero)
  }
}
