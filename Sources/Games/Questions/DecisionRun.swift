package import BatchFoundation
package import BatchStore
import BatchWire

/// Sends the pending questions in a store to deltaDNA Engage, each at most once over all runs (reference deltadna 9). The
/// store records the start of a question before the first byte is sent. If the run is then killed, the question is left
/// unanswered, because the service may have seen it.
package final class DecisionRun: Sendable {
  private let store: EventStore
  private let run: RunID
  private let asOf: Instant
  private let service: GameEndpoint?
  private let lifespan: Milliseconds
  private let cancellation = HTTPCancellation()

  /// - Parameters:
  ///   - asOf: the clock of the run, which determines the age of answers.
  ///   - service: nil if no question can be sent; questions that a phone would not have sent are settled nevertheless.
  ///   - lifespan: the age up to which an earlier answer may replace a failed one; zero if none may.
  package init(store: EventStore, run: RunID, asOf: Instant, service: GameEndpoint?, lifespan: Milliseconds) {
    self.store = store
    self.run = run
    self.asOf = asOf
    self.service = service
    self.lifespan = lifespan
  }

  /// Stops ``ask()`` from another thread. The current question is abandoned; the rest are left for the next run.
  package func end() { cancellation.cancel() }

  /// - Throws: ``StoreError``.
  package func ask() throws -> DecisionReport {
    try store.decisions.begin(run)
    var session = Session(self)
    try session.settleInterrupted()
    var last: StoredDecision?
    while true {
      let page = try store.decisions.pending(after: last, limit: 256)
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
        report.pending += 1
        return
      }
      try commit(begins: decision)
      CrashPoint.afterIntentCommit.reach()
      let outcome = service.ask(
        Array(decision.body.utf8), consent: decision.consent, cancellation: run.cancellation)
      CrashPoint.afterSend.reach()
      let settlement = try settlement(of: outcome, for: decision)
      let fate: GameFigure = settlement.error == nil ? .answered : settlement.isCached ? .cached : .failed
      let place = GameFigure.asked(decision.decisionPoint, decision.flavour, outcome.word)
      for figure in [GameFigure.asked.rawValue, fate.rawValue, place] { report.figures[figure, default: 0] += 1 }
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

/// The figures of a run's questions to deltaDNA Engage (reference deltadna 10).
package struct DecisionReport: Sendable, Equatable {
  /// The numbers of requests in this run: all, by their outcome for the question, and by place and outcome (see
  /// ``GameFigure``).
  package var figures: [String: Int] = [:]
  /// The number of questions left for a later run.
  package var pending = 0
  /// The failure after which no more questions were sent; nil if there was none.
  package var end: DecisionFailure?
}
