import BatchFoundation
package import BatchStore
import BatchWire

/// Whether the chunk is to blame for a failure or the service: the table of docs/guarantees.md, "When a request fails".
extension DeliverySchedule {
  /// What a failure that counts means for a chunk at which the service failed as often as it may; at a half of
  /// a suspected chunk it may once.
  ///
  /// - Returns: false if it is tried again like others.
  mutating func judge(_ chunk: PendingChunk, _ fault: CallFault, now: Milliseconds) -> Bool {
    let isToBlame = search.has(chunk) && chunk.events > 1 ? search.mayGoOn() : isProven(chunk)
    if isToBlame, isExcused(chunk, fault, now: now) { return false }
    if isToBlame { suspects.append(chunk) } else { waiting.append(chunk) }
    return true
  }

  /// Whether something else was taken since the service failed at the chunk first; of a half, whether
  /// it was the other one, or just before.
  private func isProven(_ chunk: PendingChunk) -> Bool {
    let hasOthers = troubles[chunk.id].map { acknowledged > $0.acknowledgedBefore } == true
    return search.has(chunk) ? !search.isInVain && (search.isBlamed(chunk) || hasOthers) : hasOthers
  }

  /// Whether a chunk that is refused for now is met by what others were met by as well, and got over.
  private func isExcused(_ chunk: PendingChunk, _ fault: CallFault, now: Milliseconds) -> Bool {
    guard fault.isForNow, !search.has(chunk), let trouble = troubles[chunk.id] else { return false }
    return recoveries > trouble.recoveriesBefore && now < trouble.since + settings.patience
  }

  /// Whether chunks from the end of the queue are asked for.
  package var wantsEnd: Bool { wantsWitnesses || looksElsewhere }

  /// Whether others are asked for, to show whether it is the service which fails.
  var wantsWitnesses: Bool { search.witnesses < search.mostWitnesses }

  /// So many failed one after another that whether it is their fault has to show at another place, before it ends the delivery.
  var looksElsewhere: Bool { !isInOrder && failuresInARow >= max(1, settings.failuresInARow / 2) }

  /// The service took or read something: those that wait for that go on.
  mutating func release(now: Milliseconds) {
    for chunk in waiting {
      if !search.has(chunk) {
        delayed.append(Delayed(due: now, chunk: chunk))
      } else if chunk.events == 1, !search.isBlamed(chunk) {
        search.tryAgain(chunk)
      } else {
        suspects.append(chunk)
      }
    }
    waiting = []
  }

  /// What is to be done with chunks that wait, since the last call.
  package mutating func takeChanges() -> [ChunkChange] {
    var changes = refusedEvents.takeCertain().map(ChunkChange.quarantine)
    guard stop == nil else {
      if inFlight == 0, search.isInVain { changes += join(isOutage: false) }
      return changes
    }
    changes += oversized.map(ChunkChange.halve)
    oversized = []
    changes += suspects.filter { $0.events == 1 }.map(ChunkChange.giveUp)
    suspects.removeAll { $0.events == 1 }
    if let next = nextSuspect {
      changes.append(halve(suspects.remove(at: next)))
    } else if let halving = search.takeFurthest() {
      changes.append(halving)
      awaitsParts = isInOrder
    } else if isQuiet {
      changes += conclude()
    }
    return changes
  }

  /// One suspected chunk at a time is taken apart.
  private var nextSuspect: Int? {
    guard !search.awaitsHalves else { return nil }
    return suspects.lastIndex { search.has($0) } ?? (search.isUnderWay ? nil : suspects.indices.first)
  }

  private mutating func halve(_ chunk: PendingChunk) -> ChunkChange {
    awaitsParts = isInOrder
    return search.halve(chunk)
  }

  private mutating func join(isOutage: Bool) -> [ChunkChange] {
    let (changes, parts) = search.join(isOutage: isOutage)
    waiting.removeAll { parts.contains($0.id) }
    suspects.removeAll { parts.contains($0.id) }
    delayed.removeAll { parts.contains($0.chunk.id) }
    return changes
  }

  /// Whether nothing more happens to those that wait unless a conclusion is drawn.
  var isQuiet: Bool {
    inFlight == 0 && suspects.isEmpty && !search.isUnderWay
      && (doubt != nil || !waiting.isEmpty && delayed.isEmpty && next != .ready)
  }

  /// What becomes of those that wait where nothing else can show whether it is the service that fails.
  private mutating func conclude() -> [ChunkChange] {
    if !search.isExhausted, let place = nextInVain { return [halve(waiting.remove(at: place))] }
    let needsEnd = looksElsewhere && !hasLookedElsewhere
    if doubt == nil || waitsForOthers || needsEnd, readyCount > 0, search.witnesses < mostFailures {
      search.mostWitnesses += 1
      return []
    }
    if doubt == nil, !waiting.isEmpty, waiting.allSatisfy(isLastToBlame) {
      defer { waiting = [] }
      search.keepHalves()
      return waiting.map(ChunkChange.giveUp)
    }
    // An outage: a refusal for now is waited for as long as others are.
    let changes = join(isOutage: true)
    if let doubt { end(doubt) } else if outage == nil || traits.mostAttempts != nil { end(everyRequest) }
    return changes
  }

  /// Whether a chunk that was searched, or failed as often as it may, would be to blame if any other was taken: the others are asked before
  /// the service counts as down, or they would be kept back by it in each run.
  private var waitsForOthers: Bool {
    waiting.contains { search.has($0) || $0.failures >= mostFailures }
  }

  /// Whether an event is to blame where nothing is left that could show more: something was taken since what it is a part of failed, in
  /// this run or in an earlier one.
  private func isLastToBlame(_ chunk: PendingChunk) -> Bool {
    guard chunk.events == 1 else { return false }
    return search.has(chunk) && !search.isInVain
      || search.isOfRemainder(chunk) && (search.has(chunk) || chunk.failures >= mostFailures)
  }

  /// The chunk that is searched although nothing shows that it is not the service: the one that failed most.
  private var nextInVain: Int? {
    waiting.indices
      .filter {
        waiting[$0].events > 1 && waiting[$0].failures >= mostFailures && !search.has(waiting[$0])
      }
      .max { waiting[$0].failures < waiting[$1].failures }
  }

  /// Chunks that were put together again; they wait for the others.
  package mutating func takeBack(_ joined: [PendingChunk]) {
    for chunk in joined { troubles[chunk.id] = nil }
    waiting += joined
  }
}
