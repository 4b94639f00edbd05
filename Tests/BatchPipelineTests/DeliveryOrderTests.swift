import BatchFoundation
import TestSupport
import Testing

@testable import BatchPipeline

@Suite struct DeliveryOrderTests {
  @Test(arguments: [(0, 1), (1, 1), (2, 1), (500, 40), (3000, 1 << 40), (70_000, 253_402_300_799_999)])
  func eventsAreInTheOrderOfTheirTimesAndThenOfTheirNumbers(count: Int, span: Int64) {
    var random = SplitMix64(seed: UInt64(count))
    var times = (0..<count).map { _ in Int64.random(in: 0...span, using: &random) }
    if count > 2 { (times[0], times[1]) = (0, span) }
    let numbers = Array(0..<count).shuffled(using: &random)
    var order = DeliveryOrder()
    for _ in 0..<2 {
      let places = order.places(
        count, timestamp: { Instant(milliseconds: times[$0]) }, precedes: { numbers[$0] < numbers[$1] })
      #expect(places == (0..<count).sorted { (times[$0], numbers[$0]) < (times[$1], numbers[$1]) })
    }
  }
}
