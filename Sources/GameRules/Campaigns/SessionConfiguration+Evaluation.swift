package import BatchFoundation

/// A trigger that responded to an event; `ddnaEventTriggeredAction` tells of it.
package struct TriggerResponse: Sendable {
  package var trigger: Trigger
  /// How often the trigger responded in this session, this time included.
  package var sessionCount: Int64
}

/// What became of an event at one trigger; the raw value is the word of `deltadna triggers explain`.
package enum TriggerResult: String, CaseIterable, Sendable {
  case responds
  /// Its condition does not hold.
  case condition
  /// None of its show conditions holds.
  case showCondition
  /// It was shown as often as its limit allows in a session.
  case limit
}

extension SessionConfiguration {
  /// Lets the triggers see an event as it would be sent. Not for stored events: the phone has decided on those.
  ///
  /// - Parameters:
  ///   - parameters: `eventParams` of the event.
  ///   - session: `sessionID` of the event.
  ///   - counts: those of the device; changed.
  ///   - all: whether triggers go on after the first that responds (`multipleActionsForEventTriggerEnabled`).
  ///   - responses: gets the responses, in their order.
  package func respond(
    toEvent name: Text, parameters: JSONView, session: Text, counts: inout TriggerCounts, all: Bool,
    into responses: inout [TriggerResponse]
  ) {
    evaluate(name, parameters, session, &counts, all) { trigger, result, sessionCount in
      if result == .responds { responses.append(TriggerResponse(trigger: trigger, sessionCount: sessionCount)) }
    }
  }

  /// What each trigger of an event says to it on a device that has counted nothing, up to the first that responds unless `all`.
  package func explain(
    event name: Text, parameters: JSONView, all: Bool = false
  ) -> [(trigger: Trigger, result: TriggerResult)] {
    var counts = TriggerCounts()
    var results: [(trigger: Trigger, result: TriggerResult)] = []
    guard allows(event: name) else { return [] }
    evaluate(name, parameters, .empty, &counts, all) { trigger, result, _ in results.append((trigger, result)) }
    return results
  }

  /// The order of steps is that of Android and Unity: the count of the variant goes on when the limit is reached.
  private func evaluate(
    _ name: Text, _ parameters: JSONView, _ session: Text, _ counts: inout TriggerCounts, _ all: Bool,
    _ report: (Trigger, TriggerResult, Int64) -> Void
  ) {
    let waiting = triggers(of: name)
    guard !waiting.isEmpty else { return }
    counts.enter(session)
    for index in waiting {
      let trigger = triggers[index]
      guard trigger.condition.holds(for: parameters) else {
        report(trigger, .condition, 0)
        continue
      }
      let executions = counts.addExecution(ofVariant: trigger.variantID)
      let isDue =
        trigger.showConditions.isEmpty || trigger.showConditions.contains { $0.holds(executions: executions) }
      guard isDue else {
        report(trigger, .showCondition, 0)
        continue
      }
      if let limit = trigger.limit, counts.timesShown(trigger.key) >= limit {
        report(trigger, .limit, 0)
        continue
      }
      report(trigger, .responds, counts.addShown(trigger.key))
      if !all { return }
    }
  }
}
