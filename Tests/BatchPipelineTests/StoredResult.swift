import BatchFoundation
import Engage
import GRDB
import Games
import Testing

@testable import BatchPipeline
@testable import BatchStore

/// What nights and other ways to decide records left in a store, to be compared with what one run leaves.
struct StoredResult: Equatable {
  /// As they were sent or would be; those that have a correction as they should be.
  var events: [String] = []
  /// By device: events that it holds, its state.
  var devices: [String] = []
  var corrections = 0

  init(of folder: JobFolder) throws {
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
    try store.timelines.forEachDevice { device in
      devices.append(
        "\(String(decoding: device.device, as: UTF8.self)) \(device.held) \(Hexadecimal.text(of: device.state))")
    }
    var corrected: [String: [UInt8]?] = [:]
    try store.ledger.forEachCorrection { corrected["\($0.chunk) \($0.event)"] = .some($0.right?.json) }
    corrections = corrected.count
    var ids: Set<EventID> = []
    try store.ledger.forEachEvent(EventFilter()) { event in
      #expect(ids.insert(event.id).inserted, "two events are \(event.id)")
      if let json = corrected["\(event.chunk) \(event.id)"] ?? event.json {
        events.append(String(decoding: json, as: UTF8.self))
      }
      return true
    }
    try store.close()
    events.sort()
  }

  /// As if a service had taken all that waits.
  static func post(in folder: JobFolder) throws {
    let store = try EventStore.open("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
    try store.write { db in
      try db.execute(
        sql: "UPDATE chunk SET status = ? WHERE status = ?",
        arguments: [EventStatus.successfullyPosted, EventStatus.notPosted])
    }
    try store.close()
  }

  /// As if a service had taken some of what waits.
  static func post(some random: inout SplitMix64, in folder: JobFolder) throws {
    let (divisor, rest) = (Int.random(in: 2...3, using: &random), Int.random(in: 0...1, using: &random))
    let store = try EventStore.open("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
    try store.write { db in
      try db.execute(
        sql: "UPDATE chunk SET status = ? WHERE status = ? AND id % ? <> ?",
        arguments: [EventStatus.successfullyPosted, EventStatus.notPosted, divisor, rest])
    }
    try store.close()
  }
}

extension StoredResult {
  /// As if the answers to some of what waits had been lost, and some of it had been rejected.
  static func lose(some random: inout SplitMix64, in folder: JobFolder) throws {
    let rest = Int.random(in: 0..<3, using: &random)
    let store = try EventStore.open("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
    try store.write { db in
      for (place, outcome) in [AttemptOutcome.unknown, .rejected].enumerated() {
        try db.execute(
          sql: """
            INSERT INTO attempt (chunk, number, run, body_digest, started, finished, outcome)
            SELECT id, 1, run, x'00', 0, 1, ? FROM chunk WHERE status = ? AND id % 3 = ?
            """, arguments: [outcome, EventStatus.notPosted, (rest + place) % 3])
      }
    }
    try store.close()
  }

  /// What a service has, as it was sent.
  static func posted(in folder: JobFolder) throws -> [String] {
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
    var posted: [String] = []
    try store.ledger.forEachEvent(EventFilter(status: .successfullyPosted)) { event in
      posted.append(String(decoding: event.json, as: UTF8.self))
      return true
    }
    try store.close()
    return posted.sorted()
  }

  /// What has a correction, of one kind or any, as it was sent.
  static func corrected(in folder: JobFolder, _ kind: Correction.Kind? = nil) throws -> [String] {
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
    var corrected: [String] = []
    try store.ledger.forEachCorrection {
      if kind == nil || kind == $0.kind { corrected.append(String(decoding: $0.sent, as: UTF8.self)) }
    }
    try store.close()
    return corrected.sorted()
  }

  /// What a service has or may have, as it was sent, with where it stands.
  static func sent(in folder: JobFolder) throws -> [String] {
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
    let lost = try store.read { db in
      try Set(
        Int64.fetchAll(db, sql: "SELECT chunk FROM attempt WHERE outcome = ?", arguments: [AttemptOutcome.unknown]))
    }
    var sent: [String] = []
    try store.ledger.forEachEvent(EventFilter()) { event in
      if event.status == .successfullyPosted || lost.contains(event.chunk) {
        sent.append("\(event.chunk) \(String(decoding: event.json, as: UTF8.self))")
      }
      return true
    }
    try store.close()
    return sent.sorted()
  }
}

extension [String] {
  /// Those that the other has not, or not as often; both are sorted.
  func without(_ other: [String]) -> [String] {
    difference(from: other).insertions.compactMap { change in
      if case .insert(_, let element, _) = change { element } else { nil }
    }
  }
}

/// What one has and the other has not.
func difference(_ one: [String], _ other: [String]) -> [String] {
  other.difference(from: one).map { change in
    switch change {
    case .insert(_, let element, _): "missing: \(element)"
    case .remove(_, let element, _): "too much: \(element)"
    }
  }
}
