import BatchFoundation
import DeltaDNARules
import EngageRules

/// Any bytes as the state of a device: one that is written as it was read, or an error.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  if let state = try? DeviceState(decoding: bytes) {
    let written = state.encoded()
    written.withUnsafeBytes { precondition((try? DeviceState(decoding: $0))?.encoded() == written) }
  }
  if let state = try? GameState(decoding: bytes) {
    let written = state.encoded()
    written.withUnsafeBytes { precondition((try? GameState(decoding: $0))?.encoded() == written) }
  }
  return 0
}
