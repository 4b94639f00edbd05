import BatchFoundation
package import BatchStore
import BatchWire

/// Whether the chunk or the service is to blame for a failure: the table of docs/guarantees.md, "When a request fails".
extension DeliverySchedule {
  /// Judges the last failure a chunk may have, for a half its first; returns false if it is tried again like others.
  mutating func judge(_ chunk: PendingChunk, _ fault: CallFault, now: Milliseconds) -> Bool {
    let isToBlame = search.has(chunk) && chunk.events > 1 ? search.mayGoOn() : isProven(chunk)
    if isToBlame, isExcused(chunk, fault, now: now) { return false }
    if isToBlame { suspects.append(chunk) } else { waiting.append(chunk) }
    return true
  }

  /// Returns whether something else was accepted since the first failure of the chunk. For a half, the service must
  /// have answered since the last halving; its other half counts too.
  private func isProven(_ chunk: PendingChunk) -> Bool {
    let hasOthers = troubles[chunk.id].map { acknowledged > $0.acknowledgedBefore } == true
    return search.has(chunk) ? !search.isInVain && (search.isBlamed(chunk) || hasOthers) : hasOthers
  }

  /// Returns whether a chunk is refused for now like others that recovered.
  private func isExcused(_ chunk: PendingChunk, _ fault: CallFault, now: Milliseconds) -> Bool {
    guard fault.isForNow, !search.has(chunk), let trouble = troubles[chunk.id] else { return false }
    return recoveries > trouble.recoveriesBefore && now < trouble.since + settings.patience.longest
  }

  /// Whether chunks from the end of the queue are wanted.
  package var wantsEnd: Bool { wantsWitnesses || looksElsewhere }

  /// Whether other chunks are wanted, to show whether the service fails.
  var wantsWitnesses: Bool { search.witnesses < search.mostWitnesses }

  /// Whether enough failed in a row to try another place, which shows whether they are to blame, before the end.
  var looksElsewhere: Bool { !isInOrder && failuresInARow >= max(1, settings.failuresInARow / 2) }

  /// Continues with the waiting chunks, because the service accepted or read something.
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

  /// Returns the changes to waiting chunks since the last call.
  package mutating func takeChanges() -> [ChunkChange] {
    var changes = rejectedEvents.takeCertain().map(ChunkChange.quarantine)
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

  /// The next chunk to split: one suspected chunk at a time.
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

  /// Whether nothing more happens to waiting chunks without a conclusion.
  var isQuiet: Bool {
    inFlight == 0 && suspects.isEmpty && !search.isUnderWay
      && (doubt != nil || !waiting.isEmpty && delayed.isEmpty && next != .ready)
  }

  /// Concludes what becomes of waiting chunks when nothing else can show whether the service fails.
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
    // An outage: refusals for now are still waited out.
    let changes = join(isOutage: true)
    if let doubt { end(doubt) } else if outage == nil || traits.mostAttempts != nil { end(everyRequest) }
    return changes
  }

  /// Whether a waiting chunk that was searched, or failed as often as it may, would be to blame if any other were
  /// accepted. The others are sent before the service counts as down, or this chunk would hold them back in each run.
  private var waitsForOthers: Bool {
    waiting.contains { search.has($0) || $0.failures >= mostFailures }
  }

  /// Returns whether an event is to blame when nothing is left to show more: something was accepted since its chunk
  /// failed, in this run or in an earlier one.
  private func isLastToBlame(_ chunk: PendingChunk) -> Bool {
    guard chunk.events == 1 else { return false }
    return search.has(chunk) && !search.isInVain
      || search.isOfRemainder(chunk) && (search.has(chunk) || chunk.failures >= mostFailures)
  }

  /// The chunk to search although the service may be to blame: the one that failed most.
  private var nextInVain: Int? {
    waiting.indices
      .filter {
        waiting[$0].events > 1 && waiting[$0].failures >= mostFailures && !search.has(waiting[$0])
      }
      .max { waiting[$0].failures < waiting[$1].failures }
  }

  /// Adds chunks that were joined again; they wait for the others.
  package mutating func takeBack(_ joined: [PendingChunk]) {
    for chunk in joined { troubles[chunk.id] = nil }
    waiting += joined
  }
}
