import BatchFoundation
import TestSupport
import Testing

/// Sums that prove copies, which folders of other machines and releases have.
@Suite struct CopySumTests {
  private func sum(_ bytes: some Sequence<UInt8>) -> String { Hexadecimal.text(of: CopySum.hash(Array(bytes))) }

  /// As another program computes it from the description (reference formats 5.3).
  @Test func isWhatTheReferenceSays() {
    #expect(sum([]) == "55ba897d2af3577cfcd6a91111631185")
    #expect(sum("a".utf8) == "a570f170ca2eb8cc779d3487a899b00a")
    #expect(sum("abc".utf8) == "8d9a11d0564cc9e2d952d0160d8279c2")
    #expect(sum(0..<31) == "574d9439e1fba34b32cac7a3ebacb893")
    #expect(sum(0..<32) == "adf32478f1fb69bfd1eb145c25390398")
    #expect(sum(0..<33) == "d0eed61c30de1e408cbd219fbbad5d35")
    #expect(sum((0..<1000).map { UInt8($0 & 0xFF) }) == "736de96693007d7ea9b6845f0f945268")
  }

  @Test func isTheSameHoweverTheBytesCome() {
    var random = SplitMix64(seed: 29)
    let bytes = (0..<5000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let expected = sum(bytes)
    for longest in [1, 7, 31, 32, 33, 64, 700] {
      var (hash, rest) = (CopySum(), bytes[...])
      while !rest.isEmpty {
        let count = Int.random(in: 0...min(longest, rest.count), using: &random)
        hash.update(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(Hexadecimal.text(of: hash.finalize()) == expected, "pieces of up to \(longest)")
    }
  }

  /// A bit, an end that is gone, zeros that came, and parts that changed places.
  @Test func isAnotherOfOtherBytes() {
    var random = SplitMix64(seed: 30)
    var bytes = (0..<200).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    var sums: Set = [sum(bytes)]
    for bit in 0..<bytes.count * 8 {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      sums.insert(sum(bytes))
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    for count in 0..<bytes.count { sums.insert(sum(bytes[..<count])) }
    for zeros in 1...100 { sums.insert(sum(bytes + [UInt8](repeating: 0, count: zeros))) }
    for stripe in 1..<6 { sums.insert(sum(bytes[(32 * stripe)...] + bytes[..<(32 * stripe)])) }
    #expect(sums.count == 1 + 1600 + 200 + 100 + 5)
    #expect(Set((0..<500).map { sum([UInt8](repeating: 0, count: $0)) }).count == 500)
  }

  /// Words that make a product nothing do not take back what was before them.
  @Test func keepsWhatWasBeforeItsOwnConstants() {
    func bytes(_ word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    let nothing = bytes(ByteMix.s1) + bytes(ByteMix.s3) + bytes(ByteMix.s1) + bytes(ByteMix.s3)
    let sums = (0..<256).map { sum([UInt8($0)] + [UInt8](repeating: 7, count: 31) + nothing) }
    #expect(Set(sums).count == 256)
    #expect(Set(sums.map { $0.prefix(16) }).count == 256 && Set(sums.map { $0.suffix(16) }).count == 256)
  }
}
