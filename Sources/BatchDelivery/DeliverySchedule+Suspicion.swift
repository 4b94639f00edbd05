import BatchFoundation
package import BatchStore
import BatchWire

/// Judges whether a chunk or the service is to blame for a failure (docs/guarantees.md, "When a request fails").
extension DeliverySchedule {
  /// Judges a chunk at its last permitted failure (for a half, its first). Returns false if it is tried again like
  /// other chunks.
  mutating func judge(_ chunk: PendingChunk, _ fault: CallFault, now: Milliseconds) -> Bool {
    let isToBlame = search.has(chunk) && chunk.events > 1 ? search.mayGoOn() : isProven(chunk)
    if isToBlame, isExcused(chunk, fault, now: now) { return false }
    if isToBlame { suspects.append(chunk) } else { setAside.append(chunk) }
    return true
  }

  /// Returns whether something else was accepted since the first failure of the chunk. For a half, the service must
  /// have accepted or rejected something since the last halving; acceptance of the other half also counts.
  private func isProven(_ chunk: PendingChunk) -> Bool {
    let hasOthers = troubles[chunk.id].map { acknowledged > $0.acknowledgedBefore } == true
    return search.has(chunk) ? !search.isUnconfirmed && (search.isBlamed(chunk) || hasOthers) : hasOthers
  }

  /// Returns whether a chunk is temporarily refused and may still recover, as others have since its first failure.
  private func isExcused(_ chunk: PendingChunk, _ fault: CallFault, now: Milliseconds) -> Bool {
    guard fault.isTemporary, !search.has(chunk), let trouble = troubles[chunk.id] else { return false }
    return recoveries > trouble.recoveriesBefore && now < trouble.since + settings.patience.longest
  }

  /// Whether chunks from the end of the queue are wanted.
  package var wantsEnd: Bool { wantsWitnesses || looksElsewhere }

  /// Whether other chunks should be sent to show whether the service fails.
  var wantsWitnesses: Bool { search.witnesses < search.mostWitnesses }

  /// Whether so many requests failed in a row that chunks from the end of the queue are tried before the delivery ends,
  /// to show whether the failed chunks are to blame.
  var looksElsewhere: Bool { !isInOrder && failuresInARow >= max(1, settings.failuresInARow / 2) }

  /// Continues with the chunks set aside, because the service accepted or rejected something.
  mutating func release(now: Milliseconds) {
    for chunk in setAside {
      if !search.has(chunk) {
        delayed.append((now, chunk))
      } else if chunk.events == 1, !search.isBlamed(chunk) {
        search.tryAgain(chunk)
      } else {
        suspects.append(chunk)
      }
    }
    setAside = []
  }

  /// Returns the changes to chunks that have become necessary since the last call.
  package mutating func takeChanges() -> [ChunkChange] {
    var changes = rejectedEvents.takeCertain().map(ChunkChange.quarantine)
    guard stop == nil else {
      if inFlight == 0, search.isUnconfirmed { changes += join(isOutage: false) }
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

  /// The index of the suspected chunk to split next; nil if there is none, or if another one is being searched, because
  /// only one is searched at a time.
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
    setAside.removeAll { parts.contains($0.id) }
    suspects.removeAll { parts.contains($0.id) }
    delayed.removeAll { parts.contains($0.chunk.id) }
    return changes
  }

  /// Whether nothing more can happen to chunks set aside until ``conclude()`` decides about them.
  var isQuiet: Bool {
    inFlight == 0 && suspects.isEmpty && !search.isUnderWay
      && (doubt != nil || !setAside.isEmpty && delayed.isEmpty && next != .ready)
  }

  /// Decides about the chunks set aside when nothing else can show whether the service fails.
  private mutating func conclude() -> [ChunkChange] {
    if !search.isExhausted, let place = likeliestSuspect { return [halve(setAside.remove(at: place))] }
    let needsEnd = looksElsewhere && !hasLookedElsewhere
    if doubt == nil || needsOthers || needsEnd, readyCount > 0, search.witnesses < mostFailures {
      search.mostWitnesses += 1
      return []
    }
    if doubt == nil, !setAside.isEmpty, setAside.allSatisfy(isLastToBlame) {
      defer { setAside = [] }
      search.keepHalves()
      return setAside.map(ChunkChange.giveUp)
    }
    // In an outage, temporary refusals are still waited out.
    let changes = join(isOutage: true)
    if let doubt { end(doubt) } else if outage == nil || traits.mostAttempts != nil { end(everyRequest) }
    return changes
  }

  /// Whether a chunk set aside was searched or failed as often as allowed, so that it would be to blame if any other
  /// chunk were accepted. Others are sent before the service counts as down; otherwise this chunk would block them in
  /// every run.
  private var needsOthers: Bool {
    setAside.contains { search.has($0) || $0.failures >= mostFailures }
  }

  /// Returns whether an event is to blame although no other chunk can show more, because something was accepted since
  /// its chunk failed, in this run or in an earlier one.
  private func isLastToBlame(_ chunk: PendingChunk) -> Bool {
    guard chunk.events == 1 else { return false }
    return search.has(chunk) && !search.isUnconfirmed
      || search.isOfRemainder(chunk) && (search.has(chunk) || chunk.failures >= mostFailures)
  }

  /// The index of the chunk set aside that failed most often, to be searched even though the service may be to blame; nil
  /// if there is none.
  private var likeliestSuspect: Int? {
    setAside.indices
      .filter {
        setAside[$0].events > 1 && setAside[$0].failures >= mostFailures && !search.has(setAside[$0])
      }
      .max { setAside[$0].failures < setAside[$1].failures }
  }

  /// Adds chunks whose halves were joined again to those set aside.
  package mutating func takeBack(_ joined: [PendingChunk]) {
    for chunk in joined { troubles[chunk.id] = nil }
    setAside += joined
  }
}
