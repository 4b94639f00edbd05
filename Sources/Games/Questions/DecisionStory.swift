package import BatchFoundation

/// What became of a question, for people.
package struct DecisionStory {
  package let timestamp: Instant
  /// Decision point and flavour, as the session configuration writes them.
  package let place: String
  /// What became of it, without anything that the service said.
  package let words: String

  init(_ decision: StoredDecision) {
    timestamp = decision.timestamp
    place = "\(decision.decisionPoint)@\(decision.flavour)"
    guard let settlement = decision.settlement else {
      words = "waits; the next run or 'post' asks it"
      return
    }
    guard decision.isAsked else {
      words = "not asked: the player had opted out or denied consent, or the session configuration does not list it"
      return
    }
    let outcome =
      settlement.error.map { "failed (\($0), status \(settlement.status))" }
      ?? "answered with status \(settlement.status)"
    words = settlement.isCached ? "\(outcome); an earlier answer stands in" : outcome
  }
}
