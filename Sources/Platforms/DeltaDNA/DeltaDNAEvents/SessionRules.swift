package import BatchFoundation

/// What a session configuration says of events and engagements (contract-deltadna section 7), as the rules of a device ask it.
package protocol SessionRules: Sendable {
  /// Whether the event may go out; also asked of automatic events, but not of stored ones and `ddnaForgetMe`.
  func admits(event name: Text) -> Bool

  /// Whether Engage may be asked.
  func admits(decisionPoint: Text, flavour: Text) -> Bool

  /// The triggers that respond to an event that goes out, in the order of their actions; counts executions and responses.
  ///
  /// Asked of every event but stored ones, `ddnaForgetMe` and `ddnaEventTriggeredAction`.
  func responses(to event: GameEvent, counts: inout TriggerCounts) -> [TriggerResponse]
}

/// How often a device met the triggers of a session configuration.
package struct TriggerCounts: Sendable, Equatable {
  /// Times that an event met a trigger's name and condition, by `variantID`.
  package var executions: [Int64: Int64] = [:]
  /// Responses in the session at hand, by the trigger's place in the file.
  package var shown: [Int: Int64] = [:]

  package init() {}
}

/// A trigger that responds: what `ddnaEventTriggeredAction` says of it (spec deltadna 1.5).
package struct TriggerResponse: Sendable {
  package var campaignID: Int64
  package var priority: Int64
  package var variantID: Int64
  package var hasImage: Bool
  /// Responses of the trigger in the session, this one included.
  package var sessionCount: Int64
  /// Nil when the configuration names none.
  package var campaignName: String?
  package var variantName: String?

  package init(
    campaignID: Int64, priority: Int64, variantID: Int64, hasImage: Bool, sessionCount: Int64,
    campaignName: String? = nil, variantName: String? = nil
  ) {
    self.campaignID = campaignID
    self.priority = priority
    self.variantID = variantID
    self.hasImage = hasImage
    self.sessionCount = sessionCount
    self.campaignName = campaignName
    self.variantName = variantName
  }
}
