import BatchSandbox

extension FuzzTarget {
  /// Any bytes as a fault plan of the sandbox: rules, or an error with words.
  static func faults(_ input: UnsafeBufferPointer<UInt8>) {
    do {
      var settings = SandboxSettings()
      try settings.read(faults: Array(input), of: "faults.json", endpoints: [.sandbox]) { _ in }
    } catch {
      _ = "\(error)"
    }
  }
}
