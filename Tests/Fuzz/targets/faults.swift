import BatchSandbox

extension FuzzTarget {
  /// Any bytes as a fault plan of the sandbox: rules, or an error with words.
  static func faults(_ input: UnsafeBufferPointer<UInt8>) {
    do {
      _ = try FaultPlan(json: Array(input), of: "faults.json", endpoints: [.sandbox])
    } catch {
      _ = "\(error)"
    }
  }
}
