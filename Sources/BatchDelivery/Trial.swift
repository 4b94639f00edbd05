import BatchStore

/// A suspected chunk in halves, each of which is tried once: what becomes of them shows whether the chunk is to blame or the service.
struct Trial {
  /// The chunk as it was before.
  let chunk: PendingChunk
  /// How many requests had been acknowledged when it began.
  let acknowledgedBefore: Int
  /// Others were taken just before: that all halves fail does not speak against the service.
  let isProven: Bool
  /// Halves that have no answer yet.
  private var open: Set<Int64> = []
  private(set) var halves: [Int64] = []
  /// Halves that failed, in their order.
  private(set) var failed: [PendingChunk] = []
  /// The service took a half, or read it and said no.
  private(set) var isAnswered = false
  /// A failure was a refusal for now.
  private(set) var isForNow = false

  init(of chunk: PendingChunk, isProven: Bool, acknowledgedBefore: Int) {
    self.chunk = chunk
    self.isProven = isProven
    self.acknowledgedBefore = acknowledgedBefore
  }

  mutating func begin(_ parts: [PendingChunk]) {
    halves = parts.map(\.id)
    open = Set(halves)
  }

  /// Whether an answer to this chunk belongs to the trial.
  func awaits(_ half: PendingChunk) -> Bool { open.contains(half.id) }

  mutating func noteFailure(of half: PendingChunk, isForNow: Bool) {
    guard open.remove(half.id) != nil else { return }
    failed.append(half)
    failed.sort { $0.id < $1.id }
    if isForNow { self.isForNow = true }
  }

  mutating func noteAnswer(to half: PendingChunk) {
    if open.remove(half.id) != nil { isAnswered = true }
  }

  /// The half is held, or became parts for another reason: it says nothing.
  mutating func leaveOut(_ half: PendingChunk) { open.remove(half.id) }

  var isOver: Bool { open.isEmpty }

  /// Every half failed, and nothing else has shown yet that the service works.
  var isInVain: Bool { isOver && isWhole && !failed.isEmpty }

  /// No half was taken or held: they can be put together again.
  var isWhole: Bool { !isAnswered && failed.count + open.count == halves.count }
}
