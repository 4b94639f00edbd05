import BatchFoundation
import EngageRules
import TestSupport
import Testing

@testable import BatchIngest

/// Everything a run hands out, as values.
struct Harvest: Equatable {
  /// One line a record: device, then what orders it, then what it says.
  var records: [String] = []
  /// File name, line, offset, reason, detail.
  var quarantine: [String] = []
  var result = IngestResult()
}

func harvest(
  _ patterns: [InputKind: [String]], in folder: ScratchFolder, known: [LineDigest] = [],
  _ change: (inout IngestOptions) -> Void = { _ in }
) throws -> Harvest {
  var options = IngestOptions.test(temporaryFolder: folder.path)
  change(&options)
  let files = try InputFiles.find(patterns, in: folder.path)
  let names = folder.relative(files)
  let gathered = Guarded(Harvest())
  let callbacks = Ingest.Callbacks(
    partition: { partition in
      var lines: [String] = []
      for device in partition.devices {
        for entry in device.records {
          let record = Record(entry)
          lines.append(
            "\(record.device) \(record.timestamp.milliseconds) \(record.kind.rawValue) "
              + "\(names[Int(record.position.file)]):\(record.position.line) \(record.type) \(record.subject?.description ?? "-")"
          )
        }
      }
      gathered.withLock { $0.records += lines }
    },
    known: { bucket, spans in known.sorted() },
    quarantine: { lines in
      gathered.withLock { harvest in
        harvest.quarantine += lines.map {
          "\($0.file.split(separator: "/").last ?? "") \($0.line) \($0.offset) \($0.reason.rawValue) \($0.detail)[\($0.raw.count)]"
        }
      }
    })
  let result = try Ingest(files, vocabulary: RecordVocabulary.engage, options: options).run(callbacks)
  let counts = result.counts
  #expect(counts.read == counts.accepted + counts.duplicates + counts.outOfWindow + counts.quarantined)
  return gathered.withLock { harvest in
    harvest.result = result
    // Devices come in no particular order, the records of one do: keep theirs.
    let byDevice = Dictionary(grouping: harvest.records) { $0.prefix { $0 != " " } }
    harvest.records = byDevice.keys.sorted().flatMap { byDevice[$0] ?? [] }
    harvest.quarantine.sort()
    return harvest
  }
}

func launch(_ device: String, _ time: Int, _ more: String = "") -> String {
  #"{"deviceId":"\#(device)","timestamp":\#(time),"type":"launch"\#(more)}"#
}

@Suite struct IngestTests {
  @Test func ordersTheRecordsOfADeviceByTimeKindFileAndLine() throws {
    let folder = try ScratchFolder()
    try folder.write("b.ndjson", "\(launch("x", 5))\n\(launch("x", 4))\n\(launch("y", 9))\n")
    try folder.write(
      "a.ndjson", "\(launch("x", 5, #","recordId":1"#))\r\n\n  \t\r\n\(launch("x", 5, #","recordId":2"#))")
    try folder.write("l.tsv", "5\tx\tu:1\n4.9999\tx\tu:2\n")
    try folder.write("n.ndjson", #"{"deviceId":"x","timestamp":5,"action":"opened","payload":{}}"#)
    let harvest = try harvest(
      [.events: ["*.ndjson"], .deepLinks: ["l.tsv"], .notifications: ["n.ndjson"]], in: folder)
    #expect(
      harvest.records == [
        "x 4000 0 b.ndjson:2 launch -", "x 4999 2 l.tsv:2 deepLink u:2", "x 5000 0 a.ndjson:1 launch -",
        "x 5000 0 a.ndjson:4 launch -", "x 5000 0 b.ndjson:1 launch -", "x 5000 1 n.ndjson:1 notificationOpened -",
        "x 5000 2 l.tsv:1 deepLink u:1", "y 9000 0 b.ndjson:3 launch -",
      ])
    // The notification, read as an event, has no type.
    #expect(harvest.quarantine == ["n.ndjson 1 0 missing-field field 'type'[61]"])
    #expect(harvest.result.counts.read == 9)
  }

  @Test func setsLinesAsideWithTheirPlaceAndBytes() throws {
    let folder = try ScratchFolder()
    try folder.write(
      "a.ndjson",
      [0xEF, 0xBB, 0xBF] + Array("\(launch("x", 1))\r\n\n{\"a\":\r\n[]\n".utf8) + [0x7B, 0xFF]
        + Array("\n\u{FEFF}{}".utf8))
    let harvest = try harvest([.events: ["a.ndjson"]], in: folder)
    let first = 3 + launch("x", 1).utf8.count + 2
    #expect(harvest.records == ["x 1000 0 a.ndjson:1 launch -"])
    #expect(
      harvest.quarantine == [
        "a.ndjson 3 \(first + 1) invalid-json at byte 6 of the line[5]", "a.ndjson 4 \(first + 8) not-an-object [2]",
        "a.ndjson 5 \(first + 11) invalid-utf8 at byte 2 of the line[2]",
        "a.ndjson 6 \(first + 14) invalid-json at byte 1 of the line[5]",
      ])
    #expect(harvest.result.counts.reasons == [.invalidJSON: 2, .notAnObject: 1, .invalidUTF8: 1])
  }

  @Test func countsRepeatedLinesOfAKindAsDuplicates() throws {
    let folder = try ScratchFolder()
    let line = launch("x", 1)
    try folder.write("a.ndjson", "\(line)\n \(line)\t\n\(launch("x", 2))\n")
    try folder.write("b.ndjson", "\(line)\r\n\(launch("x", 1, " "))\n")
    try folder.write("c.ndjson", #"{"deviceId":"x","timestamp":1,"url":"u"}"#)
    try folder.write("d.ndjson", #"{"deviceId":"x","timestamp":1,"url":"u"}"#)
    let first = try harvest([.events: ["a.ndjson", "b.ndjson"], .deepLinks: ["c.ndjson", "d.ndjson"]], in: folder)
    #expect(
      first.records == [
        "x 1000 0 a.ndjson:1 launch -", "x 1000 0 b.ndjson:2 launch -", "x 1000 2 c.ndjson:1 deepLink u",
        "x 2000 0 a.ndjson:3 launch -",
      ])
    #expect(first.result.counts.duplicates == 3)
    let digests = [line, launch("x", 2)].map { line in
      var line = line
      return line.withUTF8 { bytes in
        bytes.baseAddress.map { LineDigest(line: Text(base: $0, count: bytes.count), kind: .events) }
      }
    }
    let second = try harvest([.events: ["a.ndjson", "b.ndjson"]], in: folder, known: digests.compactMap { $0 })
    #expect(second.records == ["x 1000 0 b.ndjson:2 launch -"])
    #expect(second.result.counts.duplicates == 4)
  }

  @Test func looksAtTheWindowBeforeDuplicatesAndAfterQuarantine() throws {
    let folder = try ScratchFolder()
    try folder.write("a.ndjson", ([1, 2, 2, 3, 3].map { launch("x", $0) } + ["{}"]).joined(separator: "\n"))
    let harvest = try harvest([.events: ["a.ndjson"]], in: folder) {
      $0.window = TimeWindow(from: Instant(milliseconds: 2000), to: Instant(milliseconds: 3000))
    }
    #expect(harvest.records == ["x 2000 0 a.ndjson:2 launch -"])
    let counts = harvest.result.counts
    #expect(
      [counts.read, counts.accepted, counts.duplicates, counts.outOfWindow, counts.quarantined] == [6, 1, 1, 3, 1])
  }

  @Test(arguments: [1 << 10, 1 << 20])
  func readsPastLinesThatAreTooLong(blockBytes: Int) throws {
    let folder = try ScratchFolder()
    let filler = String(repeating: "x", count: 5000)
    try folder.write(
      "a.ndjson",
      "\(launch("a", 1))\n\(launch("b", 1, #","f":"\#(filler)""#))\r\n\(launch("c", 1))\n{\"\(String(repeating: "y", count: 200_000))\n\(launch("d", 1))"
    )
    let longest = launch("b", 1, #","f":"\#(filler)""#).utf8.count
    for limit in [longest, longest - 1] {
      let harvest = try harvest([.events: ["a.ndjson"]], in: folder) {
        $0.maxLineBytes = limit
        $0.blockBytes = blockBytes
      }
      let offsets = [launch("a", 1).utf8.count + 1, launch("a", 1).utf8.count * 2 + longest + 4]
      let second = limit == longest ? [] : ["a.ndjson 2 \(offsets[0]) line-too-long [\(longest)]"]
      #expect(harvest.quarantine == second + ["a.ndjson 4 \(offsets[1]) line-too-long [65536]"])
      #expect(harvest.records.map { $0.prefix(1) } == (limit == longest ? ["a", "b", "c", "d"] : ["a", "c", "d"]))
    }
  }

  @Test func readsGzipMembersAndReportsDamageAfterTheCompleteLines() throws {
    let folder = try ScratchFolder()
    let text = Array("\(launch("x", 1))\n\(launch("x", 2))\n\(launch("x", 3))".utf8)
    let half = text.count / 2
    let good = gzipMember(Array(text[..<half])) + gzipMember(Array(text[half...]))
    try folder.write("good.gz", good)
    try folder.write("cut.gz", Array(good.dropLast(5)))
    try folder.write("empty.gz", [])
    try folder.write("plain.gz", launch("x", 1))
    var wrong = good
    wrong[wrong.count - 6] ^= 1
    try folder.write("wrong.gz", wrong)
    func records(_ name: String) throws -> Harvest { try harvest([.events: [name]], in: folder) }
    #expect(try records("good.gz").records.count == 3)
    #expect(try records("good.gz").result.counts.quarantined == 0)
    #expect(try records("cut.gz").records.count == 2)
    #expect(
      try records("cut.gz").quarantine == [
        "cut.gz 0 \(text.count) damaged-file the gzip data ends early: the file is truncated[0]"
      ])
    #expect(
      try records("wrong.gz").quarantine == [
        "wrong.gz 0 \(text.count) damaged-file the gzip checksum or length is wrong[0]"
      ])
    #expect(try records("empty.gz").quarantine == ["empty.gz 0 0 damaged-file no gzip content[0]"])
    #expect(try records("plain.gz").quarantine == ["plain.gz 0 0 damaged-file no gzip content[0]"])
    let counts = try records("wrong.gz").result.counts
    #expect([counts.read, counts.accepted, counts.quarantined] == [3, 2, 1])
  }

  @Test func stopsWithTheErrorOfACallback() throws {
    struct Refusal: Error, Equatable {}
    let folder = try ScratchFolder()
    try folder.write("a.ndjson", (0..<1000).map { launch("d\($0)", $0) }.joined(separator: "\n"))
    let files = try InputFiles.find([.events: ["a.ndjson"]], in: folder.path)
    let ingest = Ingest(files, vocabulary: RecordVocabulary.engage, options: .test(temporaryFolder: folder.path))
    #expect(throws: Refusal()) { try ingest.run(Ingest.Callbacks(partition: { _ in throw Refusal() })) }
    #expect(throws: Refusal()) {
      try ingest.run(Ingest.Callbacks(partition: { _ in }, progress: { _ in throw Refusal() }))
    }
  }

  /// Each thread waits with its first partition until all have one.
  @Test(arguments: [1, 3, 8])
  func asManyThreadsDecideAsAreAskedFor(workers: Int) throws {
    let folder = try ScratchFolder()
    try folder.write("a.ndjson", (0..<200).map { launch("d\($0)", $0) }.joined(separator: "\n"))
    var options = IngestOptions.test(temporaryFolder: folder.path)
    options.workers = workers
    let files = try InputFiles.find([.events: ["a.ndjson"]], in: folder.path)
    let arrived = Guarded(Set<Int>())
    _ = try Ingest(files, vocabulary: RecordVocabulary.engage, options: options).run(
      Ingest.Callbacks(partition: { partition in
        arrived.change { _ = $0.insert(partition.worker) }
        _ = arrived.wait(upTo: 10_000) { $0.count < workers ? nil : true }
      }))
    #expect(arrived.withLock { $0 } == Set(0..<workers))
  }

  @Test func namesAFolderThatTakesNoTemporaryFile() throws {
    let folder = try ScratchFolder()
    try folder.write("a.ndjson", (0..<20_000).map { launch("d\($0)", $0) }.joined(separator: "\n"))
    #expect(throws: IngestFailure(operation: "create a temporary file", path: "\(folder.path)/missing", code: 2)) {
      try harvest([.events: ["a.ndjson"]], in: folder) {
        $0.temporaryFolder = "\(folder.path)/missing"
        $0.memoryLimit = 1 << 16
      }
    }
  }
}

@Suite struct BadLineTests {
  @Test func manyShortBadLinesAreHandedOverAFewAtATime() throws {
    let folder = try ScratchFolder()
    try folder.write("bad.ndjson", String(repeating: "x\n", count: 200_000))
    let largest = Guarded(Harvest())
    let files = try InputFiles.find([.events: ["bad.ndjson"]], in: folder.path)
    let ingest = Ingest(files, vocabulary: RecordVocabulary.engage, options: .test(temporaryFolder: folder.path))
    let result = try ingest.run(
      Ingest.Callbacks(
        partition: { _ in },
        quarantine: { lines in
          largest.withLock { $0.result.spilledBytes = max($0.result.spilledBytes, numericCast(lines.count)) }
        }))
    #expect(result.counts.quarantined == 200_000)
    #expect(largest.withLock { $0.result.spilledBytes } == 256)
  }
}
