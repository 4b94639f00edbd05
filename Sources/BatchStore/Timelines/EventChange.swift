package import BatchFoundation

/// An event that a rewind changed, added or withdrew (reference decisions 34).
package struct EventChange: Sendable, Equatable {
  /// The bytes of the device's id.
  package var device: [UInt8]
  /// The identity of the event, which rewinds do not change: a digest of its line, its type, and its index among the
  /// events with the same line and type.
  package var key: [UInt8]
  /// The event before the rewind; nil for a new event.
  package var before: WireEvent?
  /// The event after the rewind, as a block of its own; nil for a withdrawn event.
  package var after: [UInt8]?
  /// The late record that caused the change.
  package var source: StoredSource

  package init(
    device: [UInt8], key: [UInt8], before: WireEvent?, after: [UInt8]?, source: StoredSource
  ) {
    self.device = device
    self.key = key
    self.before = before
    self.after = after
    self.source = source
  }

}

extension [EventChange] {
  /// The changes in the order in which they are settled: new events, then the others by their earlier times. Changes of
  /// one time keep their order. Rows in this order are read and deleted page by page.
  package var inOrderOfSettlement: [EventChange] {
    let times = indices.map { (at: self[$0].before?.timestamp.milliseconds ?? .min, place: $0) }
    return times.sorted { $0 < $1 }.map { self[$0.place] }
  }
}

/// An event as on the wire, with its place among the events of its device.
package struct WireEvent: Sendable, Equatable {
  package var timestamp: Instant
  package var emission: Int64
  package var json: [UInt8]

  package init(timestamp: Instant, emission: Int64, json: [UInt8]) {
    self.timestamp = timestamp
    self.emission = emission
    self.json = json
  }

  /// Copies the current event of a reader.
  package init(_ cursor: EventBlockReader) {
    self.init(timestamp: cursor.timestamp, emission: cursor.emission, json: cursor.json)
  }
}

/// The number of events that rewinds changed, by kind of change.
package struct RewoundEvents: Sendable, Equatable {
  package var replaced = 0
  package var withdrawn = 0
  package var added = 0
  /// The number of events that a service has, or may have, in a version that is now wrong.
  package var corrections = 0
  /// The increase in the number of events that a service has, or may have, although they should not exist.
  package var sentWrongly = 0

  package init() {}
}

/// An event that a service has, or may have, and that a late record changed or withdrew (reference decisions 34).
package struct Correction: Sendable, Equatable {
  package enum Kind: String, Sendable { case changed, withdrawn }

  /// The position among all corrections, in the order in which they were found.
  package var number: Int64
  package var event: EventID
  /// The chunk in which the event was sent. By now, another event may have the same id.
  package var chunk: Int64
  package var device: [UInt8]
  /// The event as it was sent.
  package var sent: [UInt8]
  /// The event as it would be sent now; nil if it would not be sent.
  package var right: WireEvent?
  /// The place of the late record; nil if its file is unknown.
  package var source: RecordSource?
  /// The run that found the correction.
  package var run: RunID

  package var kind: Kind { right == nil ? .withdrawn : .changed }
}
