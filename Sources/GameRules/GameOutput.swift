package import BatchFoundation

/// What the rules made of the records they were given, until it is taken.
package struct GameOutput {
  /// In order of emission, device after device; sort by ``GameEvent/precedes(_:_:)`` for delivery.
  package var events: [GameEvent] = []
  package var engagements: [Engagement] = []
  package var warnings: [GameWarning] = []
  /// Records from before what was decided of their device, with `Ingest.lateRecords` = `quarantine`.
  package var late: [RecordPosition] = []
  package var counts = GameCounts()
  /// When the sessions of ``GameCounts/sessionsStarted`` and ``GameCounts/sessionsEnded`` did.
  package var sessionStarts: [Instant] = []
  package var sessionEnds: [Instant] = []
  /// Of all sessions that are over, also of those that end silently, from the beginning to the last sign of use.
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

/// Figures of the summary that the rules know (reference deltadna 10).
package struct GameCounts: Sendable, Equatable {
  /// `sessionID`s made by section 4.
  package var sessionsStarted = 0
  /// With `gameEnded`.
  package var sessionsEnded = 0
  /// Records that would have become an event, while the user was opted out; else, while consent was denied.
  package var optedOut = 0
  package var consentDenied = 0
  /// Events that the whitelist does not have.
  package var notWhitelisted = 0
  /// Responses of triggers.
  package var triggered = 0
  /// By the key of the trigger.
  package var responses: [UInt64: Int] = [:]
  /// Records by the raw value of their type.
  package var ignored: [UInt8: Int] = [:]

  package init() {}
}

/// Something that could not be used although the record counts; each kind is described in `docs/warnings.md`.
package struct GameWarning: Sendable {
  package enum Kind: Hashable, Sendable {
    /// The `transactionServer` cannot validate the receipt with what the record has.
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

  /// What happened; holds no value of the record.
  package var detail: String {
    switch kind {
    case .incompleteReceipt: "transactionServer lacks what it needs to validate the receipt"
    case .lateRecord: "before what was decided of its device: outside its sessions"
    case .ignored: "records of this type mean nothing to deltaDNA; checked and ignored"
    }
  }
}
