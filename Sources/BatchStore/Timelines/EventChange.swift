package import BatchFoundation

/// An event that a rewind decided otherwise, or for the first time (reference decisions 34).
package struct EventChange: Sendable, Equatable {
  /// The bytes of the device's id.
  package var device: [UInt8]
  /// What the event is known by, whatever becomes of it: a digest of the line that causes it, its type, and its number among those.
  package var key: [UInt8]
  /// The event as it was decided before; nil for one that is new.
  package var before: DecidedEvent?
  /// The event as it is decided now, a block of its own; nil for one that is withdrawn.
  package var after: [UInt8]?
  /// The late record that did it.
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

  /// The event that a cursor stands on.
  package init(_ cursor: any EventCursor) {
    var json = ByteBuffer()
    cursor.appendJSON(to: &json)
    self.init(timestamp: cursor.timestamp, emission: cursor.emission, json: json.array)
  }
}

/// What became of the events that rewinds decided otherwise.
package struct RewoundEvents: Sendable, Equatable {
  package var replaced = 0
  package var withdrawn = 0
  package var added = 0
  /// Events that are perhaps taken, and would be different.
  package var corrections = 0
  /// Of those that are perhaps taken, how many more are not right any more at all than before.
  package var sentInVain = 0

  package init() {}
}

/// An event that a service took, or may have taken, and that a late record makes different (reference decisions 34).
package struct Correction: Sendable, Equatable {
  package enum Kind: String, Sendable { case changed, withdrawn }

  /// In the order in which corrections were found.
  package var number: Int64
  package var event: EventID
  /// The chunk that it was sent in: another event may have its id by now.
  package var chunk: Int64
  package var device: [UInt8]
  /// As it was sent.
  package var sent: [UInt8]
  /// As it would be sent now; nil for an event that would not be.
  package var right: DecidedEvent?
  /// The late record; nil where its file is not known.
  package var source: RecordSource?
  /// The run that found it.
  package var run: RunID

  package var kind: Kind { right == nil ? .withdrawn : .changed }
}
