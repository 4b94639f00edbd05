package import BatchFoundation
package import BatchPipeline
package import BatchReport
package import BatchStore
import GameRules

extension GamePlatform {
  /// The device is that of the export; Collect knows the player only.
  package var eventColumns: [EventColumn] {
    [
      EventColumn("eventName"), EventColumn("eventTimestamp"), EventColumn("device", .id), EventColumn("userID", .id),
      EventColumn("sessionID"), EventColumn("eventUUID"), EventColumn("eventParams", .values),
    ]
  }

  package func describe(_ event: JSONNode, device: String) -> EventDescription {
    EventDescription(
      type: event["eventName"]?.string ?? "",
      values: [
        event["eventName"], event["eventTimestamp"], device.isEmpty ? nil : .text(device),
        event["userID"], event["sessionID"], event["eventUUID"], event["eventParams"],
      ])
  }

  package func lastSeen(_ device: StoredDevice) throws -> Instant? {
    try unsafe device.state.withUnsafeBytes { try unsafe GameState(decoding: $0).lastSeen }
  }

  package func summary(of device: StoredDevice) throws -> String {
    try unsafe device.state.withUnsafeBytes { try unsafe GameState(decoding: $0).summary }
  }

  package func unsentEvents(in store: EventStore) throws -> [UnsentEvents] {
    try UnsentEvents.all(
      in: store, held: [], expired: times.expired(in: store), tries: "DeltaDNA.httpRequestMaxTries")
  }
}
