package import BatchFoundation

extension SplitMix64 {
  /// A number from 0 to below the bound; the same draws on every machine.
  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
