import BatchFoundation
package import BatchStore
import BatchWire
import Synchronization

/// Sends the chunks in a store and keeps the ledger (reference guarantees 3).
///
/// An attempt is durable before its first byte is sent, and its outcome is durable before anything builds on it. One
/// thread schedules and writes. Attempts that begin or end together share a transaction, so durability costs little
/// even with many requests. If the process is killed, its open attempts have no outcome, and the next delivery treats
/// them as unknown.
package final class Delivery: Sendable {
  private let ledger: Ledger
  private let destination: any Destination
  private let settings: DeliverySettings
  private let clock: any DeliveryClock
  private let seed: UInt64?
  private let signal = DeliverySignal()
  private let isEnding = Atomic(false)

  /// - Parameter seed: the seed of the pauses before retries; nil for random pauses.
  package init(
    ledger: Ledger, destination: any Destination, settings: DeliverySettings,
    clock: any DeliveryClock = SystemDeliveryClock(), seed: UInt64? = nil
  ) {
    self.ledger = ledger
    self.destination = destination
    self.settings = settings
    self.clock = clock
    self.seed = seed
  }

  /// Ends the delivery; callable on any thread. Requests under way get a grace period, and other chunks remain queued.
  package func end() {
    isEnding.store(true, ordering: .relaxed)
    signal.raise()
  }

  /// Sends chunks until none is pending or the delivery ends early. Both closures are called on the calling thread.
  ///
  /// - Parameters:
  ///   - progress: receives the number of events posted so far.
  ///   - trouble: receives a new problem, or periodically one that persists, with the time until the next attempt.
  /// - Throws: ``StoreError``; requests under way then have no outcome, as if the process had been killed.
  package func run(
    _ run: RunID, progress: (Int) -> Void = { _ in }, trouble: (DeliveryTrouble) -> Void = { _ in }
  ) throws -> DeliveryReport {
    var session = try Loop(self, run)
    while try session.step() {
      progress(session.report.upload.eventsPosted)
      if let found = session.takeTrouble() { trouble(found) }
    }
    return try session.finish()
  }

  /// A delivery from start to end, on one thread.
  private struct Loop {
    let delivery: Delivery
    let run: RunID
    let workers: DeliveryWorkers
    var schedule: DeliverySchedule
    var report = DeliveryReport()
    /// The number of chunks read at a time.
    static let page = 64
    /// The last chunk read from the store, after which the next page begins.
    var cursor: PendingChunk?
    var isExhausted = false
    /// The bodies prepared for upcoming chunks while requests are under way, by chunk.
    var prepared: [Int64: PreparedChunk] = [:]
    var results: [AttemptResult] = []
    /// The chunks for which a request was sent.
    var sent: Set<Int64> = []
    /// The chunks for which a response was lost, and their parts.
    var inDoubt: Set<Int64> = []
    /// The number of events in parts that were in doubt before their original chunk was, by original chunk.
    var doubtfulInParts: [Int64: Int] = [:]
    /// Parts of chunks, and chunks from the end of the queue, which a later read of the store returns again.
    var known: Set<Int64> = []
    /// Whether the end of the queue has been read.
    var hasEnd = false
    var graceEnds: Milliseconds?
    /// The destination's number of renewals when this delivery began.
    let renewalsBefore: Int
    /// The last failure that has not been reported yet.
    var fault: String?
    /// The time and the reason of the last report of trouble.
    var reported: (at: Milliseconds, reason: String)?

    var ledger: Ledger { delivery.ledger }
    var settings: DeliverySettings { delivery.settings }
    var traits: DeliveryTraits { delivery.destination.traits }
    var lanes: Int { settings.lanes(of: traits) }
    var clock: any DeliveryClock { delivery.clock }

    init(_ delivery: Delivery, _ run: RunID) throws {
      self.delivery = delivery
      self.run = run
      let traits = delivery.destination.traits
      renewalsBefore = delivery.destination.renewals
      workers = try DeliveryWorkers(
        delivery.destination, count: delivery.settings.lanes(of: traits), signal: delivery.signal)
      let random: any RandomNumberGenerator =
        delivery.seed.map { SplitMix64(seed: $0) } ?? SystemRandomNumberGenerator()
      let taken = try delivery.ledger.statusCounts()[.successfullyPosted, default: 0]
      try delivery.ledger.makeIndexes()
      let recovered = try delivery.ledger.recoverAttempts(
        hold: delivery.settings.onUnknown == .hold, run: run, at: delivery.clock.now)
      schedule = DeliverySchedule(
        delivery.settings, traits: traits, hasTaken: taken > 0, remainders: try delivery.ledger.remainders(),
        random: random)
      report.recoveredChunks = recovered.chunks.count
      if recovered.attempts > 0 { report.attempts[.unknown] = recovered.attempts }
      if delivery.settings.onUnknown == .resend, !traits.isIdempotent {
        // A part in doubt has a higher number than its chunk, so it comes later; its events are counted with the chunk.
        for doubt in recovered.inDoubt {
          inDoubt.insert(doubt.chunk)
          if doubt.parent.map({ inDoubt.contains($0) }) != true { report.eventsInDoubt += doubt.events }
        }
      }
    }

    /// Runs one round; returns false when the delivery is over.
    mutating func step() throws -> Bool {
      for answer in workers.takeAnswers() { settle(answer) }
      checkEnding()
      takeBackSpares()
      try refill()
      let starts = start()
      try commit(starts)
      if schedule.isIdle, results.isEmpty {
        if isExhausted {
          schedule.endUnlessDone()
          try commit([])
        }
        return !isExhausted && schedule.stop == nil
      }
      // New trouble is reported before the wait, with the full time until the next attempt.
      if starts.isEmpty, newTrouble == nil, try !prepareAhead() { wait() }
      return true
    }

    private mutating func start() -> [PendingChunk] {
      let ranBefore = schedule.stop == nil
      let starts = schedule.start(now: clock.uptime, ahead: settings.attemptsAhead(traits))
      // The last failure is the reason for the end.
      if ranBefore, schedule.stop != nil { report.stopReason = fault }
      return starts
    }

    private mutating func settle(_ answer: DeliveryWorkers.Answer) {
      let chunk = answer.begun.chunk
      let ranBefore = schedule.stop == nil
      let verdict = schedule.finish(chunk, answer.outcome, now: clock.uptime)
      let outcome = answer.outcome.ledgerOutcome
      if ranBefore, schedule.stop != nil { report.stopReason = answer.reasonWithoutValues }
      results.append(
        AttemptResult(
          attempt: answer.begun.attempt, chunk: chunk, finished: clock.now, outcome: outcome,
          reason: answer.outcome.reason, verdict: verdict))
      // A rejection is not reported as trouble: its message may quote data, and rejected data is not simply sent again.
      if let found = answer.outcome.fault { fault = found.reason }
      if case .rejected = answer.outcome, chunk.events == 1, let reason = answer.reasonWithoutValues {
        report.rejections[reason, default: 0] += 1
      }
      report.attempts[outcome, default: 0] += 1
      if outcome != .notSent {
        report.upload.requests += 1
        if sent.insert(chunk.id).inserted { report.upload.chunks += 1 } else { report.upload.retries += 1 }
      }
      if verdict == .posted { report.upload.eventsPosted += chunk.events }
      if let whole = chunk.parent, inDoubt.contains(whole) { inDoubt.insert(chunk.id) }
      if case .unknown = answer.outcome, verdict != .unknown, !traits.isIdempotent,
        inDoubt.insert(chunk.id).inserted
      {
        report.eventsInDoubt += chunk.events - (doubtfulInParts[chunk.id] ?? 0)
        if let whole = chunk.parent { doubtfulInParts[whole, default: 0] += chunk.events }
      }
    }

    /// Ends attempts that were begun in advance but must not be sent now. Their outcome is `notSent`.
    private mutating func takeBackSpares() {
      guard !schedule.maySend(now: clock.uptime) else { return }
      let spares = workers.takeBack()
      for spare in spares {
        results.append(
          AttemptResult(
            attempt: spare.begun.attempt, chunk: spare.begun.chunk, finished: clock.now, outcome: .notSent,
            reason: "held back", verdict: .pending(countsAsFailure: false)))
      }
      schedule.giveBack(spares.map(\.begun.chunk))
    }

    /// The current problem, if it is new or was last reported at least 10 seconds ago.
    private var newTrouble: String? {
      guard let reason = fault, schedule.stop == nil else { return nil }
      if let reported, reported.reason.utf8.elementsEqual(reason.utf8), clock.uptime.count - reported.at.count < 10_000
      {
        return nil
      }
      return reason
    }

    mutating func takeTrouble() -> DeliveryTrouble? {
      guard let reason = newTrouble else { return nil }
      let now = clock.uptime
      fault = nil
      reported = (now, reason)
      let next = schedule.nextRepetition.map { Milliseconds(max(0, $0.count - now.count)) }
      return DeliveryTrouble(reason: reason, nextAttempt: next)
    }

    private mutating func checkEnding() {
      if delivery.isEnding.load(ordering: .relaxed), graceEnds == nil {
        schedule.end(.interrupted)
        graceEnds = Milliseconds(clock.uptime.count + settings.grace.count)
      }
      if let end = graceEnds, clock.uptime >= end, schedule.inFlight > 0 { workers.abort() }
    }

    private mutating func refill() throws {
      if schedule.wantsEnd, !hasEnd, !isExhausted {
        hasEnd = true
        let last = try ledger.lastPendingChunks(after: cursor, limit: Self.page).filter { !known.contains($0.id) }
        schedule.addEnd(last)
        known.formUnion(last.map(\.id))
      }
      guard !isExhausted, schedule.stop == nil, schedule.readyCount < lanes * 2 else { return }
      let more = try ledger.pendingChunks(after: cursor, limit: Self.page)
      schedule.add(more.filter { !known.contains($0.id) })
      if let last = more.last { cursor = last }
      isExhausted = more.count < Self.page
    }

    /// Writes the ends and beginnings of attempts in one transaction, and then sends the requests for those that began.
    private mutating func commit(_ starts: [PendingChunk]) throws {
      let changes = schedule.takeChanges()
      guard !results.isEmpty || !starts.isEmpty || !changes.isEmpty else {
        workers.send([], limit: schedule.limit)
        return
      }
      let intents = try starts.map { chunk in
        (prepared: try prepared.removeValue(forKey: chunk.id) ?? prepare(chunk), started: clock.now)
      }
      let receipt = try ledger.commit(
        results: results, changes: changes, holdsDoubt: settings.onUnknown == .hold, intents: intents, run: run,
        limits: settings.limits)
      if !results.isEmpty { CrashPoint.afterOutcomeCommit.reach() }
      if !intents.isEmpty { CrashPoint.afterIntentCommit.reach() }
      results.removeAll(keepingCapacity: true)
      report.upload.eventsFailed += receipt.quarantined + receipt.givenUp
      var jobs: [DeliveryWorkers.SendTask] = []
      for (intent, begun) in zip(intents, receipt.begun) {
        guard let begun else {
          schedule.withdraw(intent.prepared.chunk)
          continue
        }
        jobs.append(DeliveryWorkers.SendTask(begun: begun, body: intent.prepared.body))
      }
      workers.send(jobs, limit: schedule.limit)
      known.formUnion(receipt.parts.map(\.id))
      // A part can also be halved without an attempt.
      for part in receipt.parts where part.parent.map(inDoubt.contains) == true { inDoubt.insert(part.id) }
      schedule.addFirst(receipt.parts)
      schedule.takeBack(receipt.joined)
    }

    private func prepare(_ chunk: PendingChunk) throws -> PreparedChunk {
      try ledger.prepare(chunk, form: delivery.destination.form, limits: settings.limits)
    }

    /// Prepares the body of an upcoming chunk; returns false if no more bodies are needed.
    private mutating func prepareAhead() throws -> Bool {
      guard schedule.stop == nil, prepared.count < lanes,
        let next = schedule.upcoming(lanes).first(where: { prepared[$0.id] == nil })
      else { return false }
      prepared[next.id] = try prepare(next)
      return true
    }

    private func wait() {
      var limit = Milliseconds(clock.uptime.count + 1000)
      if let next = schedule.nextStart() { limit = min(limit, next) }
      if let end = graceEnds, clock.uptime < end { limit = min(limit, end) }
      clock.wait(for: delivery.signal, until: limit, inFlight: schedule.inFlight)
    }

    mutating func finish() throws -> DeliveryReport {
      let counts = try ledger.statusCounts()
      report.upload.eventsPending = try ledger.pendingEventCount()
      report.upload.eventsUnknown = counts[.unknown, default: 0]
      report.stop = schedule.stop
      // If no response gave a reason, the last failure is the reason.
      if case .unreachable? = schedule.stop { report.stopReason = report.stopReason ?? fault ?? reported?.reason }
      try ledger.noteDoubtsReported(by: run)
      let renewals = delivery.destination.renewals - renewalsBefore
      report.upload.requests += renewals
      report.upload.retries += renewals
      // Each renewal repeats a request that was refused because its token had expired.
      if renewals > 0 { report.attempts[.refused, default: 0] += renewals }
      return report
    }
  }
}

extension DeliveryWorkers.Answer {
  /// The reason, safe to show: the service's message without quoted values.
  fileprivate var reasonWithoutValues: String? {
    guard case .rejected(let words) = outcome else { return outcome.reason }
    return ServiceWords.withoutValues(words, of: body)
  }
}

extension SendOutcome {
  /// The ledger's name for the outcome.
  fileprivate var ledgerOutcome: AttemptOutcome {
    switch self {
    case .answered: .acknowledged
    case .notSent: .notSent
    case .refused: .refused
    case .rejected: .rejected
    case .unknown: .unknown
    }
  }

  fileprivate var reason: String? {
    if case .rejected(let words) = self { return words }
    return fault?.reason
  }
}
