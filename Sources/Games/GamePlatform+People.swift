package import BatchFoundation
package import BatchStore
import GameRules

extension GamePlatform {
  package var personIDs: [PersonID.Kind] { [.device, .user] }

  /// A state has its player as a text, and all players that the device ever met as digests.
  package func belongs(_ device: StoredDevice, to ids: [PersonID]) throws -> Bool {
    let known = try unsafe device.state.withUnsafeBytes { try unsafe GameState(decoding: $0).known }
    return ids.contains { id in
      BytePattern(StateWriter.encoded(id.bytes)).place(in: device.state) != nil
        || id.bytes.withText { known.contains($0) }
    }
  }

  package func ids(of device: StoredDevice) throws -> [String] {
    let user = try unsafe device.state.withUnsafeBytes { try unsafe GameState(decoding: $0).user.description }
    return user.isEmpty ? [] : [user]
  }

  /// By the `eventUUID`, letter case aside, as Collect compares them (reference deltadna 2).
  package func event(named text: String, in store: EventStore) throws -> EventID? {
    let upper = text.uppercased()
    let spellings = [upper, text.lowercased(), text]
    let packed = Array(upper.utf8).withText { RecordKey($0) }
    for mention in (packed.map { [.bytes($0.bytes)] } ?? []) + spellings.map({ BlockText.whole(Array($0.utf8)) }) {
      var filter = EventFilter()
      filter.mentions = [mention]
      var found: EventID?
      try store.ledger.forEachEvent(filter) { event in
        if try JSONNode.parse(event.json)["eventUUID"]?.string?.uppercased().isIdentical(to: upper) == true {
          found = event.id
        }
        return found == nil
      }
      if let found { return found }
    }
    for spelling in spellings {
      let member = Array(#""eventUUID":\#(JSONNode.text(spelling).text())"#.utf8)
      if let found = try store.quarantine.events(mentioning: member).first { return found }
    }
    return nil
  }
}
