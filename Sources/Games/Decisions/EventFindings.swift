import BatchFoundation
import BatchStore
import EventSchemas
import GameRules

extension GameEvent {
  /// A line of `--findings-out` (reference deltadna 6), without a line end.
  func findingsLine(_ findings: [EventFinding]) -> [UInt8] {
    EventFinding.line(
      [
        "eventName": .text(name.description), "userID": .text(userID.description),
        "eventUUID": .text(eventUUID.description), "eventTimestamp": .text(timestamp.eventTimestamp),
      ], findings)
  }
}

extension QuarantinedLine {
  /// An event that is kept back with what is wrong with it; its bytes are those of the wire.
  ///
  /// - Parameters:
  ///   - detail: the findings in words.
  ///   - block: of the event alone.
  init(_ event: GameEvent, detail: String, block: [UInt8]) {
    var json = ByteBuffer()
    event.appendJSON(to: &json)
    let id = EventID(timestamp: event.timestamp, device: event.device, emission: event.emission)
    self.init(event: id, reason: .schemaInvalid, detail: detail, raw: json.array)
    self.block = block
  }
}
