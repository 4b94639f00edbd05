import BatchFoundation
import Testing

@testable import BatchStore

@Suite("Compressed bytes") struct CompressedBytesTests {
  private func bytes(_ random: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...60, using: &random) {
      if !bytes.isEmpty, Bool.random(using: &random) {
        let from = Int.random(in: 0..<bytes.count, using: &random)
        bytes += Array(bytes[from..<min(bytes.count, from + Int.random(in: 1...90, using: &random))])
      } else {
        bytes += (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
    }
    return bytes
  }

  private func packed(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { CompressedBytes.packed($0) } }

  @Test("What is packed comes back", arguments: 1...300 as ClosedRange<UInt64>)
  func comesBack(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let bytes = bytes(&random)
    #expect(try CompressedBytes.unpacked(self.packed(bytes)) == bytes)
  }

  @Test("Long bytes come back, and noise hardly grows", arguments: [65_536, 200_003])
  func long(count: Int) throws {
    var random = SplitMix64(seed: UInt64(count))
    var long: [UInt8] = []
    while long.count < count { long += bytes(&random) }
    long.removeLast(long.count - count)
    let packed = self.packed(long)
    #expect(packed.count < count)
    #expect(try CompressedBytes.unpacked(packed) == long)
    let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    #expect(self.packed(noise).count <= count + count / 255 + 20)
    #expect(try CompressedBytes.unpacked(self.packed(noise)) == noise)
  }

  @Test("Runs of one byte, and what repeats, take little")
  func small() throws {
    #expect(try CompressedBytes.unpacked(packed([])) == [])
    #expect(throws: StoreError.damagedBlock) { try CompressedBytes.unpacked([]) }
    let run = [UInt8](repeating: 7, count: 10_000)
    #expect(packed(run).count < 10_000 / 255 + 20)
    #expect(try CompressedBytes.unpacked(self.packed(run)) == run)
    let lines = (0..<200).flatMap { Array(#"{"deviceId":"d-\#($0)","type":"namedEvent","name":"PLAYER LOADED"}"#.utf8) }
    #expect(packed(lines).count * 5 < lines.count)
  }

  @Test("Damaged bytes are refused or read as others, and never crash", arguments: 1...300 as ClosedRange<UInt64>)
  func damaged(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var packed = self.packed(bytes(&random))
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      packed[Int.random(in: 0..<packed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    if Bool.random(using: &random) { packed.removeLast(Int.random(in: 0...packed.count, using: &random)) }
    _ = try? CompressedBytes.unpacked(packed)
    _ = try? NightCoding.nights(packed)
  }
}
