import BatchStore

/// Single rejected events. They wait until the service accepts another, which shows that it does not reject everything.
struct RefusedEvents {
  /// Events rejected in a row, with nothing accepted.
  private var doubted: [PendingChunk] = []
  /// The whole chunks of these events.
  private var wholes: Set<Int64> = []
  /// Events that are certainly wrong, to be quarantined.
  private var certain: [PendingChunk] = []

  /// The number of events rejected since something was accepted.
  var inARow: Int { doubted.count }

  /// Whether they come from several chunks, so that it is unlikely that all are wrong.
  var areSpread: Bool { wholes.count > 1 }

  /// - Parameter whole: the chunk in which the event was stored.
  mutating func add(_ chunk: PendingChunk, of whole: Int64) {
    doubted.append(chunk)
    wholes.insert(whole)
  }

  /// Settles the events as wrong: the service accepted something, or nothing is left to show more.
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

/// The sizes of requests that a service refuses, learned from refused chunks of which it accepted both halves.
struct RefusedSizes {
  private struct Refused {
    var chunk: PendingChunk
    var taken = 0
  }

  /// The refused chunks by number.
  private var refused: [Int64: Refused] = [:]
  /// The smallest refused sizes, by events and body bytes; none is as large as another one in both.
  private var sizes: [(events: Int, bytes: Int)] = []

  /// Returns whether the chunk is at least as large, in both, as one that was refused for its size.
  func exceeds(_ chunk: PendingChunk) -> Bool {
    chunk.events > 1 && sizes.contains { chunk.events >= $0.events && chunk.bodyBytes >= $0.bytes }
  }

  mutating func noteRefused(_ chunk: PendingChunk) { refused[chunk.id] = Refused(chunk: chunk) }

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
