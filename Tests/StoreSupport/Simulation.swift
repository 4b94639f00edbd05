import FoundationEssentials

/// Which simulations a test plays: `make simulate` asks for many, or for one again.
package enum Simulation {
  /// - Parameter short: how many where nobody asks.
  package static func seeds(short: Int) -> [UInt64] {
    let variables = ProcessInfo.processInfo.environment
    if let one = variables["ENGAGE_SIMULATE_SEED"].flatMap({ UInt64($0) }) { return [one] }
    guard let count = variables["ENGAGE_SIMULATE_SEEDS"].flatMap({ Int($0) }) else {
      return (1...UInt64(short)).map { $0 }
    }
    let first = UInt64.random(in: 1...1_000_000_000)
    return (0..<count).map { first + UInt64($0) }
  }

  /// Of one seed in four: which of its threads is first is chance, so that it does not play the same way each time. All others do.
  package static func hasSeveralThreads(_ seed: UInt64) -> Bool { seed % 4 == 0 }

  /// How a failure names what was played, for whoever wants to see it again.
  package static func name(of seed: UInt64) -> String {
    "SEED=\(seed) (\(hasSeveralThreads(seed) ? "several threads: may take several tries" : "one thread: plays the same way each time"))"
  }
}
