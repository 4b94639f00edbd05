import BatchFoundation
import EngageRules
import FoundationEssentials
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

@Suite("States of devices") struct StateSegmentTests {
  let folder: TemporaryFolder
  let store: EventStore
  let run: RunID

  init() throws {
    folder = try TemporaryFolder()
    store = try EventStore.open(folder.store)
    run = try store.runs.begin(
      job: "nightly", configurationDigest: "c", started: Instant(milliseconds: 1), asOf: Instant(milliseconds: 2))
  }

  /// Stores the states in one batch; all replace what the store has of their devices.
  private func commit(_ states: [(device: String, state: String, held: Int, due: Int64?)]) throws {
    var batch = LocalBatch()
    for (device, state, held, due) in states {
      let earlier = try store.timelines.device(Array(device.utf8))
      Array(device.utf8).withText { name in
        Array(state.utf8).withUnsafeBufferPointer {
          batch.devices.append(
            device: name, version: 7, held: held, due: due.map(Instant.init(milliseconds:)), state: $0)
        }
      }
      batch.devices.lastReplaces(earlier)
    }
    try store.commit(batch, run: run)
  }

  private func segments(_ store: EventStore? = nil) throws -> [StateSegment] {
    try (store ?? self.store).read { db in
      try Row.fetchAll(db, sql: "SELECT id, bucket, devices, states FROM state_segment ORDER BY id").map {
        try StateSegment($0)
      }
    }
  }

  private func states(_ store: EventStore? = nil) throws -> [String: String] {
    var states: [String: String] = [:]
    try (store ?? self.store).timelines.forEachDevice {
      states[String(decoding: $0.device, as: UTF8.self)] = String(decoding: $0.state, as: UTF8.self)
    }
    return states
  }

  private func name(_ device: StoredDevice) -> String { String(decoding: device.device, as: UTF8.self) }

  /// Returns ids of devices of one bucket.
  private func neighbors(_ count: Int) -> [String] {
    let bucket = DeviceHash("D1").bucket
    return Array(
      (1...).lazy.map { "D\($0)" }.filter { Array($0.utf8).withText { DeviceHash($0).bucket } == bucket }.prefix(count))
  }

  @Test("A later state replaces the earlier one, also of what it holds and of when it is due")
  func laterReplaces() throws {
    try commit([("D1", "one", 2, 50), ("D2", "other", 1, nil)])
    #expect(try store.ledger.statusCounts() == [.hold: 3])
    #expect(try store.overview() == StoreOverview(devices: 2, heldDevices: 2, runs: 1))
    try commit([("D1", "two", 0, 90)])
    try commit([("D3", "new", 0, nil)])
    #expect(
      try store.timelines.states(of: ["D1", "D9", "D2"]) == [
        StoredDevice(device: Array("D1".utf8), version: 7, held: 0, state: Array("two".utf8)), nil,
        StoredDevice(device: Array("D2".utf8), version: 7, held: 1, state: Array("other".utf8)),
      ])
    #expect(try store.ledger.statusCounts() == [.hold: 1])
    #expect(try store.overview() == StoreOverview(devices: 3, heldDevices: 1, runs: 1))
    let bucket = DeviceHash("D1").bucket
    #expect(try store.timelines.deviceCount(bucket: bucket) == 1)
    #expect(try store.timelines.dueDevices(bucket: bucket, before: Instant(milliseconds: 90)) == [])
    #expect(try store.timelines.dueDevices(bucket: bucket, before: Instant(milliseconds: 91)).map(name) == ["D1"])
    var holding: [String] = []
    try store.timelines.forEachHoldingDevice { holding.append(name($0)) }
    #expect(holding == ["D2"])
  }

  @Test("Many small segments, and those with more replaced states than others, are merged")
  func merges() throws {
    let devices = neighbors(20)
    try commit(devices.map { ($0, "0", 1, nil) })
    for night in 1...4 { try commit(devices.prefix(4).map { ($0, "\(night)", night, nil) }) }
    try store.timelines.mergeStates()
    #expect(try segments().map(\.devices) == [20, 4, 4, 4, 4])
    let before = try (states(), store.overview(), store.ledger.statusCounts())
    #expect(before.2 == [.hold: 32])
    try commit(devices.prefix(5).map { ($0, "5", 1, nil) })
    try store.timelines.mergeStates()
    #expect(try segments().map(\.devices) == [20])
    #expect(try states() == before.0.merging(devices.prefix(5).map { ($0, "5") }) { $1 })
    #expect(try (store.overview(), store.ledger.statusCounts()) == (before.1, [.hold: 20]))
    for _ in 1...8 { try commit([(devices[0], "6", 1, nil)]) }
    try store.timelines.mergeStates()
    #expect(try segments().map(\.devices) == [20])
    #expect(try states()[devices[0]] == "6")
  }

  @Test("A segment has 512 devices at most, and devices come by the bytes of their ids from all")
  func order() throws {
    let devices = neighbors(600) + (0..<50).map { "other-\($0)" }
    try commit(devices.shuffled().map { ($0, "s", 0, nil) })
    #expect(try segments().map(\.devices).max() == 512)
    func listed(after: String?) throws -> [String] {
      var listed: [String] = []
      try store.timelines.forEachDevice(after: after.map { Array($0.utf8) }) {
        listed.append(name($0))
        return listed.count < 640
      }
      return listed
    }
    let sorted = devices.sorted()
    #expect(try listed(after: nil) == Array(sorted.prefix(640)))
    #expect(try listed(after: sorted[99]) == Array(sorted.dropFirst(100)))
  }

  @Test("Of a damaged segment 'check' tells how many states are lost, and 'salvage' keeps the others")
  func damage() throws {
    let devices = neighbors(3)
    try commit([(devices[0], "first", 1, nil), (devices[1], "second", 1, nil), (devices[2], "third", 1, nil)])
    try commit([("D2", "whole", 0, nil)])
    var bytes = try CompressedBytes.unpacked(segments()[0].states)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("second".utf8)) })
    bytes[place] ^= 1
    let packed = bytes.withUnsafeBytes { CompressedBytes.packed($0) }
    try store.write { db in
      try db.execute(sql: "UPDATE state_segment SET states = ? WHERE id = 1", arguments: [packed.blob])
    }
    #expect(
      throws: StoreError.damagedRow(path: folder.store, table: "state_segment", row: 1, column: "states")
    ) { try store.timelines.device(Array(devices[0].utf8)) }
    var found: [StoreDamage] = []
    try store.check { found.append($0) }
    #expect(
      found == [StoreDamage(table: "state_segment", row: 1, problem: "device states are damaged (1 of 3)")])
    let report = try store.salvage(to: folder.path + "/new.sqlite")
    #expect(
      report.lost == [
        StoreDamage(
          table: "state_segment", row: 1, problem: "damaged device states were not copied (1 of 3)")
      ])
    let new = try EventStore.open(folder.path + "/new.sqlite")
    #expect(try states(new) == [devices[0]: "first", devices[2]: "third", "D2": "whole"])
    #expect(try new.overview() == StoreOverview(devices: 3, heldDevices: 2, runs: 1))
    #expect(try new.ledger.statusCounts() == [.hold: 2])
    try new.close()
  }

  @Test("What precedes a damaged byte of a compressed segment is kept", arguments: 1...40 as ClosedRange<UInt64>)
  func damagedBytes(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let devices = neighbors(60)
    try commit(devices.map { ($0, "\($0) \(random.next())", 0, nil) })
    let whole = try states()
    var bytes = try segments()[0].states
    let place = Int.random(in: 4..<bytes.count, using: &random)
    bytes[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
    try store.write { try $0.execute(sql: "UPDATE state_segment SET states = ?", arguments: [bytes.blob]) }
    _ = try store.salvage(to: folder.path + "/new.sqlite")
    let new = try EventStore.open(folder.path + "/new.sqlite")
    let kept = try states(new)
    #expect(kept.allSatisfy { whole[$0.key] == $0.value })
    // Compressed to two thirds, with room for what the damaged byte belongs to.
    #expect(kept.count >= max(0, place * 60 / bytes.count - 4), "\(kept.count), damaged at \(place) of \(bytes.count)")
    try new.close()
  }

  @Test("An erasure leaves no replaced state with an id")
  func erasure() throws {
    try commit([("D1", "ada-lovelace", 0, nil), ("D2", "bob", 2, nil)])
    try commit([("D1", "nobody", 0, nil)])
    let report = try store.erasures.erase(
      [PersonID(.device, "D2"), PersonID(.user, "ada-lovelace")], at: .fixture,
      ErasureOptions(admitsFoundDevices: false, isRehearsal: false), isOf: { _ in { _ in false } })
    #expect(report.counts == ["devices": 1, "HOLD": 2])
    #expect(report.devices == [Array("D2".utf8)])
    #expect(try states() == ["D1": "nobody"])
    #expect(try segments().map(\.devices) == [1])
    #expect(try store.overview() == StoreOverview(devices: 1, heldDevices: 0, runs: 1))
  }

  @Test("A purge deletes idle devices that nothing is due for")
  func purge() throws {
    try commit([("D1", "old", 0, nil), ("D2", "old", 0, 5), ("D3", "old", 3, nil), ("D4", "new", 0, nil)])
    let day: Int64 = 86_400_000
    let report = try store.retention.purgeKnowledge(
      asOf: Instant(milliseconds: 9 * day), digestDays: nil, deviceDays: 2,
      lastSeen: { Instant(milliseconds: $0.state == Array("old".utf8) ? day : 9 * day) })
    #expect(report == KnowledgeReport(digests: 0, devices: 1))
    #expect(try states().keys.sorted() == ["D2", "D3", "D4"])
  }
}
