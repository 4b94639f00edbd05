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
