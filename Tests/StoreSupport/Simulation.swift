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
}
