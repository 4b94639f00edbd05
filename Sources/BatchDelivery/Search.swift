import BatchStore

/// The halves of suspected chunks. Each is tried once, one at a time, and one that fails is halved itself before the
/// next one is tried: so something is left that can show whether it is the service which fails.
struct Search {
  /// Halvings after which the service is blamed, if it has taken nothing since the first.
  static let mostInVain = 24

  /// A chunk whose halves are on their way.
  private struct Halving {
    let chunk: PendingChunk
    var halves: [Int64] = []
  }

  private enum Furthest { case wanted, halved, tried }

  private var parts: Set<Int64> = []
  private var siblings: [Int64: Int64] = [:]
  /// Halves to blame for the failure of what they came from, because the other half was taken.
  private var blamed: Set<Int64> = []
  /// What an earlier run left of a searched chunk, and its halves.
  private var remainders: Set<Int64>
  /// Halves that have not been tried, the next one last.
  private var untried: [PendingChunk] = []
  private var underWay: Set<Int64> = []
  /// Halvings since the service answered: they are taken back if it fails at all that is tried.
  private var vain: [Halving] = []
  /// What was halved last, or begun with, waits for its halves.
  private(set) var awaitsHalves = false
  /// Whether a piece of what is furthest away from those that failed is tried as well; nil before that is asked.
  private var furthest: Furthest?
  /// The service failed at all that was tried: there is no other search before it has answered.
  private(set) var isExhausted = false
  /// Chunks outside of the search that were sent to show whether it is the service which fails, and how many may be.
  var witnesses = 0
  var mostWitnesses = 0

  init(remainders: Set<Int64>) { self.remainders = remainders }

  func has(_ chunk: PendingChunk) -> Bool { parts.contains(chunk.id) }

  var isUnderWay: Bool { !underWay.isEmpty || !untried.isEmpty || awaitsHalves }

  var mayBegin: Bool { underWay.isEmpty && !untried.isEmpty && !awaitsHalves && furthest != .wanted }

  var isInVain: Bool { !vain.isEmpty }

  /// Whether an earlier run had found the chunk, or what it is a part of, to blame, before the service took nothing any more.
  func isOfRemainder(_ chunk: PendingChunk) -> Bool { remainders.contains(chunk.id) }

  mutating func beginNext() -> PendingChunk { begin(untried.removeLast()) }

  mutating func begin(_ chunk: PendingChunk) -> PendingChunk {
    if has(chunk) { underWay.insert(chunk.id) }
    return chunk
  }

  mutating func finish(_ chunk: PendingChunk) { underWay.remove(chunk.id) }

  /// Notes that the half was taken.
  mutating func clear(_ chunk: PendingChunk) {
    if let other = siblings[chunk.id] { blamed.insert(other) }
  }

  func isBlamed(_ chunk: PendingChunk) -> Bool { blamed.contains(chunk.id) }

  mutating func tryAgain(_ chunk: PendingChunk) { untried.append(chunk) }

  /// A half that was not sent after all.
  ///
  /// - Returns: false for another chunk.
  mutating func giveBack(_ chunk: PendingChunk) -> Bool {
    guard underWay.remove(chunk.id) != nil else { return false }
    untried.append(chunk)
    return true
  }

  /// The service took or read something: what was halved is not put together again.
  mutating func noteAnswer() {
    vain = []
    (furthest, isExhausted) = (nil, false)
    (witnesses, mostWitnesses) = (0, 0)
  }

  /// The half is held, or became others for another reason.
  mutating func leaveOut(_ chunk: PendingChunk) {
    finish(chunk)
    if has(chunk) { keepHalves() }
  }

  /// What was halved is not put together again, because one of its halves is gone.
  mutating func keepHalves() { vain = [] }

  // MARK: - Halves

  /// Whether a half that failed is halved as well; else it waits for another that is far away.
  mutating func mayGoOn() -> Bool {
    if vain.count < Self.mostInVain { return true }
    if furthest == nil, !untried.isEmpty { furthest = .wanted }
    return false
  }

  /// Has a piece of the half that is furthest away tried next; the rest of it is kept, to show more later.
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
    vain.append(Halving(chunk: chunk))
    return .halve(chunk)
  }

  /// Takes the halves that were asked for.
  ///
  /// - Returns: other chunks.
  mutating func take(_ chunks: [PendingChunk]) -> [PendingChunk] {
    guard awaitsHalves, let chunk = vain.last?.chunk else { return chunks }
    let whole = chunk.id
    awaitsHalves = false
    let halves = chunks.filter { $0.parent == whole }
    // What is held instead has none.
    if halves.isEmpty { vain.removeLast() } else { vain[vain.count - 1].halves = halves.map(\.id) }
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

  /// Puts together again what was halved in vain.
  ///
  /// - Returns: also the halves that are none any more.
  mutating func join(isOutage: Bool) -> (changes: [ChunkChange], parts: Set<Int64>) {
    let gone = Set(vain.flatMap(\.halves))
    let changes = vain.reversed().map { ChunkChange.join($0.halves, of: $0.chunk, isOutage: isOutage) }
    untried.removeAll { gone.contains($0.id) }
    (vain, isExhausted) = ([], true)
    return (changes, gone)
  }
}
