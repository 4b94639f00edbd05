import BatchJSON
package import BatchPlatform
package import BatchReport
package import BatchStore
import DeltaDNARules

extension DeltaDNAPlatform {
  /// The player stands where other platforms have a device, and parameters where they have attributes.
  package func describe(_ event: StoredEvent) throws -> EventDescription {
    let json = try JSONNode.parse(event.json)
    return EventDescription(
      name: json["eventName"], timestamp: json["eventTimestamp"], device: json["userID"]?.string,
      content: json["eventParams"])
  }

  package func summary(of device: StoredDevice) throws -> String {
    try device.state.withUnsafeBytes { try GameState(decoding: $0).summary }
  }

  package func unsentEvents(in store: EventStore) throws -> [UnsentEvents] {
    try UnsentEvents.all(
      in: store, held: [],
      expired: .of(
        .expired, store.statusCounts(), "older, or further ahead, than the service takes",
        "DeltaDNA.oldestEvent, DeltaDNA.furthestAhead", "nothing: the service would refuse them"))
  }
}
