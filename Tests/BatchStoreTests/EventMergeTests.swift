import BatchFoundation
import BatchStore
import EngageRules
import StoreSupport
import Testing

@Suite struct EventMergeTests {
  @Test(arguments: 1...30)
  func bringsSortedBatchesIntoOneOrder(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let width = Int.random(in: 2...8, using: &random)
    let fixtures = EventFixtures()
    var series: [EventBlocks] = []
    var all: [Event] = []
    for batch in 0..<Int.random(in: 0...9, using: &random) {
      let events = (0..<Int.random(in: 0...60, using: &random)).map { index in
        fixtures.event(
          Int64.random(in: 0...50, using: &random), device: "D\"\(Int.random(in: 0...9, using: &random))",
          emission: Int64(batch * 100 + index))
      }
      all += events
      series.append(fixtures.blocks(events, limits: RequestLimits(maxEvents: 7, maxBodyBytes: 1_000_000)))
    }
    let lines = try Self.lines(of: series.map(Self.sequence))
    #expect(lines == all.sorted(by: Event.precedes).map(json))
    let narrow = try EventMerge.narrowed(series.map(Self.sequence), width: width, folder: "/tmp")
    #expect(narrow.count == min(width, series.count))
    #expect(try Self.lines(of: narrow) == lines)
  }

  private static func sequence(_ blocks: EventBlocks) -> BlockSequence {
    var rest = blocks.entries.indices[...]
    return { rest.popFirst().map(blocks.block) }
  }

  /// Only what is too many is merged before the others: the rest keeps its blocks.
  @Test(arguments: [(9, 8, 2), (9, 2, 8), (12, 5, 9), (3, 3, 0)])
  func mergesNoMoreSequencesThanItMust(count: Int, width: Int, merged: Int) throws {
    let fixtures = EventFixtures()
    var read = 0
    let sequences = (0..<count).map { number -> BlockSequence in
      let blocks = Self.sequence(fixtures.blocks([fixtures.event(5, device: "D", emission: Int64(number))]))
      return {
        let block = try blocks()
        read += block == nil ? 0 : 1
        return block
      }
    }
    let narrow = try EventMerge.narrowed(sequences, width: width, folder: "/tmp")
    #expect(narrow.count == width)
    #expect(read == merged)
    #expect(try Self.lines(of: narrow).count == count)
  }

  private static func lines(of sequences: [BlockSequence]) throws -> [String] {
    var merge = try EventMerge(sequences)
    var lines: [String] = []
    var buffer = ByteBuffer()
    while try merge.appendNext(to: &buffer) {
      lines.append(String(decoding: buffer.bytes, as: UTF8.self))
      buffer.removeAll()
    }
    return lines
  }

  /// A caller may name another device in an attribute; the order is that of the phones all the same.
  @Test func anAttributeThatNamesAnotherDeviceDoesNotChangeTheOrder() throws {
    let fixtures = EventFixtures()
    var series: [EventBlocks] = []
    for (device, named) in [("D2", "D0"), ("D1", "D9")] {
      var core = EventFixtures.core.map { "\($0.1)" }
      core[CoreAttribute.deviceId.rawValue] = named
      let event = fixtures.event(5, code: "17", device: device, emission: 1, core: core, extra: [])
      series.append(fixtures.blocks([event]))
    }
    var merge = try EventMerge(series.map(Self.sequence))
    var buffer = ByteBuffer()
    _ = try merge.appendNext(to: &buffer)
    #expect(String(decoding: buffer.bytes, as: UTF8.self).contains(#""Device Id","value":"D9""#))
  }
}
