import FoundationEssentials

/// The cases of a sweep that every change meets: some of many, spread evenly; with `ENGAGE_SWEEP=full` (`make sweep`) all of them.
package enum Sweep {
  package static let isFull = ProcessInfo.processInfo.environment["ENGAGE_SWEEP"] == "full"

  /// - Parameter short: how many a change meets.
  package static func cases<Case>(_ all: some Collection<Case>, short: Int) -> [Case] {
    let all = Array(all)
    guard !isFull, short < all.count else { return all }
    return (0..<short).map { all[(2 * $0 + 1) * all.count / (2 * short)] }
  }
}
