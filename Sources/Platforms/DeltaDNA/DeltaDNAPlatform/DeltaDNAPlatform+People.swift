package import BatchFoundation
package import BatchStore
import DeltaDNARules

extension DeltaDNAPlatform {
  package var personIDs: [PersonID.Kind] { [.device, .user] }

  /// A state has its player as a text, and all players that the device ever met as digests.
  package func belongs(_ device: StoredDevice, to ids: [PersonID]) throws -> Bool {
    let known = try unsafe device.state.withUnsafeBytes { try unsafe GameState(decoding: $0).known }
    return ids.contains { id in
      BytePattern(StateWriter.encoded(id.bytes)).place(in: device.state) != nil
        || id.bytes.withText { known.contains($0) }
    }
  }
}
