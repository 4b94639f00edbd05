package import BatchFoundation

/// An event that a rewind changed, added or withdrew (reference decisions 34).
package struct EventChange: Sendable, Equatable {
  /// The bytes of the device's id.
  package var device: [UInt8]
  /// The identity of the event through changes: a digest of its line, its type, and its number among those.
  package var key: [UInt8]
  /// The event as it was before; nil for a new one.
  package var before: DecidedEvent?
  /// The current event, in a separate block; nil for a withdrawn one.
  package var after: [UInt8]?
  /// The late record that caused the change.
  package var source: StoredSource

  package init(
    device: [UInt8], key: [UInt8], before: DecidedEvent?, after: [UInt8]?, source: StoredSource
  ) {
    self.device = device
    self.key = key
    self.before = before
    self.after = after
    self.source = source
  }
}

/// An event by its place among those of its device, and in the form of the wire.
package struct DecidedEvent: Sendable, Equatable {
  package var timestamp: Instant
  package var emission: Int64
  package var json: [UInt8]

  package init(timestamp: Instant, emission: Int64, json: [UInt8]) {
    self.timestamp = timestamp
    self.emission = emission
    self.json = json
  }

  /// Copies the current event of a cursor.
  package init(_ cursor: EventBlockReader) {
    var json = ByteBuffer()
    cursor.appendJSON(to: &json)
    self.init(timestamp: cursor.timestamp, emission: cursor.emission, json: json.array)
  }
}

/// The counts of events that rewinds changed.
package struct RewoundEvents: Sendable, Equatable {
  package var replaced = 0
  package var withdrawn = 0
  package var added = 0
  /// Events that a service may have, and that should be different.
  package var corrections = 0
  /// The increase in events that a service may have and that should not exist.
  package var sentInVain = 0

  package init() {}
}

/// An event that a service has, or may have, and that a late record changes (reference decisions 34).
package struct Correction: Sendable, Equatable {
  package enum Kind: String, Sendable { case changed, withdrawn }

  /// The position in the order in which corrections were found.
  package var number: Int64
  package var event: EventID
  /// The chunk that it was sent in: another event may have its id by now.
  package var chunk: Int64
  package var device: [UInt8]
  /// The event as it was sent.
  package var sent: [UInt8]
  /// The event as it would be sent now; nil if it would not be.
  package var right: DecidedEvent?
  /// The late record; nil if its file is unknown.
  package var source: RecordSource?
  /// The run that found it.
  package var run: RunID

  package var kind: Kind { right == nil ? .withdrawn : .changed }
}
