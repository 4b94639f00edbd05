import BatchStore

/// The search for failing events in suspected chunks, by halving. Each half is tried once, one at a time. A
/// half that fails is halved before the next half is tried, so that an untried half can still show whether
/// the service itself fails.
struct SuspectSearch {
  /// The number of halvings after which the service is blamed if it has accepted or rejected nothing since the first.
  static let mostUnconfirmed = 24

  private enum Furthest { case wanted, halved, tried }

  private var parts: Set<Int64> = []
  private var siblings: [Int64: Int64] = [:]
  /// The halves to blame for the failure of their chunk, because the other half was accepted.
  private var blamed: Set<Int64> = []
  /// The parts of searched chunks that earlier runs left, and their halves.
  private var remainders: Set<Int64>
  /// The halves that have not been tried, the next one last.
  private var untried: [PendingChunk] = []
  private var underWay: Set<Int64> = []
  /// The chunks halved since the service last accepted or rejected something, with the halves. They are joined again if
  /// it fails at everything tried.
  private var unconfirmed: [(chunk: PendingChunk, halves: [Int64])] = []
  /// Whether the halves of the last halving have not arrived yet.
  private(set) var awaitsHalves = false
  /// The state of the trial of the part furthest from the failed halves; nil if it is not wanted yet.
  private var furthest: Furthest?
  /// Whether the service failed at everything tried. No other search begins before it accepts or rejects something.
  private(set) var isExhausted = false
  /// The number of chunks outside the search that were sent to show whether the service fails, and the maximum number.
  var witnesses = 0
  var mostWitnesses = 0

  init(remainders: Set<Int64>) { self.remainders = remainders }

  func has(_ chunk: PendingChunk) -> Bool { parts.contains(chunk.id) }

  var isUnderWay: Bool { !underWay.isEmpty || !untried.isEmpty || awaitsHalves }

  var mayBegin: Bool { underWay.isEmpty && !untried.isEmpty && !awaitsHalves && furthest != .wanted }

  var isUnconfirmed: Bool { !unconfirmed.isEmpty }

  /// Returns whether the chunk is part of a chunk that an earlier run blamed.
  func isOfRemainder(_ chunk: PendingChunk) -> Bool { remainders.contains(chunk.id) }

  mutating func beginNext() -> PendingChunk { begin(untried.removeLast()) }

  mutating func begin(_ chunk: PendingChunk) -> PendingChunk {
    if has(chunk) { underWay.insert(chunk.id) }
    return chunk
  }

  mutating func finish(_ chunk: PendingChunk) { underWay.remove(chunk.id) }

  /// Blames the other half, because this one was accepted.
  mutating func clear(_ chunk: PendingChunk) {
    if let other = siblings[chunk.id] { blamed.insert(other) }
  }

  func isBlamed(_ chunk: PendingChunk) -> Bool { blamed.contains(chunk.id) }

  mutating func tryAgain(_ chunk: PendingChunk) { untried.append(chunk) }

  /// Takes back a half that was not sent; returns false for another chunk.
  mutating func giveBack(_ chunk: PendingChunk) -> Bool {
    guard underWay.remove(chunk.id) != nil else { return false }
    untried.append(chunk)
    return true
  }

  /// Makes the halvings final, because the service accepted or rejected something.
  mutating func noteAnswer() {
    unconfirmed = []
    (furthest, isExhausted) = (nil, false)
    (witnesses, mostWitnesses) = (0, 0)
  }

  /// Removes a half whose events are now held, or that was split for another reason.
  mutating func leaveOut(_ chunk: PendingChunk) {
    finish(chunk)
    if has(chunk) { keepHalves() }
  }

  /// Makes the halvings final, because one of the halves is gone.
  mutating func keepHalves() { unconfirmed = [] }

  // MARK: - Halves

  /// Returns whether a failed half is halved as well. Otherwise, a part far from it is tried first.
  mutating func mayGoOn() -> Bool {
    if unconfirmed.count < Self.mostUnconfirmed { return true }
    if furthest == nil, !untried.isEmpty { furthest = .wanted }
    return false
  }

  /// Prepares the trial of a part of the furthest half, and keeps the rest of that half for later. Returns
  /// the halving that this requires; nil if it requires none.
  mutating func takeFurthest() -> ChunkChange? {
    guard furthest == .wanted, underWay.isEmpty, !awaitsHalves, let part = untried.first else { return nil }
    untried.removeFirst()
    guard part.events > 1 else {
      furthest = .tried
      untried.append(part)
      return nil
    }
    furthest = .halved
    return halve(part)
  }

  mutating func halve(_ chunk: PendingChunk) -> ChunkChange {
    awaitsHalves = true
    unconfirmed.append((chunk, []))
    return .halve(chunk)
  }

  /// Takes the requested halves, and returns the other chunks.
  mutating func take(_ chunks: [PendingChunk]) -> [PendingChunk] {
    guard awaitsHalves, let chunk = unconfirmed.last?.chunk else { return chunks }
    let whole = chunk.id
    awaitsHalves = false
    let halves = chunks.filter { $0.parent == whole }
    // A chunk that is held instead has no halves.
    if halves.isEmpty { unconfirmed.removeLast() } else { unconfirmed[unconfirmed.count - 1].halves = halves.map(\.id) }
    if isOfRemainder(chunk) { remainders.formUnion(halves.map(\.id)) }
    parts.formUnion(halves.map(\.id))
    if halves.count == 2 { (siblings[halves[0].id], siblings[halves[1].id]) = (halves[1].id, halves[0].id) }
    if furthest == .halved {
      furthest = .tried
      untried = halves.dropFirst() + untried + halves.prefix(1)
    } else {
      untried += halves.reversed()
    }
    return chunks.filter { $0.parent != whole }
  }

  /// Rejoins the chunks that were halved without success. Also returns their halves, which no longer exist.
  mutating func join(isOutage: Bool) -> (changes: [ChunkChange], parts: Set<Int64>) {
    let gone = Set(unconfirmed.flatMap { $0.halves })
    let changes = unconfirmed.reversed().map { ChunkChange.join($0.halves, of: $0.chunk, isOutage: isOutage) }
    untried.removeAll { gone.contains($0.id) }
    (unconfirmed, isExhausted) = ([], true)
    return (changes, gone)
  }
}
