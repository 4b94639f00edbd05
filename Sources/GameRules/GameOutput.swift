package import BatchFoundation

/// The results of the rules since the caller last took them.
package struct GameOutput {
  /// The events in emission order, device by device. Delivery sorts them by ``GameEvent/precedes(_:_:)``.
  package var events: [GameEvent] = []
  package var engagements: [Engagement] = []
  package var warnings: [GameWarning] = []
  /// The late records to be quarantined; empty unless `Ingest.lateRecords` = `quarantine`.
  package var late: [RecordPosition] = []
  package var counts = GameCounts()
  /// The instants at which a `sessionID` was generated (reference deltadna 4).
  package var sessionStarts: [Instant] = []
  /// The instants of `gameEnded`.
  package var sessionEnds: [Instant] = []
  /// The lengths of all finished sessions, from the start to the last sign of use, including sessions that ended
  /// without an event.
  package var sessionLengths: [Milliseconds] = []

  package mutating func removeAll() {
    events.removeAll(keepingCapacity: true)
    engagements.removeAll()
    warnings.removeAll(keepingCapacity: true)
    late.removeAll()
    sessionStarts.removeAll(keepingCapacity: true)
    sessionEnds.removeAll(keepingCapacity: true)
    sessionLengths.removeAll(keepingCapacity: true)
    counts = GameCounts()
  }
}

/// Counts for the summary besides those of the lists in ``GameOutput`` (reference deltadna 10).
package struct GameCounts: Sendable, Equatable {
  /// The number of records dropped because the player had opted out. `consentDenied` counts those dropped only because
  /// consent was denied.
  package var optedOut = 0
  package var consentDenied = 0
  package var notWhitelisted = 0
  package var triggered = 0
  /// The number of responses, by trigger key.
  package var responses: [UInt64: Int] = [:]
  /// The number of ignored records, by the raw value of their type.
  package var ignored: [UInt8: Int] = [:]
}

/// A problem with a record that is accepted nevertheless; `docs/words.md` describes each kind.
package struct GameWarning: Sendable {
  package enum Kind: Hashable, Sendable {
    /// The record lacks what the `transactionServer` needs to validate the receipt.
    case incompleteReceipt
    case lateRecord
    /// A record of a type that only Engage uses.
    case ignored(GameRecordType)

    package var name: String {
      switch self {
      case .incompleteReceipt: "incomplete-receipt"
      case .lateRecord: "late-record"
      case .ignored(let type): "ignored-\(type.name)"
      }
    }
  }

  package var kind: Kind
  package var device: Text
  package var position: RecordPosition

  /// The description of the kind; contains no value from the record.
  package var detail: String {
    switch kind {
    case .incompleteReceipt: "the record lacks data that transactionServer needs to validate the receipt"
    case .lateRecord: "earlier than the last processed record of its device; processed outside sessions"
    case .ignored: "the destination does not use records of this type; checked and ignored"
    }
  }
}
