import BatchFoundation
import EngageRules
import TestSupport
import Testing

@testable import BatchIngest

@Suite struct IngestPropertyTests {
  private func line(_ random: inout SplitMix64) -> String {
    let device = "device-\(Int.random(in: 0..<60, using: &random))"
    let time = Int.random(in: 0..<200, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return launch(device, time)
    case 1: return #"{"deviceId":"\#(device)","timestamp":\#(time),"type":"deepLink","url":"app://\#(time)?a=\u00e9"}"#
    case 2:
      return
        #"{"deviceId":"\#(device)","timestamp":\#(time),"type":"placemark","city":"C","name":"N","country":"","params":{"a":[1,{"b":null}]}}"#
    case 3: return #"{"deviceId":"\#(device)","timestamp":\#(time),"type":"location","latitude":1.5,"longitude":-2e0}"#
    case 4:
      let long = String(repeating: "p", count: Int.random(in: 0..<40_000, using: &random) / 10)
      return
        #"{"deviceId":"\#(device)","timestamp":\#(time),"type":"namedEvent","name":"\#(long)","params":{"k":"\#(long)"}}"#
    case 5:
      return
        #"{"eventTypeCode":17,"eventTimestamp":\#(time),"attributes":[{"name":"Device Id","value":"\#(device)"}]}"#
    case 6: return #"{"deviceId":"\#(device)","timestamp":\#(time),"type":"unheardOf"}"#
    default:
      return
        #"{"deviceId":"\#(device)","timestamp":\#(time),"type":"pushReceived","payload":{"aps":{"alert":"x"}},"mobileUserId":"m"}"#
    }
  }

  @Test func neitherThreadsNorBlocksNorMemoryChangeWhatComesOut() throws {
    let folder = try ScratchFolder()
    var random = SplitMix64(seed: 7)
    for file in 0..<5 {
      let text = (0..<800).map { _ in line(&random) }.joined(separator: "\n")
      if file == 3 {
        try folder.write("f\(file).gz", gzipMember(Array(text.utf8)))
      } else {
        try folder.write("f\(file).ndjson", text)
      }
    }
    var plain = try harvest([.events: ["f*"]], in: folder) { $0.workers = 1 }
    #expect(plain.result.counts.read == 4000)
    #expect(plain.result.counts.duplicates > 50)
    #expect(plain.result.spilledBytes == 0)
    for (workers, block, limit) in [(2, 1 << 20, 128 << 20), (3, 4096, 1 << 20), (2, 5000, 1 << 14), (4, 700, 0)] {
      let other = try harvest([.events: ["f*"]], in: folder) {
        $0.workers = workers
        $0.blockBytes = block
        $0.memoryLimit = limit
      }
      if limit <= 1 << 14 { #expect(other.result.spilledBytes > 100_000) }
      plain.result.spilledBytes = other.result.spilledBytes
      #expect(other == plain)
    }
  }

  /// Slices of time could not split an instant, which was then loaded whole.
  @Test func recordsOfOneInstantComeInSlicesToo() throws {
    let folder = try ScratchFolder()
    // Each tenth line is there three times, in both files and both kinds.
    let lines = (0..<8000).map { launch("d", 5, ",\"recordId\":\($0 % 10 == 0 ? $0 % 800 : $0)") }
    try folder.write("a.ndjson", lines.joined(separator: "\n"))
    try folder.write("b.ndjson", (lines.reversed() + [launch("d", 4), launch("d", 6)]).joined(separator: "\n"))
    let patterns: [InputKind: [String]] = [.events: ["*.ndjson"], .notifications: ["b.ndjson"]]
    var plain = try harvest(patterns, in: folder) { $0.workers = 1 }
    #expect(plain.result.counts.accepted == plain.records.count)
    let limit = 1 << 19
    var options = IngestOptions.test(temporaryFolder: folder.path)
    options.memoryLimit = limit
    let largest = Guarded(0)
    _ = try Ingest(InputFiles.find(patterns, in: folder.path), vocabulary: RecordVocabulary.engage, options: options)
      .run(
        Ingest.Callbacks(partition: { partition in
          let bytes = partition.devices.flatMap { $0.records.map(\.byteCount) }.reduce(0, +)
          largest.change { $0 = max($0, bytes) }
        }))
    // A share of the limit, and the chunks that were cut in two.
    #expect((1...limit / 3).contains(largest.withLock { $0 }))
    for limit in [limit, 0] {
      let other = try harvest(patterns, in: folder) { $0.memoryLimit = limit }
      plain.result.spilledBytes = other.result.spilledBytes
      #expect(other == plain)
    }
  }

  @Test func acceptsTheSameRecordsHoweverTheLinesAreSpread() throws {
    var random = SplitMix64(seed: 11)
    let lines = Array(Set((0..<1500).map { _ in line(&random) })).sorted()
    func records(_ lines: [String], files: Int) throws -> [String] {
      let folder = try ScratchFolder()
      for file in 0..<files {
        let own = lines.indices.filter { $0 % files == file }.map { lines[$0] }
        try folder.write("f\(file).ndjson", own.joined(separator: "\r\n") + "\r\n")
      }
      // Places differ, so only what a record says is compared.
      return try harvest([.events: ["*"]], in: folder).records.map { record in
        let parts = record.split(separator: " ")
        return "\(parts[0]) \(parts[1]) \(parts[4]) \(parts[5])"
      }.sorted()
    }
    let one = try records(lines, files: 1)
    #expect(try records(lines.shuffled(using: &random), files: 7) == one)
    #expect(one.count > 1000)
  }

  @Test(arguments: [1 as UInt64, 2, 3])
  func keepsTheBalanceOnMutatedLines(seed: UInt64) throws {
    let folder = try ScratchFolder()
    var random = SplitMix64(seed: seed)
    var bytes: [UInt8] = []
    for _ in 0..<3000 {
      var line = Array(line(&random).utf8.prefix(400))
      for _ in 0..<Int.random(in: 0..<4, using: &random) where !line.isEmpty {
        let at = Int.random(in: 0..<line.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: line[at] = UInt8.random(in: 0...255, using: &random)
        case 1: line.remove(at: at)
        case 2: line.insert(contentsOf: Array(#"\u0000"#.utf8), at: at)
        default: line.replaceSubrange(at..<min(at + 9, line.count), with: Array(#"{"":1e99"#.utf8))
        }
      }
      bytes += line + [0x0A]
    }
    try folder.write("a.ndjson", bytes)
    let blank: Set<UInt8> = [0x20, 0x09, 0x0D]
    let lines = bytes.split(separator: 0x0A).filter { !$0.allSatisfy(blank.contains) }.count
    for kind in InputKind.allCases {
      let one = try harvest([kind: ["a.ndjson"]], in: folder)
      #expect(one.result.counts.read == lines)
      #expect(one.result.counts.quarantined == one.quarantine.count)
      #expect(one.result.counts.accepted == one.records.count)
      let other = try harvest([kind: ["a.ndjson"]], in: folder) {
        $0.blockBytes = 300
        $0.memoryLimit = 0
      }
      #expect(other.records == one.records)
      #expect(other.quarantine == one.quarantine)
    }
  }
}
