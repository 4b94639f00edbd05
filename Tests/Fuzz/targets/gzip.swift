import BatchIngest

extension FuzzTarget {
  /// Any bytes: they inflate, or a fault; and every step goes on.
  static func gzip(_ input: UnsafeBufferPointer<UInt8>) {
    guard var inflater = try? Inflater() else { return }
    var rest = UnsafeRawBufferPointer(input)
    var output = [UInt8](repeating: 0, count: 4096)
    var total = 0
    while total < 1 << 22 {
      let step = output.withUnsafeMutableBytes { inflater.inflate(rest, into: $0) }
      precondition(step.consumed <= rest.count && step.produced <= 4096)
      guard step.fault == nil, step.consumed + step.produced > 0 else { break }
      total += step.produced
      rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
    }
    _ = inflater.faultAtEnd
  }
}
