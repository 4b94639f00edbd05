package import BatchConfiguration
package import BatchFoundation
package import BatchPipeline
package import BatchReport
package import BatchStore
import GameRules

extension GamePlatform {
  /// The columns for an event. The device is the one in the export, because Collect knows only the player.
  package var eventColumns: [EventColumn] {
    [
      EventColumn("eventName"), EventColumn("eventTimestamp"), EventColumn("device", .id), EventColumn("userID", .id),
      EventColumn("sessionID"), EventColumn("eventUUID"), EventColumn("eventParams", .values),
    ]
  }

  package func describe(_ event: JSONView, device: JSONView?) -> EventDescription {
    EventDescription(
      type: event["eventName"]?.string,
      values: [
        event["eventName"], event["eventTimestamp"], device, event["userID"], event["sessionID"], event["eventUUID"],
        event["eventParams"],
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

  /// Adds an event to an outline. Sessions last from their first event to their last; campaigns are trigger responses.
  package func outline(_ event: JSONNode, _ settings: Settings, into outline: inout DeviceOutline) {
    guard let name = event["eventName"]?.string else { return }
    outline.events[name, default: 0] += 1
    let time = event["eventTimestamp"]?.string
    if let id = event["sessionID"]?.string {
      if let index = outline.sessions.lastIndex(where: { $0.id == id }) {
        outline.sessions[index].end = time
      } else {
        outline.sessions.append(DeviceOutline.Session(id: id, start: time, end: time))
      }
    }
    guard name == "ddnaEventTriggeredAction", let parameters = event["eventParams"] else { return }
    let campaign =
      parameters["ddnaEventTriggeredCampaignName"]?.string
      ?? parameters["ddnaEventTriggeredCampaignID"]?.canonicalText ?? ""
    outline.campaigns[campaign, default: 0] += 1
  }

  package func coverage(of run: RunContext, _ figures: [String: Int], _ details: ProcessingDetails?) -> [RuleCoverage] {
    func rule(_ name: String, _ figure: GameFigure) -> RuleCoverage { RuleCoverage(.rule, name, figures[figure]) }
    var rules = [
      rule("a session begins", .sessionsStarted), rule("a session ends", .sessionsEnded),
      rule("a player opts out", .optedOut), rule("consent is denied", .consentDenied),
    ]
    let game = gameSettings(run.settings).deltaDNA
    if game.engageURL != nil { rules.append(rule("a decision is requested from Engage", .decisions)) }
    if game.eventSchema != nil { rules.append(rule("an event does not match the schema", .invalid)) }
    guard let details, let configuration = (details.rules as? GamePlatformRules)?.configuration else { return rules }
    return rules
      + configuration.triggers.map { trigger in
        let campaign = trigger.campaignName?.description ?? "campaign \(trigger.campaignID)"
        let variant = trigger.variantName.map { ", \($0)" } ?? ", variant \(trigger.variantID)"
        return RuleCoverage(
          .trigger, "\(trigger.eventName): \(campaign)\(variant)", details.uses[trigger.place, default: 0])
      }
  }
}
