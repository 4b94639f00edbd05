import BatchFoundation
import BatchPlatform
import DeltaDNAPlatform
import EngagePlatform
import GRDB

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
    try store.ledger.forEachEvent(EventFilter()) { event in
      if let json = corrected["\(event.chunk) \(event.id)"] ?? event.json {
        events.append(String(decoding: json, as: UTF8.self))
      }
      return true
    }
    try store.close()
    events.sort()
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

/// What one has and the other has not.
func difference(_ one: [String], _ other: [String]) -> [String] {
  other.difference(from: one).map { change in
    switch change {
    case .insert(_, let element, _): "missing: \(element)"
    case .remove(_, let element, _): "too much: \(element)"
    }
  }
}
