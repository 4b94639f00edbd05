import BatchFoundation
import TestSupport
import Testing

@Suite struct RadixSortTests {
  /// Counts on both sides of where the method changes and memory grows; spans of one to all digits.
  @Test(arguments: [0, 1, 2, 48, 49, 511, 512, 1024, 1025, 5000], [0, 1, 255, 256, 1 << 20, 1 << 41, UInt64.max])
  func isTheOrderOfKeysAndOfEqualKeysThatOfTheirNumbers(count: Int, span: UInt64) {
    var random = SplitMix64(seed: UInt64(count) ^ span)
    var sort = RadixSort()
    for _ in 0..<2 {
      let least = UInt64.random(in: 0...(.max - span), using: &random)
      let keys = (0..<count).map { _ in least + UInt64.random(in: 0...span, using: &random) }
      sort.removeAll()
      for key in keys { sort.add(key) }
      sort.sort()
      let expected = keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
      #expect(unsafe sort.items.map(\.number) == expected)
      #expect(unsafe sort.items.map(\.key) == expected.map { keys[$0] })
    }
  }
}
