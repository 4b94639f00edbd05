package import BatchFoundation
package import BatchReport

/// What is asked of a rerun: a span of time of a store that is decided once more.
package struct Rerun: Sendable {
  package var from: Instant
  /// Not part of the span.
  package var to: Instant
  /// Which events go out again although they were sent; nil for none.
  package var sendsAgain: SentEvents?
  /// Files that earlier runs read may be gone.
  package var allowsMissingInputs: Bool
  /// Everything is tried, and nothing stays.
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

/// Events that were sent, by what they are decided to be now.
package enum SentEvents: String, CaseIterable, Sendable {
  /// Those with other attributes.
  case different
  /// Those too that are the same.
  case all
}

/// What a rerun did, in events of its span.
package struct RerunCounts: Sendable, Equatable {
  /// Of the events that were sent or may have been: decided the same now, with other attributes, or not at all.
  package var same = 0
  package var different = 0
  package var gone = 0
  /// Of these three together, those of which nobody knows whether the service has them.
  package var inDoubt = 0
  /// Events that waited in the store, and went.
  package var removed = 0
  /// Events that wait in their place now.
  package var stored = 0
  /// Of those stored, the ones that had waited before as they are.
  package var unchanged = 0
  /// Events, in the store or decided now, that were left as they are, because the state of their device holds events back.
  package var heldBack = 0
}

/// What a rerun came to.
package struct RerunOutcome: Sendable {
  package var counts: RerunCounts
  /// Of the inputs that were decided, from the first record of the store on.
  package var records: RunSummary
  /// Of the lines within the reach of a rewind that no run had read, which were taken in first; nil where there is none of the span.
  package var taken: RunSummary?
  /// Files that were read, and those that earlier runs read and that are gone.
  package var files: Int
  package var missingFiles: Int
}

/// A rerun that cannot be exact, or has nothing to do.
package enum RerunRefusal: RunError, Equatable, CustomStringConvertible {
  /// No record was ever decided.
  case nothingDecided(store: String)
  /// The span lies before or behind what was decided.
  case outside(store: String, first: Instant, asOf: Instant)
  /// Files that earlier runs read are not among the inputs.
  case missingInputs(count: Int, first: String)

  package var exit: RunExit {
    switch self {
    case .nothingDecided, .outside: .configuration
    case .missingInputs: .noInput
    }
  }

  package var description: String {
    switch self {
    case .nothingDecided(let store):
      "\(store.printable): error: no run has decided a record yet; run the job first"
    case .outside(let store, let first, let asOf):
      "\(store.printable): error: the store has decided from \(first.rfc3339) to \(asOf.rfc3339), and nothing of this window; "
        + "'run' and 'backfill' decide time for the first time"
    case .missingInputs(let count, let first):
      "error: \(count.counted("file")) that earlier runs read, such as '\(first.printable)', \(count == 1 ? "is" : "are") not among "
        + "the inputs; what devices did there decides sessions and campaigns of later days. Nothing was changed. Put the files "
        + "back, or say with --allow-missing-inputs that the rest is right without them"
    }
  }
}
