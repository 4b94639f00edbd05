package import BatchFoundation
package import BatchStore
package import BatchWire

/// Decides what is sent when, and what an answer means for its chunk. Pure: the time is told to it, and chance comes from a
/// source that tests seed.
///
/// Retries wait as `Backoff` says, by the failures of their chunk. A throttled request halves the number of requests at once, which then
/// grows by one with every full round of successes. Refusals for now are waited out (`Patience`). Where the destination says how often a
/// chunk may be tried (``DeliveryTraits/mostAttempts``), that alone counts, and the doubled span is waited for in full.
///
/// A chunk at which the service fails that often is suspected, one at a time: its halves are tried (`Search`), until the event stands
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
    /// How many chunks that had been refused for now had been taken later, when its first failure came.
    let recoveriesBefore: Int
    var wasRefusedForNow = false
  }

  let settings: DeliverySettings
  let traits: DeliveryTraits
  /// The service took something in an earlier run.
  private let hasTaken: Bool
  var random: any RandomNumberGenerator
  private var ready: [PendingChunk] = []
  private var readyStart = 0
  /// The chunks that were read from the end of the queue.
  private var ends: Set<Int64> = []
  var delayed: [Delayed] = []
  /// Chunks that were refused while everything was, or failed so often that they would be suspected, if anything showed that it
  /// is not the service that fails: they wait for the others.
  var waiting: [PendingChunk] = []
  /// Chunks that are to blame as far as anybody can tell: they are halved, single events are given up.
  var suspects: [PendingChunk] = []
  var search: Search
  /// Why the delivery ends unless a suspected chunk turns out to be to blame: nothing is sent but its
  /// halves, and a few others afterwards.
  var doubt: ServiceStop?
  var troubles: [Int64: Trouble] = [:]
  var pausedUntil = Milliseconds.zero
  /// Repetitions that were asked for.
  private var retries = 0
  var failuresInARow = 0
  /// A chunk from the end of the queue was asked since the service answered last.
  var hasLookedElsewhere = false
  var acknowledged = 0
  /// Chunks that were refused for now and taken later.
  var recoveries = 0
  var outage: Patience?
  var refusedEvents = RefusedEvents()
  /// Chunks of which a sentence alone said that nothing more is to be sent, since the service answered last, and why.
  var sentence: (chunks: Set<Int64>, stop: ServiceStop)?
  /// How many requests had been acknowledged when the attempts under way began.
  var begun: [Int64: Int] = [:]
  private var sizes = RefusedSizes()
  /// Chunks that are cut before they are sent.
  var oversized: [PendingChunk] = []
  /// The chunks that parts came from in the first place.
  private var wholes: [Int64: Int64] = [:]
  /// Requests at once while there is no outage.
  var atOnce: Int
  var growth = 0

  /// A chunk becomes parts, which nothing may overtake.
  var awaitsParts = false

  package private(set) var inFlight = 0
  /// Set once; nothing is started any more.
  package private(set) var stop: ServiceStop?

  /// - Parameters:
  ///   - hasTaken: the service took something in an earlier run.
  ///   - remainders: as ``Ledger/remainders()`` has them.
  package init(
    _ settings: DeliverySettings, traits: DeliveryTraits = DeliveryTraits(), hasTaken: Bool = false,
    remainders: Set<Int64> = [], random: any RandomNumberGenerator
  ) {
    self.settings = settings
    self.traits = traits
    self.hasTaken = hasTaken
    search = Search(remainders: remainders)
    self.random = random
    atOnce = settings.lanes(of: traits)
  }

  private var lanes: Int { settings.lanes(of: traits) }

  /// Requests at once, as of now.
  package var limit: Int { isOut ? 1 : atOnce }

  /// The service refuses everything for now.
  var isOut: Bool { outage?.isGeneral == true }

  package var readyCount: Int { ready.count - readyStart }

  /// Nothing is left to send or to wait for, as far as this knows.
  package var isIdle: Bool {
    inFlight == 0
      && (stop != nil
        || doubt == nil && next == nil && delayed.isEmpty && suspects.isEmpty && waiting.isEmpty && !search.isUnderWay)
  }

  /// Whether nothing else could show that the service works.
  private var nothingElseIsReady: Bool { inFlight == 0 && readyCount == 0 && delayed.isEmpty && !search.isUnderWay }

  /// One that waits, with which a refusal for now is waited out, for want of others.
  private var nextAsking: Int? {
    guard outage != nil else { return nil }
    return waiting.firstIndex {
      !search.has($0) && (search.isExhausted || $0.events == 1 || $0.failures < mostFailures)
    }
  }

  /// Counted attempts of one chunk at which it may be suspected.
  var mostFailures: Int { traits.mostAttempts ?? settings.maxFailures }

  /// The chunks that come next as far as retries do not come between.
  package func upcoming(_ count: Int) -> ArraySlice<PendingChunk> { ready[readyStart...].prefix(count) }

  /// Queues chunks in front of the end of the queue.
  package mutating func add(_ chunks: [PendingChunk]) {
    if readyStart > 1000 {
      ready.removeFirst(readyStart)
      readyStart = 0
    }
    let end = ready[readyStart...].firstIndex { ends.contains($0.id) }
    ready.insert(contentsOf: chunks, at: end ?? ready.count)
  }

  /// Queues the last chunks of the store, to be looked at from the end.
  package mutating func addEnd(_ chunks: [PendingChunk]) {
    ready += chunks
    ends.formUnion(chunks.map(\.id))
  }

  /// Puts the parts of chunks where the next chunk is taken from.
  package mutating func addFirst(_ parts: [PendingChunk]) {
    awaitsParts = false
    for part in parts where part.parent != nil { wholes[part.id] = whole(of: part) }
    let parts = search.take(parts)
    guard !parts.isEmpty else { return }
    if startsFromTheEnd { return ready += parts.reversed() }
    ready.replaceSubrange(..<readyStart, with: parts)
    readyStart = 0
  }

  package mutating func end(_ reason: ServiceStop) {
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
    endIfPausedBeyondPatience(now: now)
    guard maySend(now: now) else { return [] }
    var started: [PendingChunk] = []
    while inFlight < limit + ahead, started.count < atMost, let chunk = take(now: now) {
      if sizes.exceeds(chunk), !search.has(chunk) {
        oversized.append(chunk)
        awaitsParts = isInOrder
        continue
      }
      started.append(chunk)
      begun[chunk.id] = acknowledged
      inFlight += 1
    }
    return started
  }

  private mutating func take(now: Milliseconds) -> PendingChunk? {
    let source = next
    // Repetitions are of those that failed: where the end of the queue is to show more, they wait.
    let endIsNext = looksElsewhere && source == .ready
    if doubt == nil, !endIsNext, let due = dueIndex(now) { return search.begin(delayed.remove(at: due).chunk) }
    switch source {
    case .part: return search.beginNext()
    case .asking: return nextAsking.map { waiting.remove(at: $0) }
    case .ready where search.mostWitnesses > 0: return takeWitness()
    case .ready where endIsNext || startsFromTheEnd: return takeLast()
    case .ready:
      defer { readyStart += 1 }
      return ready[readyStart]
    case nil: return nil
    }
  }

  /// The chunk that is to show whether it is the service which fails: the next one, then others from anywhere. Those that come next may all
  /// be bad, in each run.
  private mutating func takeWitness() -> PendingChunk {
    search.witnesses += 1
    if looksElsewhere, !hasLookedElsewhere { return takeLast() }
    let isNext = search.witnesses == 1 && mostFailures > 1
    return ready.remove(at: isNext ? readyStart : Int.random(in: readyStart..<ready.count, using: &random))
  }

  private mutating func takeLast() -> PendingChunk {
    hasLookedElsewhere = true
    return ready.removeLast()
  }

  /// Where a chunk comes from.
  enum Source { case part, ready, asking }

  /// Where the next chunk comes from that need not wait for its time; nil for none.
  var next: Source? {
    // Nothing overtakes a chunk that waits for its retry or for its parts.
    if isInOrder, !delayed.isEmpty || awaitsParts { return nil }
    if search.mayBegin, !suspects.contains(where: search.has) { return .part }
    if readyCount > 0, wantsWitnesses || doubt == nil && !isReserved { return .ready }
    if doubt != nil { return nil }
    return delayed.isEmpty && nextAsking != nil ? .asking : nil
  }

  /// Whether what is ready has to wait, because it may have to show whether it is the service that fails: in order all, else the last one.
  private var isReserved: Bool {
    let isOpen = !waiting.isEmpty || !suspects.isEmpty || search.isUnderWay
    return isInOrder ? isOpen : readyCount == 1 && (isOpen || delayed.contains { $0.chunk.failures > 0 })
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
    search.leaveOut(chunk)
  }

  /// Chunks that were started and not sent after all; they come next.
  package mutating func giveBack(_ chunks: [PendingChunk]) {
    inFlight -= chunks.count
    addFirst(chunks.filter { !search.giveBack($0) })
  }

  /// When something can begin that cannot yet; nil if only an answer can change that.
  package func nextStart() -> Milliseconds? {
    guard stop == nil, inFlight < limit else { return nil }
    if next != nil { return pausedUntil }
    return doubt == nil ? delayed.map { max($0.due, pausedUntil) }.min() : nil
  }

  /// When something that failed is tried again at the earliest; nil if only an answer can say.
  package var nextRepetition: Milliseconds? {
    delayed.map { max($0.due, pausedUntil) }.min() ?? (nextAsking != nil || isOut ? pausedUntil : nil)
  }

  private func dueIndex(_ now: Milliseconds) -> Int? {
    delayed.indices.lazy.filter { delayed[$0].due <= now }.min { delayed[$0].due < delayed[$1].due }
  }

  /// What the end of an attempt means for its chunk.
  package mutating func finish(_ chunk: PendingChunk, _ outcome: SendOutcome, now: Milliseconds) -> ChunkVerdict {
    inFlight -= 1
    defer { begun[chunk.id] = nil }
    search.finish(chunk)
    switch outcome {
    case .answered:
      search.clear(chunk)
      sizes.noteTaken(chunk)
      noteAnswer(now: now)
      acknowledged += 1
      if troubles.removeValue(forKey: chunk.id)?.wasRefusedForNow == true { recoveries += 1 }
      refusedEvents.settle()
      growth += 1
      if atOnce < lanes, growth >= atOnce * 4 {
        atOnce += 1
        growth = 0
      }
      return .posted
    case .rejected:
      noteAnswer(now: now)
      troubles[chunk.id] = nil
      guard chunk.events == 1 else {
        sizes.noteRefused(chunk)
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
      noteFailure(fault, of: chunk, now: now)
      search.leaveOut(chunk)
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
    if !waiting.isEmpty { end(everyRequest) } else { refusedEvents.settle() }
  }

  private mutating func noteAnswer(now: Milliseconds) {
    failuresInARow = 0
    (outage, doubt, sentence, hasLookedElsewhere) = (nil, nil, nil, false)
    search.noteAnswer()
    release(now: now)
  }

  private mutating func noteFailure(_ fault: CallFault, of chunk: PendingChunk, now: Milliseconds) {
    if let stop = fault.stop {
      if isDoubtful(fault, chunk) { sentence = ((sentence?.chunks ?? []).union([chunk.id]), stop) } else { end(stop) }
    }
    if traits.mostAttempts == nil { noteForAll(fault, now: now) }
    if let wait = fault.retryAfter {
      pausedUntil = max(pausedUntil, now + min(max(wait, .zero), Patience.Limits.longestWish))
    }
  }

  private mutating func retry(_ chunk: PendingChunk, _ fault: CallFault, now: Milliseconds) -> ChunkVerdict {
    let isTrial = fault.blamesRequest && search.has(chunk)
    // A search ends by itself, and what it meets says nothing of the service.
    if !isTrial { noteFailure(fault, of: chunk, now: now) }
    // What an earlier run counted came before all that this one did.
    var trouble =
      troubles[chunk.id]
      ?? Trouble(
        since: now,
        acknowledgedBefore: chunk.failures > 0 ? 0 : fault.isSentence ? begun[chunk.id] ?? acknowledged : acknowledged,
        recoveriesBefore: recoveries)
    trouble.attempts += 1
    if fault.isForNow { trouble.wasRefusedForNow = true }
    troubles[chunk.id] = trouble
    // What is refused while everything is says nothing about the chunk, unless there is no other.
    let counts = isTrial || fault.blamesRequest && (!isOut || nothingElseIsReady)
    var failed = chunk
    if counts { failed.failures += 1 }
    let verdict = ChunkVerdict.pending(countsAsFailure: counts)
    // One that went before others to show something has shown it.
    let isDue = isTrial || failed.failures >= mostFailures || search.witnesses > 0
    if counts, stop == nil || isTrial, isDue, judge(failed, fault, now: now) {
      // Where no failures in a row end it, so many chunks do that failed as often as they may.
      if traits.mostAttempts != nil, !isInOrder, waiting.count >= lanes {
        doubt = .unreachable(.attempts(trouble.attempts))
      }
      return verdict
    }
    guard !isOut, !asksOthers(fault, attempts: trouble.attempts) else {
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

  private mutating func due(after attempts: Int, _ fault: CallFault, now: Milliseconds) -> Milliseconds {
    guard traits.mostAttempts != nil else { return now + settings.backoff.pause(before: attempts, using: &random) }
    let due = now + Milliseconds(settings.backoff.first.count << Int64(min(attempts - 1, 20)))
    return fault.retryAfter == nil ? due : max(due, pausedUntil)
  }
}
