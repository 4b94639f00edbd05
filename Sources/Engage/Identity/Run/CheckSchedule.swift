import BatchFoundation

/// The order in which pieces of work come to pass, whatever the number of threads and however long their calls take.
///
/// What is known beforehand to belong together shares a key (the device, each id that is searched, the mobile user id): such
/// pieces are handed out one after the other. Which recipients a piece leads to is only known once it has looked, so pieces look
/// at the same time, but each has its turn only when all before it have decided, and when none of them is still writing to one of
/// its recipients. A piece that looked before one of its recipients was written to has to look again. So which piece comes first
/// at a recipient follows from the records alone.
///
/// Threads cannot wait for each other in a circle: the thread that finishes a piece takes the first one that is ready, which is
/// the one whose turn it is unless another thread has it already.
final class CheckSchedule: Sendable {
  private struct State {
    var ready: Set<Int>
    /// Earlier than this nothing is ready.
    var firstReady = 0
    /// How many unfinished pieces each one waits for.
    var blockers: [Int]
    var followers: [[Int]]
    var unfinished: Int
    var isStopped = false
    /// Every piece before this one has decided.
    var turn = 0
    var hasDecided: [Bool]
    /// Recipients that pieces are working on.
    var held: [Int: Set<ByteText>] = [:]
    var clock = 0
    /// When each recipient was last given up.
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

  private let state: Guarded<State>

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

  /// The first piece that waits for no other, as soon as there is one; nil when all are finished or the work was stopped.
  func take() -> CheckTurn? {
    state.wait { (state: inout State) -> CheckTurn?? in
      if state.isStopped || state.unfinished == 0 { return .some(nil) }
      guard !state.ready.isEmpty else { return nil }
      while !state.ready.contains(state.firstReady) { state.firstReady += 1 }
      state.ready.remove(state.firstReady)
      return CheckTurn(schedule: self, piece: state.firstReady)
    }
  }

  /// Hands out nothing more, and lets nobody wait for a turn.
  func stop() { state.change { $0.isStopped = true } }

  // MARK: - For a turn

  fileprivate var now: Int { state.withLock { $0.clock } }

  fileprivate func enter(_ piece: Int, _ recipients: [String], since: Int) throws(StoppedError) -> CheckTurn.Entry {
    let names = Set(recipients.map { ByteText($0) })
    var hasWaited = false
    let entry = state.wait { state -> CheckTurn.Entry?? in
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

  fileprivate func decide(_ piece: Int) { state.change { $0.decide(piece) } }

  fileprivate func leave(_ piece: Int) { state.change { $0.release(piece) } }

  fileprivate func finish(_ piece: Int) {
    state.change { state in
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

/// The work was stopped while a piece waited for its turn; why is known to whoever stopped it.
struct StoppedError: Error {}

/// A piece of work in its place among the others.
struct CheckTurn: Sendable {
  enum Entry: Equatable {
    /// The recipients are the piece's alone until it leaves or finishes.
    case entered(hasWaited: Bool)
    /// A recipient was written to after it was looked at.
    case outdated
  }

  fileprivate var schedule: CheckSchedule
  /// Its index in the order.
  fileprivate(set) var piece: Int

  /// The only piece of an order of its own.
  static var alone: CheckTurn { CheckTurn(schedule: CheckSchedule(keys: [[]]), piece: 0) }

  /// To be taken before recipients are looked up, for ``enter(_:since:)``.
  var now: Int { schedule.now }

  /// Waits until all pieces before it have decided.
  ///
  /// - Throws: ``StoppedError`` when the work was stopped meanwhile.
  func waitForTurn() throws(StoppedError) { _ = try enter([], since: now) }

  /// Waits for its turn, and until no other piece works on one of the recipients.
  ///
  /// - Throws: ``StoppedError`` when the work was stopped meanwhile.
  func enter(_ recipients: [String], since: Int) throws(StoppedError) -> Entry {
    try schedule.enter(piece, recipients, since: since)
  }

  /// What the piece does with its recipients is settled, so the next one has its turn.
  func decide() { schedule.decide(piece) }

  /// Gives its recipients up, and looks again.
  func leave() { schedule.leave(piece) }

  /// Ends the piece, whatever came of it.
  func finish() { schedule.finish(piece) }
}
