import BatchFoundation
import BatchIngest
import DeltaDNAEvents
import EngageEvents
import FoundationEssentials
import GRDB
import TestSupport
import Testing

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
    let found = try reader.harvest(reader.files(sample(name), preset("sdk-store")), folder, GameVocabulary())
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
      let vocabulary: any RecordVocabulary = name.hasSuffix("sqlite") ? EngageVocabulary() : GameVocabulary()
      let found = try reader.harvest(reader.files(folder.path + "/cut", map), folder, vocabulary)
      #expect(found.quarantine == reasons.map { "0 \($0) " }, "\(name)")
    }
    try folder.write("text", Array("no store at all".utf8))
    #expect(try reader.harvest(reader.files(folder.path + "/text", map), folder).quarantine == ["0 other-form "])
    try DatabaseQueue(path: folder.path + "/other").write { try $0.execute(sql: "CREATE TABLE a (b)") }
    #expect(try reader.harvest(reader.files(folder.path + "/other", map), folder).quarantine == ["0 other-form "])
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
        _ = try reader.harvest(reader.files(folder.path + "/store", map), folder, GameVocabulary())
      }
    }
  }
}
