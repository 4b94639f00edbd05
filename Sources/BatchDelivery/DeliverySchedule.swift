package import BatchFoundation
package import BatchStore

/// Decides what is sent when, and what an answer means for its chunk. Pure: the time is told to it, and chance comes from a
/// source that tests seed.
///
/// Retries wait as ``Backoff`` says, by the failures of their chunk. A throttled request halves the number of requests at once, which then
/// grows by one with every full round of successes. Where the destination says how often a
/// chunk may be tried (``DeliveryTraits/mostAttempts``), that alone counts: the doubled span is waited for in full, and when the last
/// attempt has failed, the delivery ends and everything stays queued.
package struct DeliverySchedule {
  private struct Delayed {
    var due: Milliseconds
    var chunk: PendingChunk
  }

  /// What went wrong with a chunk in this run.
  private struct Trouble {
    var attempts = 0
    var throttles = 0
    /// How many requests had been acknowledged when its first failure came.
    var acknowledgedBefore = 0
  }

  private let settings: DeliverySettings
  private let traits: DeliveryTraits
  private var random: any RandomNumberGenerator
  private var ready: [PendingChunk] = []
  private var readyStart = 0
  private var delayed: [Delayed] = []
  /// Chunks that failed so often that they would be given up, if anything showed that it is not the service that fails: they
  /// wait for the others.
  private var suspects: [PendingChunk] = []
  private var troubles: [Int64: Trouble] = [:]
  private var pausedUntil = Milliseconds.zero
  /// Repetitions that were asked for.
  private var retries = 0
  private var failuresInARow = 0
  private var acknowledged = 0
  private var growth = 0

  /// A chunk becomes parts, which nothing may overtake.
  private var awaitsParts = false

  package private(set) var inFlight = 0
  /// Requests at once, as of now.
  package private(set) var limit: Int
  /// Set once; nothing is started any more.
  package private(set) var stop: DeliveryStop?

  package init(
    _ settings: DeliverySettings, traits: DeliveryTraits = DeliveryTraits(), random: any RandomNumberGenerator
  ) {
    self.settings = settings
    self.traits = traits
    self.random = random
    limit = settings.lanes(of: traits)
  }

  package var readyCount: Int { ready.count - readyStart }

  /// Nothing is left to send or to wait for, as far as this knows.
  package var isIdle: Bool { inFlight == 0 && (stop != nil || readyCount == 0 && delayed.isEmpty) }

  /// The chunks that come next as far as retries do not come between.
  package func upcoming(_ count: Int) -> ArraySlice<PendingChunk> { ready[readyStart...].prefix(count) }

  package mutating func add(_ chunks: [PendingChunk]) {
    if readyStart > 1000 {
      ready.removeFirst(readyStart)
      readyStart = 0
    }
    ready.append(contentsOf: chunks)
  }

  /// Puts the parts of a chunk before everything else that waits.
  package mutating func addFirst(_ parts: [PendingChunk]) {
    awaitsParts = false
    guard !parts.isEmpty else { return }
    ready.replaceSubrange(..<readyStart, with: parts)
    readyStart = 0
  }

  package mutating func end(_ reason: DeliveryStop) {
    if stop == nil { stop = reason }
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
      } else if isInOrder, !delayed.isEmpty || awaitsParts {
        // Nothing overtakes a chunk that waits for its retry or for its parts.
        break
      } else if readyStart < ready.count {
        started.append(ready[readyStart])
        readyStart += 1
      } else {
        break
      }
      inFlight += 1
    }
    return started
  }

  /// Whether each chunk waits for the answer to the one before.
  private var isInOrder: Bool { settings.isInOrder(traits) }

  /// Whether anything may be sent at this time.
  package func maySend(now: Milliseconds) -> Bool { stop == nil && now >= pausedUntil }

  /// A chunk that was started and became parts.
  package mutating func withdraw(_ chunk: PendingChunk) { inFlight -= 1 }

  /// Chunks that were started and not sent after all; they come next.
  package mutating func giveBack(_ chunks: [PendingChunk]) {
    inFlight -= chunks.count
    addFirst(chunks)
  }

  /// When something can begin that cannot yet; nil if only an answer can change that.
  package func nextStart() -> Milliseconds? {
    guard stop == nil, inFlight < limit else { return nil }
    if readyCount > 0, !isInOrder || delayed.isEmpty { return pausedUntil }
    return delayed.map { max($0.due, pausedUntil) }.min()
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
      troubles[chunk.id] = nil
      delayed += suspects.map { Delayed(due: now, chunk: $0) }
      suspects = []
      growth += 1
      if limit < settings.lanes(of: traits), growth >= limit * 4 {
        limit += 1
        growth = 0
      }
      return .posted
    case .rejected:
      noteAnswer()
      troubles[chunk.id] = nil
      awaitsParts = isInOrder && chunk.events > 1
      return .split
    case .notSent(let fault), .refused(let fault):
      return retry(chunk, fault, now: now)
    case .unknown(let fault):
      guard settings.onUnknown == .hold else { return retry(chunk, fault, now: now) }
      noteFailure(fault, now: now)
      return .unknown
    }
  }

  /// To be called when no more chunks come: where none but suspects are left, the service is down as far as anybody can tell.
  package mutating func endUnlessDone() {
    if isIdle, !suspects.isEmpty { end(.unreachable) }
  }

  private mutating func noteAnswer() { failuresInARow = 0 }

  private mutating func noteFailure(_ fault: SendFault, now: Milliseconds) {
    if let reason = fault.stop { end(reason) }
    if fault.isThrottle {
      limit = max(1, limit / 2)
      growth = 0
    } else {
      failuresInARow += 1
      if failuresInARow >= settings.failuresInARow { end(.unreachable) }
    }
    if let wait = fault.retryAfter {
      pausedUntil = max(pausedUntil, now + min(max(wait, .zero), settings.longestRetryAfter))
    }
  }

  private mutating func retry(_ chunk: PendingChunk, _ fault: SendFault, now: Milliseconds) -> ChunkVerdict {
    if let most = traits.mostAttempts { return retry(chunk, fault, now: now, most: most) }
    noteFailure(fault, now: now)
    var trouble = troubles[chunk.id] ?? Trouble(acknowledgedBefore: acknowledged)
    trouble.attempts += 1
    trouble.throttles = fault.isThrottle ? trouble.throttles + 1 : 0
    if trouble.throttles >= settings.throttlesInARow { end(.unreachable) }
    var isSuspect = false
    if stop == nil, chunk.failures + 1 >= settings.maxFailures, fault.isServiceFailure {
      // Whether it is the chunk or the service shows in what becomes of others meanwhile.
      guard acknowledged == trouble.acknowledgedBefore else {
        troubles[chunk.id] = nil
        return .failed
      }
      isSuspect = true
    }
    if stop == nil, trouble.attempts >= settings.attemptsInVain, acknowledged == trouble.acknowledgedBefore {
      end(.unreachable)
    }
    retries += 1
    if retries > settings.retryBudget { end(.unreachable) }
    troubles[chunk.id] = trouble
    var waiting = chunk
    if fault.isServiceFailure { waiting.failures += 1 }
    if isSuspect {
      suspects.append(waiting)
    } else {
      let pause = settings.backoff.pause(before: trouble.attempts, using: &random)
      delayed.append(Delayed(due: now + pause, chunk: waiting))
    }
    return .pending(countsAsFailure: fault.isServiceFailure)
  }

  /// As often as the destination says, after the whole span.
  private mutating func retry(
    _ chunk: PendingChunk, _ fault: SendFault, now: Milliseconds, most: Int
  ) -> ChunkVerdict {
    if let reason = fault.stop { end(reason) }
    var trouble = troubles[chunk.id] ?? Trouble(acknowledgedBefore: acknowledged)
    trouble.attempts += 1
    troubles[chunk.id] = trouble
    if trouble.attempts >= most { end(.unreachable) }
    var due = now + Milliseconds(settings.backoff.first.count << Int64(min(trouble.attempts - 1, 20)))
    if let wait = fault.retryAfter {
      pausedUntil = max(pausedUntil, now + min(max(wait, .zero), settings.longestRetryAfter))
      due = max(due, pausedUntil)
    }
    delayed.append(Delayed(due: due, chunk: chunk))
    return .pending(countsAsFailure: false)
  }
}
