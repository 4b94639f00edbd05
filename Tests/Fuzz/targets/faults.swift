import BatchSandbox

/// Any bytes as a fault plan of the sandbox: rules, or an error with words.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  do {
    _ = try FaultPlan(json: Array(UnsafeBufferPointer(start: start, count: count)), endpoints: [.sandbox])
  } catch {
    _ = "\(error)"
  }
  return 0
}
