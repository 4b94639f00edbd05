import BatchStore

/// Single events that the service refused as wrong. Whether they are, or the service refuses everything, shows when it takes another:
/// until then they wait.
struct RefusedEvents {
  /// Refused one after another, while nothing was taken.
  private var doubted: [PendingChunk] = []
  /// The whole chunks that those are of.
  private var wholes: Set<Int64> = []
  /// Wrong for certain, to be quarantined.
  private var certain: [PendingChunk] = []

  /// How many were refused since something was taken.
  var inARow: Int { doubted.count }

  /// Whether they come from several chunks, which makes it unlikely that all are wrong.
  var areSpread: Bool { wholes.count > 1 }

  /// - Parameter whole: the chunk that it was stored in.
  mutating func add(_ chunk: PendingChunk, of whole: Int64) {
    doubted.append(chunk)
    wholes.insert(whole)
  }

  /// The service took something, or there is nothing left that could show more.
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

/// Sizes of requests that a service refuses, learnt from chunks that it refused and of which it took both halves.
struct RefusedSizes {
  private struct Refused {
    var chunk: PendingChunk
    var taken = 0
  }

  /// By the number of the chunk.
  private var refused: [Int64: Refused] = [:]
  /// The smallest, by events and bytes of body; none is as large as another one in both.
  private var sizes: [(events: Int, bytes: Int)] = []

  /// Whether what is at least as large in both was refused for its size.
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
