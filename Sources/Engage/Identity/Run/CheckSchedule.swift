import BatchFoundation

/// The order of pieces of work, independent of the number of threads and the duration of calls.
///
/// Pieces known to be related share a key (the device, each id looked up, the mobile user id) and are handed out in
/// order. The recipients of a piece are known only after its look-ups, which run concurrently. A piece has its turn
/// when all earlier pieces have decided and none still uses one of its recipients. If one of these was written to after
/// the look-up, the piece repeats the look-up. Thus the order of writes to each recipient follows from the records
/// alone.
///
/// A deadlock is impossible, because a thread that finishes a piece takes the first ready one. That is the piece whose
/// turn it is, unless another thread already has it.
final class CheckSchedule: Sendable {
  fileprivate struct State {
    var ready: Set<Int>
    /// A lower bound of the indices in ``ready``.
    var firstReady = 0
    /// The number of unfinished pieces that each piece waits for.
    var blockers: [Int]
    var followers: [[Int]]
    var unfinished: Int
    var isStopped = false
    /// The first undecided piece.
    var turn = 0
    var hasDecided: [Bool]
    /// The recipients in use by each piece.
    var held: [Int: Set<ByteText>] = [:]
    var clock = 0
    /// The time at which each recipient was last released.
    var released: [ByteText: Int] = [:]

    mutating func release(_ piece: Int) {
      guard let recipients = held.removeValue(forKey: piece) else { return }
      for recipient in recipients { released[recipient] = clock }
      clock += 1
    }

    mutating func decide(_ piece: Int) {
      hasDecided[piece] = true
      while turn < hasDecided.count, hasDecided[turn] { turn += 1 }
    }
  }

  fileprivate let state: Guarded<State>

  init(keys: [[String]]) {
    var last: [ByteText: Int] = [:]
    var blockers = Array(repeating: 0, count: keys.count)
    var followers: [[Int]] = Array(repeating: [], count: keys.count)
    for (piece, names) in keys.enumerated() {
      for name in Set(names.map { ByteText($0) }) {
        if let earlier = last.updateValue(piece, forKey: name) {
          followers[earlier].append(piece)
          blockers[piece] += 1
        }
      }
    }
    state = Guarded(
      State(
        ready: Set(blockers.indices.filter { blockers[$0] == 0 }), blockers: blockers, followers: followers,
        unfinished: keys.count, hasDecided: Array(repeating: false, count: keys.count)))
  }

  /// Blocks until there is a piece that waits for no other, and returns it; nil if all are finished or the work was
  /// stopped.
  func take() -> CheckTurn? {
    state.wait { (state: inout State) -> CheckTurn?? in
      if state.isStopped || state.unfinished == 0 { return .some(nil) }
      guard !state.ready.isEmpty else { return nil }
      while !state.ready.contains(state.firstReady) { state.firstReady += 1 }
      state.ready.remove(state.firstReady)
      return CheckTurn(schedule: self, piece: state.firstReady)
    }
  }

  /// Stops handing out pieces and ends all waits for a turn.
  func stop() { state.change { $0.isStopped = true } }
}

/// The error thrown in a piece that waits for its turn when the work is stopped. Whoever stopped the work knows the
/// reason.
struct StoppedError: Error {}

/// A piece of work and its place in the order.
struct CheckTurn: Sendable {
  enum Entry: Equatable {
    /// The piece has the recipients exclusively until it leaves or finishes.
    case entered(hasWaited: Bool)
    /// A recipient was written to after it was looked up.
    case outdated
  }

  fileprivate var schedule: CheckSchedule
  fileprivate(set) var piece: Int

  /// A turn for a piece that has no others to wait for.
  static var alone: CheckTurn { CheckTurn(schedule: CheckSchedule(keys: [[]]), piece: 0) }

  /// The schedule's logical time, to be read before recipients are looked up and passed to ``enter(_:since:)``.
  var now: Int { schedule.state.withLock { $0.clock } }

  /// Waits until all earlier pieces have decided.
  ///
  /// - Throws: ``StoppedError`` if the work is stopped in the meantime.
  func waitForTurn() throws(StoppedError) { _ = try enter([], since: now) }

  /// Waits for the piece's turn, and until no other piece uses one of the recipients.
  ///
  /// - Throws: ``StoppedError`` if the work is stopped in the meantime.
  func enter(_ recipients: [String], since: Int) throws(StoppedError) -> Entry {
    let names = Set(recipients.map { ByteText($0) })
    var hasWaited = false
    let entry = schedule.state.wait { state -> Entry?? in
      if state.isStopped { return .some(nil) }
      if names.contains(where: { state.released[$0, default: -1] >= since }) { return .outdated }
      guard state.turn >= piece, !state.held.contains(where: { $0.key != piece && !$0.value.isDisjoint(with: names) })
      else {
        hasWaited = true
        return nil
      }
      state.held[piece, default: []].formUnion(names)
      return .entered(hasWaited: hasWaited)
    }
    guard let entry else { throw StoppedError() }
    return entry
  }

  /// Marks the piece's changes as known, so that the next piece has its turn.
  func decide() { schedule.state.change { $0.decide(piece) } }

  /// Releases the piece's recipients without ending the piece.
  func leave() { schedule.state.change { $0.release(piece) } }

  /// Ends the piece, even after a failure.
  func finish() {
    schedule.state.change { state in
      state.release(piece)
      state.decide(piece)
      state.unfinished -= 1
      for follower in state.followers[piece] {
        state.blockers[follower] -= 1
        guard state.blockers[follower] == 0 else { continue }
        state.ready.insert(follower)
        state.firstReady = min(state.firstReady, follower)
      }
    }
  }
}
