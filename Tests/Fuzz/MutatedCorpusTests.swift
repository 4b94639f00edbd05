import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// A few seconds of fuzzing in every run of the tests: seeds of the corpus, changed at random, the same every time.
///
/// A reader that fails traps, and the test that began last names it; `Tests/Fuzz/run` looks longer.
@Suite("Mutated seeds of the corpus") struct MutatedCorpusTests {
  private static let targets: [(name: String, run: @Sendable (UnsafeBufferPointer<UInt8>) -> Void)] = [
    ("answer", FuzzTarget.answer), ("block", FuzzTarget.block), ("document", FuzzTarget.document),
    ("expression", FuzzTarget.expression), ("faults", FuzzTarget.faults), ("gzip", FuzzTarget.gzip),
    ("json", FuzzTarget.json), ("list", FuzzTarget.list), ("maps", FuzzTarget.maps), ("plan", FuzzTarget.plan),
    ("records", FuzzTarget.records),
    ("routes", FuzzTarget.routes), ("rows", FuzzTarget.rows), ("state", FuzzTarget.state), ("table", FuzzTarget.table),
    ("time", FuzzTarget.time), ("xml", FuzzTarget.xml),
  ]
  private static let rounds = 200
  private static let longest = 4096

  @Test("Each reader of foreign bytes is tried")
  func allTargets() throws {
    let folder = Checkout.root.appending(path: "Tests/Fuzz/targets").path
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(files == Self.targets.map { $0.name + ".swift" })
  }

  @Test("No bytes break a reader", arguments: targets.indices)
  func mutated(target: Int) throws {
    let (name, run) = Self.targets[target]
    let seeds = try Self.seeds(name)
    var random = SplitMix64(seed: UInt64(target) + 1)
    for seed in seeds { seed.withUnsafeBufferPointer(run) }
    for _ in 0..<Self.rounds {
      var bytes = seeds[random.below(seeds.count)]
      for _ in 0...random.below(6) { Self.mutate(&bytes, seeds, &random) }
      bytes.prefix(Self.longest).withUnsafeBufferPointer(run)
    }
  }

  /// Lines of records and of tables alone as well, because a change elsewhere would hide what follows it.
  private static func seeds(_ name: String) throws -> [[UInt8]] {
    let folder = Checkout.root.appending(path: "Tests/Corpus/\(name)").path
    guard FileManager.default.fileExists(atPath: folder) else { return [[], [1], Array(0..<64)] }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { file in
      try [UInt8](Data(contentsOf: Checkout.root.appending(path: "Tests/Corpus/\(name)/\(file)")))
    }
    return try Vectors.wanted(files + files.flatMap { $0.split(separator: 0x0A).map(Array.init) }, folder)
  }

  private static func mutate(_ bytes: inout [UInt8], _ seeds: [[UInt8]], _ random: inout SplitMix64) {
    let place = random.below(bytes.count + 1)
    switch random.below(7) {
    case 0: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
    case 1: if place < bytes.count { bytes[place] = UInt8(random.below(256)) }
    case 2: bytes.insert(UInt8(random.below(256)), at: place)
    case 3: bytes.removeSubrange(place..<min(bytes.count, place + random.below(16)))
    case 4: bytes = Array(bytes[..<place])
    case 5:
      let other = seeds[random.below(seeds.count)]
      let start = random.below(other.count + 1)
      bytes.insert(contentsOf: other[start..<min(other.count, start + random.below(64))], at: place)
    default:
      let signs = Array("{}[]\"\\:,<>&;0-9eE.+\0\u{7f}\n".utf8)
      bytes.insert(signs[random.below(signs.count)], at: place)
    }
  }
}
