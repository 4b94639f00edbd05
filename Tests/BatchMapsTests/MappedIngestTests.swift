import BatchFoundation
import EngageRules
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

/// Files with maps, read as a run reads them.
@Suite struct MappedIngestTests {
  struct Harvest: Equatable {
    /// Device, digest and place among those of the device.
    var records: [String] = []
    /// Line, reason, raw bytes.
    var quarantine: [String] = []
    var counts = IngestCounts()
  }

  func harvest(
    _ files: InputFiles, _ folder: TemporaryFolder, blockBytes: Int = 1 << 20,
    _ vocabulary: RecordVocabulary = RecordVocabulary.engage
  ) throws -> Harvest {
    var options = IngestOptions(
      maxLineBytes: 1 << 20, memoryLimit: 64 << 20, workers: 2, temporaryFolder: folder.path)
    options.blockBytes = blockBytes
    let found = Guarded(Harvest())
    let callbacks = Ingest.Callbacks(
      partition: { partition in
        let lines = partition.devices.flatMap { device in
          device.records.map { "\($0.device) \($0.timestamp.rfc3339) \($0.digest)" }
        }
        found.withLock { $0.records += lines }
      },
      quarantine: { lines in
        found.withLock {
          $0.quarantine += lines.map { "\($0.line) \($0.reason.rawValue) \(String(decoding: $0.raw, as: UTF8.self))" }
        }
      })
    let result = try Ingest(files, vocabulary: vocabulary, options: options).run(callbacks)
    return found.withLock { harvest in
      harvest.counts = result.counts
      harvest.quarantine.sort()
      let byDevice = Dictionary(grouping: harvest.records) { $0.prefix { $0 != " " } }
      harvest.records = byDevice.keys.sorted().flatMap { byDevice[$0] ?? [] }
      let counts = result.counts
      let sum = counts.accepted + counts.duplicates + counts.outOfWindow + counts.quarantined
      #expect(counts.read == sum + counts.leftOut.values.reduce(0, +))
      return harvest
    }
  }

  func files(_ path: String, _ map: ForeignMap?) throws -> InputFiles {
    try InputFiles.find([InputPattern(.events, path, map: map.map { InputMap($0, identity: $0.name) })], in: "/")
  }

  /// The lines that a map writes, as a file of the project's own shape.
  func canonical(_ map: ForeignMap, _ records: [String]) -> String {
    outcomes(of: map, records).filter { $0.hasPrefix("{") }.map { $0 + "\n" }.joined()
  }

  /// Of one device, by the times of their `recordId`, those that count; in one bucket and in slices of it.
  @Test func recordsOfOneIDWithinAnHourAreOne() throws {
    let map = try preset("segment")
    func call(_ time: String, _ id: String, event: String = "E", device: String = "d", more: Int = 0) -> String {
      #"{"type":"track","event":"\#(event)","anonymousId":"\#(device)","messageId":"\#(id)","timestamp":"2026-01-15T\#(time)Z","properties":{"n":\#(more)}}"#
    }
    let calls = [
      call("08:00:00.480", "m"), call("08:00:00.210", "m", more: 1), call("09:00:00.210", "m", more: 2),
      call("09:00:00.211", "m", more: 3), call("09:30:00", "m", more: 4), call("08:00:00", "m", event: "F"),
      call("08:00:00", "m", device: "e"), call("08:00:00", "o"), call("08:00:00.480", "m"),
    ]
    let folder = try TemporaryFolder(["f.ndjson": calls.map { $0 + "\n" }.joined()])
    let counted = try harvest(files(folder.path + "/f.ndjson", map), folder)
    #expect(
      counted.records.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
        "d 2026-01-15T08:00:00.000Z", "d 2026-01-15T08:00:00.000Z", "d 2026-01-15T08:00:00.210Z",
        "d 2026-01-15T09:00:00.211Z", "e 2026-01-15T08:00:00.000Z",
      ])
    #expect(counted.counts.duplicates == 4)
    // A line in the project's own shape has its own bytes only.
    _ = try folder.write("own.ndjson", canonical(map, calls))
    let own = try harvest(files(folder.path + "/own.ndjson", nil), folder)
    #expect(own.counts.duplicates == 1)
  }

  @Test(arguments: [64, 300, 1 << 20]) func foreignRecordsAreTheirCanonicalLines(_ blockBytes: Int) throws {
    let sample = try Checkout.text("samples/maps/segment.ndjson")
    let map = try preset("segment")
    let folder = try TemporaryFolder([
      "foreign.ndjson": sample, "own.ndjson": canonical(map, sample.split(separator: "\n").map(String.init)),
    ])
    let own = try harvest(files(folder.path + "/own.ndjson", nil), folder)
    let mapped = try harvest(files(folder.path + "/foreign.ndjson", map), folder, blockBytes: blockBytes)
    #expect(own.records.count == 6)
    #expect(mapped.records == own.records)
    #expect(mapped.counts.read == 7)
    #expect(mapped.counts.leftOut == ["no call of a mobile app": 1])
    // Read together they are duplicates of each other.
    let both = try InputFiles.find(
      [
        InputPattern(.events, folder.path + "/own.ndjson"),
        InputPattern(.events, folder.path + "/foreign.ndjson", map: InputMap(map, identity: "segment")),
      ], in: "/")
    #expect(try harvest(both, folder).counts.duplicates == 6)
  }

  /// Each name was compared with all before it: 80,000 columns took 21 seconds, and these would take minutes.
  @Test(.timeLimit(.minutes(1))) func aTableMayHaveVeryManyColumns() throws {
    let (map, _) = try read(
      #"{"form": "csv", "fields": {"deviceId": "d", "timestamp": "t", "type": {"constant": "namedEvent"}, "name": "n"}}"#
    )
    let columns = ["d", "t", "n"] + (0..<300_000).map { "c\($0)" }
    let folder = try TemporaryFolder([
      "a.csv": columns.joined(separator: ",") + "\nx,2026-01-15T08:00:00.000Z,n\n"
    ])
    var options = IngestOptions(maxLineBytes: 16 << 20, memoryLimit: 64 << 20, workers: 1, temporaryFolder: folder.path)
    options.blockBytes = 1 << 20
    let files = try files(folder.path + "/a.csv", map)
    let callbacks = Ingest.Callbacks(partition: { _ in }, quarantine: { lines in #expect(lines.isEmpty) })
    #expect(
      try Ingest(files, vocabulary: RecordVocabulary.engage, options: options).run(callbacks).counts.accepted == 1)
  }

  @Test func recordsThatNoRuleTakesAreSetAsideWhileTheirBlockIsRead() throws {
    let folder = try TemporaryFolder(["a.ndjson": String(repeating: "{\"type\":\"unheard\"}\n", count: 20_000)])
    let batches = Guarded<[Int]>([])
    let callbacks = Ingest.Callbacks(
      partition: { _ in }, quarantine: { lines in batches.withLock { $0.append(lines.count) } })
    var options = IngestOptions(maxLineBytes: 1 << 20, memoryLimit: 64 << 20, workers: 1, temporaryFolder: folder.path)
    options.blockBytes = 1 << 20
    let files = try files(folder.path + "/a.ndjson", preset("segment"))
    let counts = try Ingest(files, vocabulary: RecordVocabulary.engage, options: options).run(callbacks).counts
    #expect(counts.reasons == [.noRule: 20_000])
    let handedOver = batches.withLock { $0 }
    #expect(handedOver.reduce(0, +) == 20_000)
    #expect(handedOver.max() == 256)
  }

  @Test func recordsOfOneLineCountInTheOrderOfTheirElements() throws {
    let (map, _) = try read(
      #"{"each": "e", "fields": {"deviceId": "^.d", "timestamp": "^.t", "type": {"constant": "namedEvent"}, "name": "n"}}"#
    )
    let names = (0..<300).map { "n\($0 * 7 % 300)" }
    let record =
      #"{"d":"x","t":1768464000,"e":["# + names.map { #"{"n":"\#($0)"}"# }.joined(separator: ",") + "]}"
    let folder = try TemporaryFolder(["a.ndjson": record + "\n"])
    let digests = canonical(map, [record]).split(separator: "\n").map { line in
      Array(line.utf8).withText { "x 2026-01-15T08:00:00.000Z \(LineDigest(line: $0, kind: .events))" }
    }
    #expect(try harvest(files(folder.path + "/a.ndjson", map), folder).records == digests)
  }

  @Test func tablesAndDocumentsAreCutIntoTheirRecords() throws {
    let fields = #""fields": {"deviceId": "d", "timestamp": "t", "type": {"constant": "namedEvent"}, "name": "n"}"#
    let folder = try TemporaryFolder([
      "a.csv": "\u{FEFF}d,t,n\r\nx,1768464000,\"a,\n\"\"b\"\"\"\r\nx,1768464001,c\r\nx,1,2,3,4\r\ny,1768464002,\n",
      "a.tsv": "d\tt\tn\nx\t1768464000\ta\nx\t1768464001\t\"c\n",
      "a.json":
        "[\n {\"d\": \"x\", \"t\": 1768464000, \"n\": \"[}\\\"\"},\n {\"d\": \"x\", \"t\": 1768464001, \"n\": \"c\"}, 7]\n"
        + "{\"d\":\"y\",\"t\":1768464002,\"n\":\"e\"}{\"d\":\"y\",\"t\":1768464003,\"n\":\"f\"} {\"d\":",
    ])
    let csv = try harvest(files(folder.path + "/a.csv", read(#"{"form": "csv", \#(fields)}"#).map), folder)
    #expect(csv.counts.accepted == 2)
    #expect(csv.quarantine == ["5 invalid-row x,1,2,3,4", "6 missing-field {\"d\":\"y\",\"t\":\"1768464002\"}"])
    let tsv = try harvest(files(folder.path + "/a.tsv", read(#"{"form": "tsv", \#(fields)}"#).map), folder)
    #expect(tsv.counts.accepted == 1)
    #expect(tsv.quarantine.map { $0.prefix(14) } == ["3 invalid-row "])
    let json = try harvest(files(folder.path + "/a.json", read(#"{"form": "json", \#(fields)}"#).map), folder)
    #expect(json.counts.accepted == 4)
    #expect(json.quarantine == ["3 not-an-object 7", "6 invalid-json {\"d\":"])
  }

  @Test func encodingsBecomeUTF8() throws {
    let (map, faults) = try read(
      #"{"form": "csv", "separator": ";", "encoding": "windows-1252", "columns": ["deviceId", "timestamp", "name"], "fields": {"deviceId": "deviceId", "timestamp": "timestamp", "name": "name", "type": {"constant": "namedEvent"}}}"#
    )
    #expect(faults == [])
    let folder = try TemporaryFolder()
    try folder.write("a.csv", Array("x;1768464000;".utf8) + [0xE9, 0x80, 0x0A])
    let expected =
      #"{"deviceId":"x","name":"é€","timestamp":"2026-01-15T08:00:00.000Z","type":"namedEvent"}"#
    let digest = Array(expected.utf8).withText { "\(LineDigest(line: $0, kind: .events))" }
    #expect(
      try harvest(files(folder.path + "/a.csv", map), folder).records == ["x 2026-01-15T08:00:00.000Z \(digest)"])
  }

  /// The sum of the parts of inputs.
  private func harvest(_ inputs: InputFiles, _ folder: TemporaryFolder, parts: Int) throws -> Harvest {
    let options = IngestOptions(maxLineBytes: 1 << 20, memoryLimit: 64 << 20, workers: 1, temporaryFolder: folder.path)
    let bytes = Guarded([[UInt8]](repeating: [], count: parts))
    let partitioning = InputPartitioning(
      inputs, vocabulary: RecordVocabulary.engage, options: options, parts: parts, firstFile: 0)
    _ = try partitioning.run({ part, piece in bytes.withLock { $0[part] += unsafe Array(piece) } }) { _ in }
    var sum = Harvest()
    for part in 0..<parts {
      let path = try folder.write("part-\(part)", bytes.withLock { $0[part] })
      var files = inputs
      files.files[0].map = nil
      let written = bytes.withLock { $0[part] }
      files.part = InputPart(
        slices: [
          InputPart.Slice(
            path: FilePath(path), start: 0, bytes: UInt64(written.count),
            sum: Hexadecimal.text(of: CopySum.hash(written)))
        ], numbers: [1])
      let own = try harvest(files, folder)
      sum.records += own.records
      sum.quarantine += own.quarantine
      sum.counts += own.counts
    }
    sum.quarantine.sort()
    let byDevice = Dictionary(grouping: sum.records) { $0.prefix { $0 != " " } }
    sum.records = byDevice.keys.sorted().flatMap { byDevice[$0] ?? [] }
    return sum
  }

  /// Lines of a part have their canonical form already, and nothing of the export is lost on the way.
  @Test func partsHoldWhatOneRunReads() throws {
    let sample =
      try Checkout.text("samples/maps/mparticle.ndjson") + "{\"x\":1}\n[]\n"
      + #"{"events":[{"event_type":"custom_event","data":{}},5]}"# + "\n"
    let folder = try TemporaryFolder(["a.ndjson": sample])
    let inputs = try files(folder.path + "/a.ndjson", preset("mparticle"))
    let whole = try harvest(inputs, folder)
    let sum = try harvest(inputs, folder, parts: 3)
    #expect(sum == whole)
    #expect(whole.counts.leftOut.values.reduce(0, +) == 1)
    #expect(whole.quarantine.count == 4)
  }

  @Test func aPartitionSaysWhatARunSaysOfRows() throws {
    let map = try read(
      #"{"form": "csv", "fields": {"deviceId": "d", "timestamp": "t", "type": {"constant": "namedEvent"}, "name": "n", "params.x": {"path": "x", "as": "number"}}}"#
    ).map
    let rows = ["a,1768464000,e,y", "a,1768464001,e", "b,1768464002,a\\nb,1", "b", "c,1768464003,e,z"]
    let folder = try TemporaryFolder(["a.csv": "d,t,n,x\n" + rows.joined(separator: "\n") + "\n"])
    let inputs = try files(folder.path + "/a.csv", map)
    let partitioning = InputPartitioning(
      inputs, vocabulary: RecordVocabulary.engage, options: .test(temporaryFolder: folder.path), parts: 2, firstFile: 0)
    let said = try partitioning.run({ _, _ in }) { _ in }.warnings
    #expect(said.mapValues(\.occurrences) == ["not-a-number": 2, "short-row": 1, "unread-escape": 1])
    #expect(said["not-a-number"]?.examples.map(\.position.line) == [2, 6])
    #expect(said["short-row"]?.examples.map(\.detail) == ["the row has 3 of 4 columns"])
    var trials: [String] = []
    try inputs.files[0].tryMap(RecordVocabulary.engage, limit: 10) { trial in
      trials.append("\(trial.number): " + trial.warnings.map(\.kind).joined(separator: " "))
    }
    #expect(trials == ["2: not-a-number", "3: short-row", "4: unread-escape", "5: short-row", "6: not-a-number"])
  }

  /// Records are the same whatever they were before: a Segment call, a row of BigQuery, a row of a table.
  @Test(arguments: 1...6) func randomRecordsAreTheSameThroughEveryMap(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    func text() -> String {
      let letters = Array("abcXYZ 0189,;\"'\\\t/é😀{}[]:-_.$<>&\u{7F}\u{2028}")
      return String((0...(random.next() % 12)).map { _ in letters[Int(random.next() % UInt64(letters.count))] }) + "x"
    }
    var (own, segment, ga4, rows) = ("", "", "", "device,when,what,user,app,note\r\n")
    // Of which the vendor keeps microseconds.
    var numbered = ""
    for _ in 0..<60 {
      let (device, name, note, user, app) = ("d\(random.next() % 5)", text(), text(), "u\(random.next() % 9)", text())
      let milliseconds = 1_768_464_000_000 + Int64(random.next() % 500_000)
      let time = Instant(milliseconds: milliseconds).rfc3339
      let (n, t, a) = (JSONString.quoted(name), JSONString.quoted(note), JSONString.quoted(app))
      let line =
        #"{"device":{"appVersion":\#(a)},"deviceId":"\#(device)","mobileUserId":"\#(user)","name":\#(n),"params":{"note":\#(t)},"#
        + #""timestamp":"\#(time)","type":"namedEvent"}"#
      own += line + "\n"
      let id = #""recordId":{"time":"\#(milliseconds)000"},"#
      numbered += line.replacing(#""timestamp""#, with: id + #""timestamp""#) + "\n"
      segment +=
        #"{"timestamp": "\#(time)", "type": "track", "event": \#(n), "userId": "\#(user)", "properties": {"note": \#(t)}, "#
        + #""context": {"app": {"version": \#(a)}, "device": {"id": "\#(device)"}}}"# + "\n"
      ga4 +=
        #"{"event_timestamp": "\#(milliseconds)000", "event_name": \#(n), "user_pseudo_id": "\#(device)", "user_id": "\#(user)", "#
        + #""app_info": {"version": \#(a)}, "event_params": [{"key": "note", "value": {"string_value": \#(t), "int_value": null}}]}"#
        + "\n"
      rows +=
        [device, time, name, user, app, note].map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",")
        + "\r\n"
    }
    let table = try read(
      #"""
      {"form": "csv", "fields": {"deviceId": "device", "timestamp": "when", "type": {"constant": "namedEvent"}, "name": "what",
       "mobileUserId": "user", "device.appVersion": "app", "params.note": "note"}}
      """#)
    #expect(table.faults == [])
    let folder = try TemporaryFolder([
      "own.ndjson": own, "numbered.ndjson": numbered, "segment.ndjson": segment, "ga4.ndjson": ga4, "rows.csv": rows,
    ])
    let plain = try harvest(files(folder.path + "/own.ndjson", nil), folder)
    #expect(plain.counts.quarantined == 0 && plain.counts.accepted > 40)
    let ids = try harvest(files(folder.path + "/numbered.ndjson", nil), folder)
    for (name, map) in [
      ("segment.ndjson", try preset("segment")), ("ga4.ndjson", try preset("ga4")), ("rows.csv", table.map),
    ] {
      let inputs = try files(folder.path + "/" + name, map)
      let expected = name == "ga4.ndjson" ? ids : plain
      for blockBytes in [200, 1 << 20] {
        let found = try harvest(inputs, folder, blockBytes: blockBytes)
        #expect(found.records == expected.records && found.quarantine == [], "\(name)")
        #expect(found.counts.duplicates == expected.counts.duplicates)
      }
      for count in [2, 3] {
        let parts = try harvest(inputs, folder, parts: count)
        #expect(parts.records == expected.records && parts.counts == expected.counts, "\(name) in \(count) parts")
      }
    }
  }

  /// Milliseconds and places in a batch tell equal rows apart; a row that comes twice is one.
  @Test func rowsOfAMillisecondAreNotOne() throws {
    func row(_ more: String) -> String {
      #"{"event_name": "tap", "user_pseudo_id": "p", "platform": "IOS", "event_timestamp": \#(more)}"# + "\n"
    }
    let rows = [
      row(#""1768464000000100""#), row(#""1768464000000900""#), row(#""1768464000000900", "batch_event_index": 3"#),
      row("1768464000000900"), row(#"1768464000000900, "batch_event_index": "3", "event_params": []"#),
    ]
    let folder = try TemporaryFolder(["ga4.ndjson": rows.joined()])
    let found = try harvest(files(folder.path + "/ga4.ndjson", preset("ga4")), folder)
    #expect(found.counts.accepted == 3 && found.counts.duplicates == 2)
  }

  /// Whatever happens to an export: what is read is a record, left out or quarantined, and no line is passed over.
  @Test(arguments: Preset.all.map(\.name).filter { $0 != "sdk-store" }) func mutatedSamplesLoseNothing(_ name: String)
    throws
  {
    var random = SplitMix64(seed: 46)
    let map = try preset(name)
    let sample = try sample(of: map)
    for _ in 0..<40 {
      var bytes = sample
      for _ in 0...(random.next() % 8) where !bytes.isEmpty {
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        case 2: bytes.replaceSubrange(place..., with: bytes[place...].dropFirst(Int(random.next() % 200)))
        default: bytes.insert(UInt8(truncatingIfNeeded: random.next() % 95 + 32), at: place)
        }
      }
      let folder = try TemporaryFolder()
      try folder.write("export", bytes)
      let found = try harvest(files(folder.path + "/export", map), folder)
      let lines = bytes.split(separator: UInt8(ascii: "\n")).filter {
        $0.contains { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }
      }
      #expect(found.counts.read >= lines.count || found.quarantine.contains { $0.hasPrefix("0 ") })
      #expect(found.records.count == found.counts.accepted)
      #expect(found.quarantine.count == found.counts.quarantined)
    }
  }
}
