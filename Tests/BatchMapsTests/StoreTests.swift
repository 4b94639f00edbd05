import BatchFoundation
import EngageRules
import FoundationEssentials
import GRDB
import GameRules
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

/// What the SDKs kept on phones, as `scripts/sample-stores` writes it and worse.
@Suite struct StoreTests {
  private let reader = MappedIngestTests()

  private func sample(_ name: String) -> String { Checkout.url("samples/stores/\(name)").path }

  private func counts(_ found: MappedIngestTests.Harvest) -> [Int] {
    [
      found.counts.read, found.counts.accepted, found.counts.leftOut["posted by the SDK"] ?? 0,
      found.counts.quarantined,
    ]
  }

  @Test func whatWasPostedThereIsLeftOut() throws {
    let folder = try TemporaryFolder()
    let map = try preset("sdk-store")
    let iOS = try reader.harvest(reader.files(sample("EngageEventLocalStore2.sqlite"), map), folder)
    #expect(counts(iOS) == [5, 4, 1, 0])
    #expect(
      iOS.records.map { $0.prefix(30) } == [
        "ios-1 2026-01-15T08:01:00.500Z", "ios-1 2026-01-15T08:02:00.000Z", "ios-1 2026-01-15T08:03:00.000Z",
        "ios-1 2026-01-15T08:04:00.000Z",
      ])
    let android = try reader.harvest(reader.files(sample("EngageTesting.db"), map), folder)
    #expect(counts(android) == [3, 2, 1, 0])
    #expect(
      try outcomes(of: map, rows("EngageTesting.db"))[1].hasPrefix(
        #"{"attributes":[{"name":"Device Id","value":"android-1"},"#))
  }

  private func rows(_ name: String) throws -> [String] {
    try DatabaseQueue(path: sample(name)).read { database in
      try Row.fetchAll(database, sql: "SELECT _id, eventStatus, eventJson FROM engageevents").map { row in
        #"{"_id":\#(row[0] as Int),"eventStatus":\#(row[1] as Int),"eventJson":\#(row[2] as String)}"#
      }
    }
  }

  @Test(arguments: [
    ("ios-A", 2), ("ios-B", 0), ("unity-A", 2), ("android-legacy", 1), ("4c1c5a0e-6c0a-4b5e-9d0f-6a1b2c3d4e5f", 1),
  ]) func eventsOfGamesAreRead(_ name: String, _ events: Int) throws {
    let folder = try TemporaryFolder()
    let found = try reader.harvest(reader.files(sample(name), preset("sdk-store")), folder, RecordVocabulary.game)
    #expect(counts(found) == [events, events, 0, 0])
  }

  /// Core Data leaves what is new in a log beside the database.
  @Test func aLogIsReadAndNothingIsWritten() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/phone/store.sqlite"
    try folder.write("phone/empty", [])
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { database in
      try database.execute(
        sql: "CREATE TABLE ZENGAGEEVENT (Z_PK INTEGER PRIMARY KEY, ZEVENTSTATUS INTEGER, ZEVENTJSON VARCHAR)")
      try database.execute(
        sql: "INSERT INTO ZENGAGEEVENT VALUES (1, 1, ?)",
        arguments: [
          #"{"eventTypeCode":"17","eventTimestamp":"2026-01-15T08:00:00.000Z","attributes":[{"name":"Device Id","value":"w"}]}"#
        ])
    }
    let before = try Data(contentsOf: URL(filePath: path))
    let map = try preset("sdk-store")
    let found = try reader.harvest(reader.files(folder.path + "/phone", map), folder)
    #expect(counts(found) == [1, 1, 0, 0])
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    try queue.close()
  }

  @Test func damagedFilesAreToldOnce() throws {
    let folder = try TemporaryFolder()
    let map = try preset("sdk-store")
    for (name, reasons) in [
      ("EngageEventLocalStore2.sqlite", ["damaged-file"]), ("ios-A", ["damaged-file"]), ("unity-A", ["damaged-file"]),
    ] {
      let whole = try Checkout.bytes("samples/stores/\(name)")
      try folder.write("cut", Array(whole.dropLast(whole.count / 3)))
      let vocabulary: RecordVocabulary = name.hasSuffix("sqlite") ? RecordVocabulary.engage : RecordVocabulary.game
      let found = try reader.harvest(reader.files(folder.path + "/cut", map), folder, vocabulary)
      #expect(found.quarantine == reasons.map { "0 \($0) " }, "\(name)")
    }
    try folder.write("text", Array("no store at all".utf8))
    #expect(try reader.harvest(reader.files(folder.path + "/text", map), folder).quarantine == ["0 other-form "])
    try DatabaseQueue(path: folder.path + "/other").write { try $0.execute(sql: "CREATE TABLE a (b)") }
    #expect(try reader.harvest(reader.files(folder.path + "/other", map), folder).quarantine == ["0 other-form "])
  }

  /// A database of an SDK with rows that somebody else made.
  private func database(_ folder: TemporaryFolder, _ statements: String) throws -> InputFiles {
    let queue = try DatabaseQueue(path: folder.path + "/store.sqlite")
    try queue.inDatabase { try $0.execute(sql: statements) }
    try queue.close()
    return try reader.files(folder.path + "/store.sqlite", preset("sdk-store"))
  }

  /// They were computed, 900 MB for each row, and a signal was not heeded meanwhile.
  @Test(arguments: ["VIRTUAL", "STORED"]) func computedColumnsAreNotComputed(_ kind: String) throws {
    let folder = try TemporaryFolder()
    let files = try database(
      folder,
      """
      CREATE TABLE ZENGAGEEVENT (Z_PK INTEGER PRIMARY KEY, ZEVENTSTATUS INTEGER,
        ZEVENTJSON VARCHAR GENERATED ALWAYS AS (CASE WHEN Z_PK = 0 THEN 'x' ELSE NULL END) \(kind));
      INSERT INTO ZENGAGEEVENT (Z_PK, ZEVENTSTATUS) VALUES (1, 1);
      """)
    #expect(try reader.harvest(files, folder).quarantine == ["0 other-form "])
  }

  @Test(.timeLimit(.minutes(1))) func aViewIsNoTable() throws {
    let folder = try TemporaryFolder()
    let files = try database(
      folder,
      """
      CREATE VIEW ZENGAGEEVENT AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
      SELECT x AS Z_PK, 1 AS ZEVENTSTATUS, '{}' AS ZEVENTJSON FROM c;
      """)
    #expect(try reader.harvest(files, folder).quarantine == ["0 other-form "])
  }

  /// A blob of 200 MB, which is none of the record, was read all the same. The longest line here has 1 MiB.
  @Test func aValueThatIsTooLongIsSetAsideAndTheRowsBehindItAreRead() throws {
    let folder = try TemporaryFolder()
    let event =
      #"{"eventTypeCode":"17","eventTimestamp":"2026-01-15T08:00:0%d.000Z","attributes":[{"name":"Device Id","value":"w"}]}"#
    let files = try database(
      folder,
      """
      CREATE TABLE ZENGAGEEVENT (Z_PK INTEGER PRIMARY KEY, ZEVENTSTATUS INTEGER, ZEVENTJSON VARCHAR, MORE);
      INSERT INTO ZENGAGEEVENT VALUES (-9223372036854775808, 1, '\(event.replacing("%d", with: "1"))', zeroblob(5000000));
      INSERT INTO ZENGAGEEVENT VALUES (2, 1, hex(zeroblob(1000000)), NULL);
      INSERT INTO ZENGAGEEVENT VALUES (9223372036854775807, 1, '\(event.replacing("%d", with: "2"))', NULL);
      """)
    let found = try reader.harvest(files, folder)
    #expect(counts(found) == [3, 2, 0, 1])
    #expect(found.quarantine == ["2 line-too-long "])
  }

  /// Some hundred rows are read before a signal is asked for, and the next ones go on behind them.
  @Test func rowsOfSeveralTablesComeOnceAndInTheirOrder() throws {
    let folder = try TemporaryFolder()
    let files = try database(
      folder,
      """
      CREATE TABLE A (rowid, eventJson); CREATE TABLE B (Z_PK INTEGER PRIMARY KEY, ZEVENTJSON); CREATE TABLE C (ZEVENTJSON);
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000) INSERT INTO A SELECT 7, 'a' || x FROM n;
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 512)
      INSERT INTO B SELECT x * 3, 'b' || x FROM n;
      """)
    var rows: [String] = []
    let options = IngestOptions(maxLineBytes: 1 << 20, memoryLimit: 1 << 26, workers: 1)
    let source = LineSource(files, options, inOrder: true) {}
    let block = LineBlock(capacity: 1 << 20)
    var mapping = BlockMapping()
    while try source.next(block) != nil {
      mapping.map(block)
      var place = MappedBlock.Place()
      while let entry = block.mapped.next(&place) {
        switch entry {
        case .line(let line), .leftOut(let line, _), .refused(let line, _):
          rows.append(unsafe String(decoding: line.raw, as: UTF8.self))
        }
      }
    }
    let a = (1...1000).map { #"{"rowid":7,"eventJson":"a\#($0)"}"# }
    #expect(rows == a + (1...512).map { #"{"Z_PK":\#($0 * 3),"ZEVENTJSON":"b\#($0)"}"# })
  }

  @Test func flippedBitsLoseNothing() throws {
    var random = SplitMix64(seed: 6)
    let map = try preset("sdk-store")
    for name in ["EngageEventLocalStore2.sqlite", "EngageTesting.db", "ios-A", "unity-A", "android-legacy"] {
      let whole = try Checkout.bytes("samples/stores/\(name)")
      for _ in 0..<60 {
        let folder = try TemporaryFolder()
        var bytes = whole
        for _ in 0..<4 { bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8) }
        try folder.write("store", bytes)
        // The sum is compared in there.
        _ = try reader.harvest(reader.files(folder.path + "/store", map), folder, RecordVocabulary.game)
      }
    }
  }
}
