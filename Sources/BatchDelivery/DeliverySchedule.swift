package import BatchFoundation
package import BatchStore
package import BatchWire

/// Determines which chunks are sent when, and what a response means for its chunk. It is pure: time is passed in, and
/// tests seed the random source. Identity calls have `RetryPolicy` and `CallPatience`.
///
/// `Backoff` delays retries according to the number of failures of their chunk. A throttled request halves the number
/// of concurrent requests, which grows by one after every four full rounds of successes. Temporary refusals
/// are waited out (`Outage`). If the destination limits the attempts of a chunk (``DeliveryTraits/mostAttempts``), only
/// that limit counts, and delays double exactly, without a random part.
///
/// A chunk at which the service fails as often as allowed is suspected. One such chunk at a time is searched: its
/// halves are tried (``SuspectSearch``) until the failing event is isolated. docs/guarantees.md has a table of this.
package struct DeliverySchedule {
  /// The failures of a chunk in this run.
  struct Trouble {
    var attempts = 0
    let since: Milliseconds
    /// The number of acknowledged requests before the chunk's first failure.
    let acknowledgedBefore: Int
    /// The number of recoveries before the chunk's first failure.
    let recoveriesBefore: Int
    var wasTemporarilyRefused = false
  }

  let settings: DeliverySettings
  let traits: DeliveryTraits
  /// Whether the service accepted something in an earlier run.
  let hasTaken: Bool
  var random: any RandomNumberGenerator
  private var ready: [PendingChunk] = []
  private var readyStart = 0
  /// The chunks read from the end of the queue.
  private var ends: Set<Int64> = []
  var delayed: [(due: Milliseconds, chunk: PendingChunk)] = []
  /// Chunks that are not sent until others show whether the service works. They were refused while everything was
  /// refused, or failed so often that they would be suspected if it works.
  var setAside: [PendingChunk] = []
  /// Chunks that are probably to blame. They are halved, or given up if they contain only one event.
  var suspects: [PendingChunk] = []
  var search: SuspectSearch
  /// The reason to end the delivery unless a suspected chunk is to blame. Meanwhile only halves of that chunk are sent,
  /// and a few other chunks afterwards.
  var doubt: ServiceStop?
  var troubles: [Int64: Trouble] = [:]
  var pausedUntil = Milliseconds.zero
  private var retries = 0
  var failuresInARow = 0
  /// Whether a chunk from the end of the queue was sent since the last acceptance or rejection.
  var hasLookedElsewhere = false
  var acknowledged = 0
  /// The number of chunks that were temporarily refused and accepted later.
  var recoveries = 0
  var outage: Outage?
  var rejectedEvents = RejectedEvents()
  /// The reason to stop in a sentence that may be a quotation, and the chunks whose responses contained such a sentence
  /// since the service last accepted or rejected a chunk.
  var sentence: (chunks: Set<Int64>, stop: ServiceStop)?
  /// The number of acknowledged requests when each attempt under way began, by chunk.
  var begun: [Int64: Int] = [:]
  private var sizes = RejectedSizes()
  /// The chunks to halve before sending.
  var oversized: [PendingChunk] = []
  /// The original chunks of parts, by part.
  var wholes: [Int64: Int64] = [:]
  /// The number of concurrent requests outside an outage.
  var atOnce: Int
  var growth = 0

  /// Whether a chunk is being split into parts that nothing may overtake.
  var awaitsParts = false

  package private(set) var inFlight = 0
  /// The reason for the end, set once; nothing is started afterwards.
  package private(set) var stop: ServiceStop?

  /// - Parameters:
  ///   - hasTaken: whether the service accepted something in an earlier run.
  ///   - remainders: the result of ``Ledger/remainders()``.
  package init(
    _ settings: DeliverySettings, traits: DeliveryTraits = DeliveryTraits(), hasTaken: Bool = false,
    remainders: Set<Int64> = [], random: any RandomNumberGenerator
  ) {
    self.settings = settings
    self.traits = traits
    self.hasTaken = hasTaken
    search = SuspectSearch(remainders: remainders)
    self.random = random
    atOnce = settings.lanes(of: traits)
  }

  private var lanes: Int { settings.lanes(of: traits) }

  /// The current number of concurrent requests.
  package var limit: Int { isOut ? 1 : atOnce }

  /// Whether the service temporarily refuses everything.
  var isOut: Bool { outage?.isGeneral == true }

  package var readyCount: Int { ready.count - readyStart }

  /// Whether, as far as the schedule knows, nothing is left to send or to wait for.
  package var isIdle: Bool {
    inFlight == 0
      && (stop != nil
        || doubt == nil && next == nil && delayed.isEmpty && suspects.isEmpty && setAside.isEmpty && !search.isUnderWay)
  }

  /// Whether nothing else could show that the service works.
  private var nothingElseIsReady: Bool { inFlight == 0 && readyCount == 0 && delayed.isEmpty && !search.isUnderWay }

  /// The index of the chunk set aside to send, in the absence of others, to find out whether an outage is over; nil if
  /// there is none to send.
  private var nextAsking: Int? {
    guard outage != nil else { return nil }
    return setAside.firstIndex {
      !search.has($0) && (search.isExhausted || $0.events == 1 || $0.failures < mostFailures)
    }
  }

  /// The number of counted failures at which a chunk may be suspected.
  var mostFailures: Int { traits.mostAttempts ?? settings.maxFailures }

  /// Returns the next chunks in the queue; retries may still be sent between them.
  package func upcoming(_ count: Int) -> ArraySlice<PendingChunk> { ready[readyStart...].prefix(count) }

  /// Queues chunks before those from the end of the queue.
  package mutating func add(_ chunks: [PendingChunk]) {
    if readyStart > 1000 {
      ready.removeFirst(readyStart)
      readyStart = 0
    }
    let end = ready[readyStart...].firstIndex { ends.contains($0.id) }
    ready.insert(contentsOf: chunks, at: end ?? ready.count)
  }

  /// Queues the last chunks in the store, to be taken from the end.
  package mutating func addEnd(_ chunks: [PendingChunk]) {
    ready += chunks
    ends.formUnion(chunks.map(\.id))
  }

  /// Queues the parts of chunks before all others.
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
    settleRejected()
  }

  /// Returns chunks whose attempts may begin now, up to `ahead` more than the limit. Each must later be passed to
  /// ``finish(_:_:now:)``, ``withdraw(_:)`` or ``giveBack(_:)``.
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
    // Retries only repeat failed chunks, so chunks from the end of the queue, which can show more, come first.
    let endIsNext = looksElsewhere && source == .ready
    if doubt == nil, !endIsNext, let due = dueIndex(now) { return search.begin(delayed.remove(at: due).chunk) }
    switch source {
    case .part: return search.beginNext()
    case .asking: return nextAsking.map { setAside.remove(at: $0) }
    case .ready where search.mostWitnesses > 0: return takeWitness()
    case .ready where endIsNext || startsFromTheEnd: return takeLast()
    case .ready:
      defer { readyStart += 1 }
      return ready[readyStart]
    case nil: return nil
    }
  }

  /// Takes a chunk to show whether the service fails: the next one, then random ones, because the next few may all be
  /// bad.
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

  enum Source { case part, ready, asking }

  /// The source of the next chunk that can begin now, apart from retries; nil if there is none.
  var next: Source? {
    // Nothing overtakes a chunk whose retry or parts are pending.
    if isInOrder, !delayed.isEmpty || awaitsParts { return nil }
    if search.mayBegin, !suspects.contains(where: search.has) { return .part }
    if readyCount > 0, wantsWitnesses || doubt == nil && !isReserved { return .ready }
    if doubt != nil { return nil }
    return delayed.isEmpty && nextAsking != nil ? .asking : nil
  }

  /// Whether ready chunks are reserved to show whether the service fails: all of them if chunks are sent in order,
  /// otherwise the last one.
  private var isReserved: Bool {
    let isOpen = !setAside.isEmpty || !suspects.isEmpty || search.isUnderWay
    return isInOrder ? isOpen : readyCount == 1 && (isOpen || delayed.contains { $0.chunk.failures > 0 })
  }

  var isInOrder: Bool { settings.isInOrder(traits) }

  package func maySend(now: Milliseconds) -> Bool { stop == nil && now >= pausedUntil }

  /// Removes a started chunk that was split before its attempt began.
  package mutating func withdraw(_ chunk: PendingChunk) {
    inFlight -= 1
    search.leaveOut(chunk)
  }

  /// Takes back started chunks that were not sent; they come next.
  package mutating func giveBack(_ chunks: [PendingChunk]) {
    inFlight -= chunks.count
    addFirst(chunks.filter { !search.giveBack($0) })
  }

  /// Returns the earliest time at which another chunk can begin; nil if that depends on a response.
  package func nextStart() -> Milliseconds? {
    guard stop == nil, inFlight < limit else { return nil }
    if next != nil { return pausedUntil }
    return doubt == nil ? delayed.map { max($0.due, pausedUntil) }.min() : nil
  }

  /// The time of the earliest retry of something that failed; nil if that depends on a response.
  package var nextRepetition: Milliseconds? {
    delayed.map { max($0.due, pausedUntil) }.min() ?? (nextAsking != nil || isOut ? pausedUntil : nil)
  }

  private func dueIndex(_ now: Milliseconds) -> Int? {
    delayed.indices.lazy.filter { delayed[$0].due <= now }.min { delayed[$0].due < delayed[$1].due }
  }

  /// Ends an attempt and returns the consequence for its chunk.
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
      if troubles.removeValue(forKey: chunk.id)?.wasTemporarilyRefused == true { recoveries += 1 }
      rejectedEvents.settle()
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
        sizes.noteRejected(chunk)
        awaitsParts = isInOrder
        return .split
      }
      rejectedEvents.add(chunk, of: whole(of: chunk))
      if rejectsAll { end(.rejecting) }
      settleRejected()
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

  /// Ends the delivery if the queue is empty. If chunks set aside are left, the service counts as down.
  package mutating func endUnlessDone() {
    guard isIdle, stop == nil else { return }
    if !setAside.isEmpty { end(everyRequest) } else { rejectedEvents.settle() }
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
      pausedUntil = max(pausedUntil, now + min(max(wait, .zero), Outage.Patience.longestWish))
    }
  }

  private mutating func retry(_ chunk: PendingChunk, _ fault: CallFault, now: Milliseconds) -> ChunkVerdict {
    let isTrial = fault.blamesRequest && search.has(chunk)
    // The number of steps in a search is limited, and its failures say nothing about the service.
    if !isTrial { noteFailure(fault, of: chunk, now: now) }
    // Failures counted by an earlier run precede everything in this run.
    var trouble =
      troubles[chunk.id]
      ?? Trouble(
        since: now,
        acknowledgedBefore: chunk.failures > 0 ? 0 : fault.isSentence ? begun[chunk.id] ?? acknowledged : acknowledged,
        recoveriesBefore: recoveries)
    trouble.attempts += 1
    if fault.isTemporary { trouble.wasTemporarilyRefused = true }
    troubles[chunk.id] = trouble
    // A refusal while everything is refused says nothing about the chunk, unless it is the only one.
    let counts = isTrial || fault.blamesRequest && (!isOut || nothingElseIsReady)
    var failed = chunk
    if counts { failed.failures += 1 }
    let verdict = ChunkVerdict.pending(countsAsFailure: counts)
    // A chunk sent to show whether the service fails is judged at its first failure.
    let isDue = isTrial || failed.failures >= mostFailures || search.witnesses > 0
    if counts, stop == nil || isTrial, isDue, judge(failed, fault, now: now) {
      // If failures in a row do not end the delivery, it ends when one chunk per lane has reached its limit.
      if traits.mostAttempts != nil, !isInOrder, setAside.count >= lanes {
        doubt = .unreachable(.attempts(trouble.attempts))
      }
      return verdict
    }
    guard !isOut, !asksOthers(fault, attempts: trouble.attempts) else {
      setAside.append(failed)
      return verdict
    }
    let isWithoutSuccess = acknowledged == trouble.acknowledgedBefore && !fault.isTemporary
    let most = traits.mostAttempts ?? (isWithoutSuccess ? settings.attemptsWithoutSuccess : .max)
    if trouble.attempts >= most { end(.unreachable(.attempts(trouble.attempts))) }
    retries += 1
    if traits.mostAttempts == nil, retries > settings.retryBudget {
      end(.unreachable(.retryBudget(settings.retryBudget)))
    }
    delayed.append((due(after: trouble.attempts, fault, now: now), failed))
    return verdict
  }

  private mutating func due(after attempts: Int, _ fault: CallFault, now: Milliseconds) -> Milliseconds {
    let backoff = settings.patience.backoff
    guard traits.mostAttempts != nil else { return now + backoff.pause(before: attempts, using: &random) }
    let due = now + Milliseconds(backoff.first.count << Int64(min(attempts - 1, 20)))
    return fault.retryAfter == nil ? due : max(due, pausedUntil)
  }
}
