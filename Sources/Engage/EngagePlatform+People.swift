package import BatchFoundation
package import BatchStore
import EngageRules

extension EngagePlatform {
  package var personIDs: [PersonID.Kind] { PersonID.Kind.ofEngage }

  package func belongs(_ device: StoredDevice, to ids: [PersonID]) -> Bool {
    ids.contains { BytePattern(StateWriter.encoded($0.bytes)).place(in: device.state) != nil }
  }

  package func ids(of device: StoredDevice) throws -> [String] {
    try unsafe device.state.withUnsafeBytes { bytes in
      let core = try unsafe DeviceState(decoding: bytes).core
      return [core[.primaryUserId], core[.recipientId]].map(\.description).filter { !$0.isEmpty }
    }
  }
}
