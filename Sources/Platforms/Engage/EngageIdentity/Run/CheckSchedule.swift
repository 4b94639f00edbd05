import BatchFoundation
import BatchThreads

/// Hands out work in its order, but holds a piece back while an earlier one that shares a key with it is unfinished.
///
/// Keys are the device, each id that is searched, and the mobile user id. So a device's checks stay in order, and of two devices
/// that meet the same customer the earlier check comes first, whatever the number of threads.
final class CheckSchedule: Sendable {
  private struct State {
    var ready: [Int]
    var next = 0
    /// How many unfinished pieces each one waits for.
    var blockers: [Int]
    var followers: [[Int]]
    var unfinished: Int
    var isStopped = false
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
        ready: blockers.indices.filter { blockers[$0] == 0 }, blockers: blockers, followers: followers,
        unfinished: keys.count))
  }

  /// The next piece, as soon as there is one; nil when all are finished or the work was stopped.
  func take() -> Int? {
    state.wait { (state: inout State) -> Int?? in
      if state.isStopped || state.unfinished == 0 { return .some(nil) }
      guard state.next < state.ready.count else { return nil }
      state.next += 1
      return state.ready[state.next - 1]
    }
  }

  func finish(_ piece: Int) {
    state.change { state in
      state.unfinished -= 1
      for follower in state.followers[piece] {
        state.blockers[follower] -= 1
        if state.blockers[follower] == 0 { state.ready.append(follower) }
      }
    }
  }

  /// Hands out nothing more.
  func stop() { state.change { $0.isStopped = true } }
}
