package import BatchFoundation
package import BatchStore

/// Decides what is sent when, and what an answer means for its chunk. Pure: the time is told to it, and chance comes from a
/// source that tests seed.
///
/// Retries wait as `Backoff` says, by the failures of their chunk. A throttled request halves the number of requests at once, which then
/// grows by one with every full round of successes. Refusals for now are waited out (`Outage`). Where the destination says how often a
/// chunk may be tried (``DeliveryTraits/mostAttempts``), that alone counts, and the doubled span is waited for in full.
///
/// A chunk at which the service fails that often is suspected, one at a time: its halves are tried (`Trial`), until the event stands
/// alone at which the service fails. docs/guarantees.md has the table of all this.
package struct DeliverySchedule {
  struct Delayed {
    var due: Milliseconds
    var chunk: PendingChunk
  }

  /// What went wrong with a chunk in this run.
  struct Trouble {
    var attempts = 0
    let since: Milliseconds
    /// How many requests had been acknowledged when its first failure came.
    let acknowledgedBefore: Int
    /// The same when its last failure but one came.
    var acknowledgedLast: Int
    /// How many chunks that had been refused for now had been taken later, when its first failure came.
    let recoveriesBefore: Int
    var wasRefusedForNow = false
  }

  let settings: DeliverySettings
  let traits: DeliveryTraits
  /// The service took something in an earlier run.
  private let hasTaken: Bool
  private var random: any RandomNumberGenerator
  private var ready: [PendingChunk] = []
  private var readyStart = 0
  var delayed: [Delayed] = []
  /// Chunks that were refused while everything was, or failed so often that they would be suspected, if anything showed that it
  /// is not the service that fails: they wait for the others.
  var waiting: [PendingChunk] = []
  /// Chunks that are to blame as far as anybody can tell; the next trial is of the first.
  var suspects: [PendingChunk] = []
  /// Chunks at which the service failed next to others that it took.
  var proven: Set<Int64> = []
  var trial: Trial?
  /// Trials that the one at hand is part of: of the first half of each, all of whose halves failed.
  var vain: [Trial] = []
  var troubles: [Int64: Trouble] = [:]
  var pausedUntil = Milliseconds.zero
  /// Repetitions that were asked for.
  private var retries = 0
  private var failuresInARow = 0
  var acknowledged = 0
  /// Chunks that were refused for now and taken later.
  private var recoveries = 0
  private var outage: Outage?
  var refusedEvents = RefusedEvents()
  /// The chunks that parts came from in the first place.
  private var wholes: [Int64: Int64] = [:]
  /// Requests at once while there is no outage.
  private var atOnce: Int
  private var growth = 0

  /// A chunk becomes parts, which nothing may overtake.
  var awaitsParts = false

  package private(set) var inFlight = 0
  /// Set once; nothing is started any more.
  package private(set) var stop: DeliveryStop?

  /// - Parameter hasTaken: the service took something in an earlier run.
  package init(
    _ settings: DeliverySettings, traits: DeliveryTraits = DeliveryTraits(), hasTaken: Bool = false,
    random: any RandomNumberGenerator
  ) {
    self.settings = settings
    self.traits = traits
    self.hasTaken = hasTaken
    self.random = random
    atOnce = settings.lanes(of: traits)
  }

  private var lanes: Int { settings.lanes(of: traits) }

  /// Requests at once, as of now.
  package var limit: Int { isOut ? 1 : atOnce }

  /// The service refuses everything for now.
  private var isOut: Bool { outage?.isGeneral == true }

  package var readyCount: Int { ready.count - readyStart }

  /// Nothing is left to send or to wait for, as far as this knows.
  package var isIdle: Bool {
    inFlight == 0
      && (stop != nil || nothingElseIsReady && !mayAsk && suspects.isEmpty && trial == nil && nextTried == nil)
  }

  /// Whether nothing but what is told about below could show that the service works.
  var nothingElseIsReady: Bool { inFlight == 0 && readyCount == 0 && delayed.isEmpty }

  /// Whether a refusal for now is waited out with one of those that wait, for want of others.
  var mayAsk: Bool { nextAsking != nil }

  private var nextAsking: Int? { outage == nil ? nil : waiting.firstIndex { !isTried($0) } }

  /// One of those that wait whose halves can ask in its place.
  var nextTried: Int? { waiting.firstIndex(where: isTried) }

  /// Whether a trial can tell more of it than another attempt.
  private func isTried(_ chunk: PendingChunk) -> Bool { chunk.events > 1 && chunk.failures >= mostFailures }

  /// Counted attempts of one chunk at which it may be suspected.
  var mostFailures: Int { traits.mostAttempts ?? settings.maxFailures }

  /// The chunks that come next as far as retries do not come between.
  package func upcoming(_ count: Int) -> ArraySlice<PendingChunk> { ready[readyStart...].prefix(count) }

  package mutating func add(_ chunks: [PendingChunk]) {
    if readyStart > 1000 {
      ready.removeFirst(readyStart)
      readyStart = 0
    }
    ready.append(contentsOf: chunks)
  }

  /// Puts the parts of a chunk where the next chunk is taken from.
  package mutating func addFirst(_ parts: [PendingChunk]) {
    awaitsParts = false
    if let begun = trial, begun.halves.isEmpty {
      let halves = parts.filter { $0.parent == begun.chunk.id }
      trial?.begin(halves)
      if halves.isEmpty { endTrial() }
    }
    guard !parts.isEmpty else { return }
    for part in parts where part.parent != nil { wholes[part.id] = whole(of: part) }
    guard !startsFromTheEnd else {
      ready += parts.reversed()
      return
    }
    ready.replaceSubrange(..<readyStart, with: parts)
    readyStart = 0
  }

  package mutating func end(_ reason: DeliveryStop) {
    if stop == nil { stop = reason }
    settleRefused()
  }

  /// What was refused before the delivery ended for another reason was refused for its own.
  private mutating func settleRefused() {
    if let stop, stop != .refusing { refusedEvents.settle() }
  }

  /// Chunks whose attempts may begin now; each must come back through ``finish(_:_:now:)`` or ``withdraw(_:)``.
  ///
  /// - Parameter ahead: how many more than the limit, to be sent as soon as others end.
  package mutating func start(now: Milliseconds, atMost: Int = .max, ahead: Int = 0) -> [PendingChunk] {
    guard maySend(now: now) else { return [] }
    var started: [PendingChunk] = []
    while inFlight < limit + ahead, started.count < atMost {
      if let due = dueIndex(now) {
        started.append(delayed.remove(at: due).chunk)
      } else if isInOrder, !delayed.isEmpty || awaitsParts || trial?.isInVain ?? !suspects.isEmpty {
        // Nothing overtakes a chunk that waits for its retry or for its parts.
        break
      } else if readyStart < ready.count {
        if startsFromTheEnd {
          started.append(ready.removeLast())
        } else {
          started.append(ready[readyStart])
          readyStart += 1
        }
      } else if delayed.isEmpty, let next = nextAsking {
        started.append(waiting.remove(at: next))
      } else {
        break
      }
      inFlight += 1
    }
    return started
  }

  /// Several events of one place were refused one after another: whether that is their fault shows at another place.
  private var startsFromTheEnd: Bool { !isInOrder && refusedEvents.inARow >= settings.refusalsInARow / 2 }

  /// Whether each chunk waits for the answer to the one before.
  var isInOrder: Bool { settings.isInOrder(traits) }

  /// Whether anything may be sent at this time.
  package func maySend(now: Milliseconds) -> Bool { stop == nil && now >= pausedUntil }

  /// A chunk that was started and became parts.
  package mutating func withdraw(_ chunk: PendingChunk) {
    inFlight -= 1
    trial?.leaveOut(chunk)
    settleTrial()
  }

  /// Chunks that were started and not sent after all; they come next.
  package mutating func giveBack(_ chunks: [PendingChunk]) {
    inFlight -= chunks.count
    addFirst(chunks)
  }

  /// When something can begin that cannot yet; nil if only an answer can change that.
  package func nextStart() -> Milliseconds? {
    guard stop == nil, inFlight < limit else { return nil }
    if readyCount > 0, !isInOrder || delayed.isEmpty { return pausedUntil }
    return delayed.map { max($0.due, pausedUntil) }.min() ?? (mayAsk ? pausedUntil : nil)
  }

  /// When something that failed is tried again at the earliest; nil if only an answer can say.
  package var nextRepetition: Milliseconds? {
    delayed.map { max($0.due, pausedUntil) }.min() ?? (mayAsk || isOut ? pausedUntil : nil)
  }

  private func dueIndex(_ now: Milliseconds) -> Int? {
    var found: Int?
    for (index, entry) in delayed.enumerated() where entry.due <= now {
      if found == nil || entry.due < delayed[found ?? 0].due { found = index }
    }
    return found
  }

  /// What the end of an attempt means for its chunk.
  package mutating func finish(_ chunk: PendingChunk, _ outcome: SendOutcome, now: Milliseconds) -> ChunkVerdict {
    inFlight -= 1
    switch outcome {
    case .acknowledged:
      noteAnswer()
      acknowledged += 1
      if troubles.removeValue(forKey: chunk.id)?.wasRefusedForNow == true { recoveries += 1 }
      refusedEvents.settle()
      trial?.noteAnswer(to: chunk)
      settleTrial()
      delayed += waiting.map { Delayed(due: now, chunk: $0) }
      waiting = []
      growth += 1
      if atOnce < lanes, growth >= atOnce * 4 {
        atOnce += 1
        growth = 0
      }
      return .posted
    case .rejected:
      noteAnswer()
      troubles[chunk.id] = nil
      trial?.noteAnswer(to: chunk)
      settleTrial()
      guard chunk.events == 1 else {
        awaitsParts = isInOrder
        return .split
      }
      refusedEvents.add(chunk, of: whole(of: chunk))
      if refusesAll { end(.refusing) }
      settleRefused()
      return .pending(countsAsFailure: false)
    case .notSent(let fault), .refused(let fault):
      return retry(chunk, fault, now: now)
    case .unknown(let fault):
      guard settings.onUnknown == .hold else { return retry(chunk, fault, now: now) }
      noteFailure(fault, now: now)
      trial?.leaveOut(chunk)
      settleTrial()
      return .unknown
    }
  }

  /// Whether the service seems to refuse whatever comes.
  private var refusesAll: Bool {
    guard refusedEvents.inARow >= settings.refusalsInARow else { return false }
    // In order, nothing from another place can show that only these are wrong: a service that ever took something is believed.
    if isInOrder { return acknowledged == 0 && !hasTaken }
    // Where the service took anything, a chunk of nothing but wrong events is possible.
    return acknowledged == 0 || refusedEvents.areSpread
  }

  private func whole(of chunk: PendingChunk) -> Int64 {
    wholes[chunk.id] ?? chunk.parent.map { wholes[$0] ?? $0 } ?? chunk.id
  }

  /// To be called when no more chunks come: where none but waiting ones are left, the service is down as far as anybody can tell.
  package mutating func endUnlessDone() {
    guard isIdle, stop == nil else { return }
    if !waiting.isEmpty { end(.unreachable(.everyRequest)) } else { refusedEvents.settle() }
  }

  private mutating func noteAnswer() {
    failuresInARow = 0
    outage = nil
  }

  private mutating func noteFailure(_ fault: SendFault, now: Milliseconds) {
    if let reason = fault.stop { end(reason) }
    if traits.mostAttempts == nil { noteForAll(fault, now: now) }
    if let wait = fault.retryAfter {
      pausedUntil = max(pausedUntil, now + min(max(wait, .zero), settings.longestRetryAfter))
    }
  }

  /// What a failure says of all chunks.
  private mutating func noteForAll(_ fault: SendFault, now: Milliseconds) {
    if fault.isThrottle {
      atOnce = max(1, atOnce / 2)
      growth = 0
    }
    if fault.isForNow {
      waitOut(now: now)
    } else {
      outage = nil
      failuresInARow += 1
      if failuresInARow >= settings.failuresInARow { end(.unreachable(.failuresInARow(failuresInARow))) }
    }
  }

  private mutating func waitOut(now: Milliseconds) {
    var current = outage ?? Outage(since: now, single: max(lanes, min(settings.maxFailures, 10)))
    let next = current.noteRefusal(
      now: now, pausedUntil: pausedUntil, patience: patience, backoff: settings.backoff, using: &random)
    outage = current
    if let next { pausedUntil = max(pausedUntil, next) } else { end(.unreachable(.patience(patience))) }
  }

  private var patience: Milliseconds {
    acknowledged > 0 ? settings.patience : min(settings.patience, settings.patienceAtStart)
  }

  private mutating func retry(_ chunk: PendingChunk, _ fault: SendFault, now: Milliseconds) -> ChunkVerdict {
    noteFailure(fault, now: now)
    if fault.countsAgainstChunk, trial?.awaits(chunk) == true {
      trial?.noteFailure(of: chunk, isForNow: fault.isForNow)
      settleTrial()
      return .pending(countsAsFailure: true)
    }
    // What an earlier run counted came before all that this one did.
    var trouble =
      troubles[chunk.id]
      ?? Trouble(
        since: now, acknowledgedBefore: chunk.failures > 0 ? 0 : acknowledged, acknowledgedLast: acknowledged,
        recoveriesBefore: recoveries)
    trouble.attempts += 1
    if fault.isForNow { trouble.wasRefusedForNow = true }
    if acknowledged > trouble.acknowledgedLast { proven.insert(chunk.id) } else { proven.remove(chunk.id) }
    trouble.acknowledgedLast = acknowledged
    troubles[chunk.id] = trouble
    // What is refused while everything is says nothing about the chunk, unless there is no other.
    let counts = fault.countsAgainstChunk && (!isOut || nothingElseIsReady)
    var failed = chunk
    if counts { failed.failures += 1 }
    let verdict = ChunkVerdict.pending(countsAsFailure: counts)
    if stop == nil, counts, failed.failures >= mostFailures, suspect(failed, trouble, fault, now: now) {
      return verdict
    }
    guard !isOut else {
      waiting.append(failed)
      return verdict
    }
    let isInVain = acknowledged == trouble.acknowledgedBefore && !fault.isForNow
    let most = traits.mostAttempts ?? (isInVain ? settings.attemptsInVain : .max)
    if trouble.attempts >= most { end(.unreachable(.attempts(trouble.attempts))) }
    retries += 1
    if traits.mostAttempts == nil, retries > settings.retryBudget {
      end(.unreachable(.retryBudget(settings.retryBudget)))
    }
    delayed.append(Delayed(due: due(after: trouble.attempts, fault, now: now), chunk: failed))
    return verdict
  }

  private mutating func due(after attempts: Int, _ fault: SendFault, now: Milliseconds) -> Milliseconds {
    guard traits.mostAttempts != nil else { return now + settings.backoff.pause(before: attempts, using: &random) }
    let due = now + Milliseconds(settings.backoff.first.count << Int64(min(attempts - 1, 20)))
    return fault.retryAfter == nil ? due : max(due, pausedUntil)
  }

  /// Whether a chunk that is refused for now is met by what others were met by as well, and got over.
  func isExcused(_ trouble: Trouble, _ fault: SendFault, now: Milliseconds) -> Bool {
    fault.isForNow && recoveries > trouble.recoveriesBefore && now < trouble.since + settings.patience
  }
}
