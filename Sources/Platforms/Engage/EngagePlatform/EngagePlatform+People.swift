package import BatchFoundation
package import BatchStore
import EngageEvents
import EngageRules

extension EngagePlatform {
  package var personIDs: [PersonID.Kind] { PersonID.Kind.ofEngage }

  package func belongs(_ device: StoredDevice, to ids: [PersonID]) -> Bool {
    ids.contains { BytePattern(StateWriter.encoded($0.bytes)).place(in: device.state) != nil }
  }
}
