package import BatchFoundation
package import BatchReport

/// The parameters of a rerun, which processes a window of a store again.
package struct Rerun: Sendable {
  package var from: Instant
  /// The exclusive end of the span.
  package var to: Instant
  /// The sent events to send again; nil for none.
  package var sendsAgain: SentEvents?
  /// Whether files that earlier runs read may be missing.
  package var allowsMissingInputs: Bool
  /// Whether the rerun is only tried, without changing the store.
  package var isRehearsal: Bool

  package init(
    from: Instant, to: Instant, sendsAgain: SentEvents?, allowsMissingInputs: Bool, isRehearsal: Bool
  ) {
    self.from = from
    self.to = to
    self.sendsAgain = sendsAgain
    self.allowsMissingInputs = allowsMissingInputs
    self.isRehearsal = isRehearsal
  }
}

/// The sent events to send again, selected by comparing them with the new events.
package enum SentEvents: String, CaseIterable, Sendable {
  /// The events with different attributes.
  case different
  /// The events with different attributes, and the unchanged events.
  case all
}

/// The results of a rerun, as numbers of events in its span.
package struct RerunCounts: Sendable, Equatable {
  /// The number of events that were, or may have been, sent and that the rerun produced again unchanged. ``different``
  /// counts those that now have different attributes, and ``gone`` those that were not produced again.
  package var same = 0
  package var different = 0
  package var gone = 0
  /// The number of events in ``same``, ``different`` and ``gone`` that the service may or may not have.
  package var inDoubt = 0
  /// The number of pending events removed from the store.
  package var removed = 0
  /// The number of events that are now pending as a result of the rerun.
  package var stored = 0
  /// The number of ``stored`` events that were already pending before, with the same content.
  package var unchanged = 0
  /// The number of events, stored or new, left unchanged because the state of their device contains held events.
  package var heldBack = 0
}

package struct RerunOutcome: Sendable {
  package var counts: RerunCounts
  /// The figures of the inputs, which were processed from the first record on.
  package var records: RunSummary
  /// The figures of unread lines within the reach of a rewind, which were imported first; nil if none could be.
  package var taken: RunSummary?
  /// The number of files read; ``missingFiles`` counts files that earlier runs read and that are missing now.
  package var files: Int
  package var missingFiles: Int
}
