package import BatchFoundation
package import BatchStore
package import BatchWire

/// A failed request that will be tried again.
package struct DeliveryTrouble: Sendable, Equatable {
  package var reason: String
  /// The time until the next attempt; nil if that depends on a response.
  package var nextAttempt: Milliseconds?

  package init(reason: String, nextAttempt: Milliseconds?) {
    self.reason = reason
    self.nextAttempt = nextAttempt
  }

  package var description: String {
    guard let nextAttempt else { return reason }
    let seconds = (nextAttempt.count + 999) / 1000
    return seconds == 0 ? "\(reason); trying again" : "\(reason); trying again in \(seconds) s"
  }
}

/// The results of a delivery.
package struct DeliveryReport: Sendable, Equatable {
  package var upload = UploadCounts()
  /// The number of distinct events sent again after a lost response, now or later: the service may have them twice.
  package var eventsInDoubt = 0
  /// The attempts that ended in this delivery, by outcome; those that a killed run left open count as unknown.
  package var attempts: [AttemptOutcome: Int] = [:]
  /// The number of chunks with attempts that a killed run left open.
  package var recoveredChunks = 0
  /// The number of events that the service rejected individually, by the service's reason without quoted values.
  package var rejections: [String: Int] = [:]
  /// The reason for an early end; nil if the delivery was not ended early.
  package var stop: ServiceStop?
  /// The reason given by the attempt that ended the delivery, without values from events; nil if no attempt ended it.
  package var stopReason: String?

  /// The exit code of the delivery: the code of ``stop``, or 76 while events are held as `UNKNOWN`.
  package var exit: RunExit {
    if let exit = stop?.exit { return exit }
    return upload.eventsUnknown > 0 ? .protocolRefused : .done
  }
}

/// Events rejected individually, kept until the service accepts another one, which shows that it does not reject
/// everything.
struct RejectedEvents {
  /// Events rejected in a row, with nothing accepted in between.
  private var doubted: [PendingChunk] = []
  /// The original chunks of these events.
  private var wholes: Set<Int64> = []
  /// Events that are certainly wrong, to be quarantined.
  private var certain: [PendingChunk] = []

  /// The number of events rejected since something was accepted.
  var inARow: Int { doubted.count }

  /// Whether the events come from several chunks, so that it is unlikely that all are wrong.
  var areSpread: Bool { wholes.count > 1 }

  /// - Parameter whole: the chunk in which the event was stored.
  mutating func add(_ chunk: PendingChunk, of whole: Int64) {
    doubted.append(chunk)
    wholes.insert(whole)
  }

  /// Declares the events wrong, because the service accepted something, or no other chunk is left to try.
  mutating func settle() {
    certain += doubted
    doubted = []
    wholes = []
  }

  mutating func takeCertain() -> [PendingChunk] {
    defer { certain = [] }
    return certain
  }
}

/// The sizes of requests that a service refuses, learned from refused chunks whose two halves it accepted.
struct RejectedSizes {
  /// The refused chunks by number, each with the number of its halves that were accepted.
  private var refused: [Int64: (chunk: PendingChunk, taken: Int)] = [:]
  /// The smallest refused sizes, in events and body bytes. No size is at least as large as another in both respects.
  private var sizes: [(events: Int, bytes: Int)] = []

  /// Returns whether the chunk has at least as many events and bytes as one that was refused for its size.
  func exceeds(_ chunk: PendingChunk) -> Bool {
    chunk.events > 1 && sizes.contains { chunk.events >= $0.events && chunk.bodyBytes >= $0.bytes }
  }

  mutating func noteRejected(_ chunk: PendingChunk) { refused[chunk.id] = (chunk, 0) }

  mutating func noteTaken(_ chunk: PendingChunk) {
    guard let whole = chunk.parent, refused[whole] != nil else { return }
    refused[whole]?.taken += 1
    guard let found = refused[whole], found.taken == 2 else { return }
    refused[whole] = nil
    guard !exceeds(found.chunk) else { return }
    let size = (events: found.chunk.events, bytes: found.chunk.bodyBytes)
    sizes.removeAll { $0.events >= size.events && $0.bytes >= size.bytes }
    sizes.append(size)
  }
}
