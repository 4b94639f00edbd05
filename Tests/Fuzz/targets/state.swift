import BatchFoundation
import EngageRules
import GameRules

extension FuzzTarget {
  /// Any bytes as the state of a device: one that is written as it was read, or an error.
  static func state(_ input: UnsafeBufferPointer<UInt8>) {
    let bytes = UnsafeRawBufferPointer(input)
    if let state = try? DeviceState(decoding: bytes) {
      let written = state.encoded()
      written.withUnsafeBytes { precondition((try? DeviceState(decoding: $0))?.encoded() == written) }
    }
    if let state = try? GameState(decoding: bytes) {
      let written = state.encoded()
      written.withUnsafeBytes { precondition((try? GameState(decoding: $0))?.encoded() == written) }
    }
  }
}
