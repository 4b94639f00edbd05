package import BatchFoundation
package import BatchStore
import BatchWire
import GameRules

/// Asks the pending questions of a store, each once over all runs (reference deltadna 9). A question's start is durable
/// before its first byte leaves. If the run is killed meanwhile, it stays unanswered: the service may have seen it.
package final class DecisionRun: Sendable {
  private let store: EventStore
  private let run: RunID
  private let asOf: Instant
  private let service: DecisionService?
  private let lifespan: Milliseconds
  private let cancellation = HTTPCancellation()

  /// - Parameters:
  ///   - asOf: the clock of the run, by which answers age.
  ///   - service: nil if no question can be asked; those that the phone would not have asked are still settled.
  ///   - lifespan: how long an answer may replace a failed one; zero for never.
  package init(store: EventStore, run: RunID, asOf: Instant, service: DecisionService?, lifespan: Milliseconds) {
    self.store = store
    self.run = run
    self.asOf = asOf
    self.service = service
    self.lifespan = lifespan
  }

  /// Ends the asking from another thread: the current question is abandoned, the rest is left for the next run.
  package func end() { cancellation.cancel() }

  /// - Throws: ``StoreError``.
  package func ask() throws -> DecisionReport {
    try store.decisions.begin(run)
    var session = Session(self)
    try session.settleInterrupted()
    var last: StoredDecision?
    while true {
      let page = try store.decisions.waiting(after: last, limit: 256)
      for decision in page { try session.take(decision) }
      guard let end = page.last else { break }
      last = end
    }
    try session.commit(begins: nil)
    return session.report
  }

  /// The state of one call of ``ask()``.
  private struct Session {
    let run: DecisionRun
    var report = DecisionReport()
    private var settled: [(decision: StoredDecision, settlement: DecisionSettlement)] = []

    init(_ run: DecisionRun) { self.run = run }

    mutating func settleInterrupted() throws {
      for decision in try run.store.decisions.interrupted() {
        let failure = DecisionOutcome.failed(DecisionFailure(.noAnswer, status: DecisionFailure.noStatus))
        settled.append((decision, try settlement(of: failure, for: decision)))
      }
    }

    mutating func take(_ decision: StoredDecision) throws {
      guard decision.isAsked else {
        settled.append((decision, .local))
        if settled.count >= 512 { try commit(begins: nil) }
        return
      }
      guard let service = run.service, report.end == nil, !run.cancellation.isCancelled else {
        report.waiting += 1
        return
      }
      try commit(begins: decision)
      CrashPoint.afterIntentCommit.reach()
      let outcome = service.ask(
        Array(decision.body.utf8), consent: decision.consent, cancellation: run.cancellation)
      CrashPoint.afterSend.reach()
      report.asked += 1
      defer {
        let place = DecisionReport.Place(decisionPoint: decision.decisionPoint, flavour: decision.flavour)
        report.places[place, default: [:]][outcome.word, default: 0] += 1
      }
      let settlement = try settlement(of: outcome, for: decision)
      if settlement.error == nil {
        report.answered += 1
      } else if settlement.isCached {
        report.cached += 1
      } else {
        report.failed += 1
      }
      if case .failed(let failure) = outcome, failure.endsAsking { report.end = failure }
      settled.append((decision, settlement))
    }

    mutating func commit(begins: StoredDecision?) throws {
      guard !settled.isEmpty || begins != nil else { return }
      try run.store.decisions.commit(settled, begins: begins, run: run.run, asOf: run.asOf)
      settled.removeAll(keepingCapacity: true)
    }

    private func settlement(of outcome: DecisionOutcome, for decision: StoredDecision) throws -> DecisionSettlement {
      try DecisionSettlement(outcome) {
        guard run.lifespan > .zero else { return nil }
        let oldest = Instant(milliseconds: run.asOf.milliseconds - run.lifespan.count)
        return try run.store.decisions.earlierAnswer(to: decision, after: oldest)
      }
    }
  }
}

/// The figures of a run's questions to Engage (reference deltadna 10).
package struct DecisionReport: Sendable, Equatable {
  /// The requests of this run; the sum of the next three.
  package var asked = 0
  /// The questions with a direct answer.
  package var answered = 0
  /// The failed questions for which an earlier answer was used.
  package var cached = 0
  /// The questions without any answer.
  package var failed = 0
  /// The requests by place and outcome: `answered`, or the word of the failure.
  package var places: [Place: [String: Int]] = [:]
  /// The questions left for a later run.
  package var waiting = 0
  /// The reason why the rest was not asked; nil if it was.
  package var end: DecisionFailure?

  /// The place of questions. Games have a handful.
  package struct Place: Sendable, Hashable {
    package var decisionPoint: String
    package var flavour: String
  }
}
