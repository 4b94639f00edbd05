package import BatchFoundation
package import BatchStore
import EngageEvents
import EngageRules

extension EngagePlatform {
  package var personIDs: [PersonID.Kind] { PersonID.Kind.ofEngage }

  package func belongs(_ device: StoredDevice, to ids: [PersonID]) -> Bool {
    ids.contains { BytePattern(StateWriter.encoded($0.bytes)).place(in: device.state) != nil }
  }

  package func role(of id: String, at device: StoredDevice) throws -> String? {
    try unsafe device.state.withUnsafeBytes { bytes in
      let state = try unsafe DeviceState(decoding: bytes)
      return Array(id.utf8).withText { id in
        if id == state.core[.primaryUserId] { return "a mobile user id" }
        return id == state.core[.recipientId] ? "a recipient" : nil
      }
    }
  }
}
