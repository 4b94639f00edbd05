import BatchFoundation
package import BatchStore

/// Whether the chunk is to blame for a failure or the service: the table of docs/guarantees.md, "When a request fails".
extension DeliverySchedule {
  /// Finds out what speaks against a chunk at which the service failed as often as it may.
  ///
  /// - Returns: false if it is tried again like others.
  mutating func suspect(
    _ chunk: PendingChunk, _ trouble: Trouble, _ fault: SendFault, now: Milliseconds
  ) -> Bool {
    if acknowledged > trouble.acknowledgedBefore {
      guard !isExcused(trouble, fault, now: now) else { return false }
      suspects.append(chunk)
    } else if isInOrder || nothingElseIsReady {
      // A single event has no halves: one other goes before it then, to show whether it is the service.
      if chunk.events == 1, traits.mostAttempts != nil, !waiting.isEmpty { end(.unreachable(.everyRequest)) }
      if chunk.events > 1 { suspects.append(chunk) } else { waiting.append(chunk) }
    } else if traits.mostAttempts == nil {
      waiting.append(chunk)
    } else {
      return false
    }
    return true
  }

  /// Draws the conclusion when every half has its answer.
  mutating func settleTrial() {
    guard let over = trial, over.isOver, !over.halves.isEmpty else { return }
    let isProven = over.isAnswered || over.isProven || acknowledged > over.acknowledgedBefore
    // Until something else is taken, or cannot be.
    if !isProven, over.isInVain { return }
    let failed = endTrial()
    if isProven {
      proven.formUnion(failed.map(\.id))
      suspects.insert(contentsOf: failed, at: 0)
    } else {
      delayed += failed.map { Delayed(due: pausedUntil, chunk: $0) }
    }
  }

  /// - Returns: the halves that failed, also of the trials that it is part of.
  @discardableResult
  mutating func endTrial() -> [PendingChunk] {
    defer { (trial, vain) = (nil, []) }
    let tried = Set((vain + [trial].compactMap(\.self)).map(\.chunk.id))
    return ([trial].compactMap(\.self) + vain.reversed()).flatMap(\.failed).filter { !tried.contains($0.id) }
  }

  private mutating func beginTrial(of chunk: PendingChunk, isProven: Bool) -> ChunkChange {
    trial = Trial(of: chunk, isProven: isProven, acknowledgedBefore: acknowledged)
    awaitsParts = isInOrder
    return .halve(chunk)
  }

  /// What is to be done with chunks that wait, since the last call.
  package mutating func takeChanges() -> [ChunkChange] {
    var changes = refusedEvents.takeCertain().map(ChunkChange.quarantine)
    if let failed = trial, failed.isWhole, stop == nil ? failed.isInVain && isUndecidable : inFlight == 0 {
      if stop == nil, let half = failed.failed.first, half.events > 1 {
        // Several events may be to blame, in each half one.
        vain.append(failed)
        changes.append(beginTrial(of: half, isProven: false))
      } else {
        changes += ([failed] + vain.reversed()).map { .join($0.halves, of: $0.chunk, isOutage: stop == nil) }
        (trial, vain) = (nil, [])
        // An outage: it is waited for as long as others are.
        if stop == nil, !failed.isForNow || traits.mostAttempts != nil { end(.unreachable(.everyRequest)) }
      }
    }
    while stop == nil, trial == nil, let suspect = nextSuspect() {
      changes.append(
        suspect.events == 1
          ? .giveUp(suspect) : beginTrial(of: suspect, isProven: proven.contains(suspect.id)))
    }
    return changes
  }

  /// Nothing that is sent now could show whether it is the service that fails.
  private var isUndecidable: Bool { isInOrder || nothingElseIsReady && !mayAsk }

  private mutating func nextSuspect() -> PendingChunk? {
    if !suspects.isEmpty { return suspects.removeFirst() }
    guard nothingElseIsReady, !mayAsk, let next = nextTried else { return nil }
    return waiting.remove(at: next)
  }

  /// Chunks that were put together again; they wait for the others.
  package mutating func takeBack(_ joined: [PendingChunk]) {
    for chunk in joined { troubles[chunk.id] = nil }
    waiting += joined
  }
}
