package import BatchFoundation

/// A trigger that responded to an event; `ddnaEventTriggeredAction` reports it.
package struct TriggerResponse: Sendable {
  package var trigger: Trigger
  /// The number of times that the trigger responded in this session, including this one.
  package var sessionCount: Int64
}

/// The result of evaluating one trigger for an event; the raw value appears in `deltadna triggers explain`.
package enum TriggerResult: String, CaseIterable, Sendable {
  case responds
  /// The condition does not hold.
  case condition
  /// No show condition holds.
  case showCondition
  /// The trigger reached its limit in the session.
  case limit
}

extension SessionConfiguration {
  /// Evaluates the triggers for an event as it would be sent. Not called for stored events, because the phone evaluated
  /// the triggers for them.
  ///
  /// - Parameters:
  ///   - parameters: the `eventParams` of the event.
  ///   - session: the `sessionID` of the event.
  ///   - counts: the device's counts; updated.
  ///   - all: whether to continue after the first trigger that responds (`multipleActionsForEventTriggerEnabled`).
  ///   - responses: receives the responses in order.
  package func respond(
    toEvent name: Text, parameters: JSONView, session: Text, counts: inout TriggerCounts, all: Bool,
    into responses: inout [TriggerResponse]
  ) {
    evaluate(name, parameters, session, &counts, all) { trigger, result, sessionCount in
      if result == .responds { responses.append(TriggerResponse(trigger: trigger, sessionCount: sessionCount)) }
    }
  }

  /// Returns the results of the triggers for an event on a device that has no counts yet, up to the first response.
  /// Empty if the whitelist does not allow the event.
  package func explain(event name: Text, parameters: JSONView) -> [(trigger: Trigger, result: TriggerResult)] {
    var counts = TriggerCounts()
    var results: [(trigger: Trigger, result: TriggerResult)] = []
    guard allows(event: name) else { return [] }
    evaluate(name, parameters, .empty, &counts, false) { trigger, result, _ in results.append((trigger, result)) }
    return results
  }

  /// Evaluates in the order that the Android and Unity SDKs use, so that the variant's count increases even after the
  /// limit is reached.
  private func evaluate(
    _ name: Text, _ parameters: JSONView, _ session: Text, _ counts: inout TriggerCounts, _ all: Bool,
    _ report: (Trigger, TriggerResult, Int64) -> Void
  ) {
    let named = triggers(of: name)
    guard !named.isEmpty else { return }
    counts.enter(session)
    for index in named {
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
