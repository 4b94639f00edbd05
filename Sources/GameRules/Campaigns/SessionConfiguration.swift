package import BatchFoundation

/// A saved answer of Engage to `config`: which events and decision points are wanted, and which campaigns events trigger
/// (reference deltadna 7).
package struct SessionConfiguration: Sendable {
  /// By priority, then by place in the file.
  package let triggers: [Trigger]
  /// What can be used but should be looked at, in the order of the file.
  package let notes: [FileNote]
  private let names: NameIndex
  /// Nil if there is no list, or an empty one: then all are wanted.
  private let events: NameIndex.Scope?
  private let decisionPoints: NameIndex.Scope?
  /// Finds the triggers of an event by its name, as a place in `triggersOfEvent`.
  private let triggerEvents: NameIndex.Scope
  private let triggersOfEvent: [[Int]]
  /// Owns the texts of the triggers.
  private let texts: TextOwner

  init(
    triggers unordered: [Trigger], eventsWhitelist: [String], decisionPointWhitelist: [String],
    notes: [FileNote], texts: TextOwner
  ) {
    let order = unordered.indices.sorted {
      unordered[$0].priority != unordered[$1].priority ? unordered[$0].priority > unordered[$1].priority : $0 < $1
    }
    let triggers = order.map { unordered[$0] }
    var names = NameIndex()
    events = eventsWhitelist.isEmpty ? nil : names.addScope(eventsWhitelist.map { ($0, 0) })
    decisionPoints = decisionPointWhitelist.isEmpty ? nil : names.addScope(decisionPointWhitelist.map { ($0, 0) })
    var places: [Text: Int] = [:]
    var triggersOfEvent: [[Int]] = []
    var eventNames: [(name: String, value: Int)] = []
    for (index, trigger) in triggers.enumerated() {
      if let place = places[trigger.eventName] {
        triggersOfEvent[place].append(index)
      } else {
        places[trigger.eventName] = triggersOfEvent.count
        eventNames.append((trigger.eventName.description, triggersOfEvent.count))
        triggersOfEvent.append([index])
      }
    }
    triggerEvents = names.addScope(eventNames)
    self.triggersOfEvent = triggersOfEvent
    self.names = names
    self.triggers = triggers
    self.notes = notes
    self.texts = texts
  }

  /// Whether `eventsWhitelist` lets the event pass. Stored events and `ddnaForgetMe` pass whatever it says (reference
  /// decisions 40).
  package func allows(event: Text) -> Bool {
    guard let events, event != "ddnaForgetMe" else { return true }
    return names.value(of: event, in: events) != nil
  }

  /// Whether `dpWhitelist` has `point@flavour`.
  package func allows(decisionPoint: Text, flavour: Text) -> Bool {
    guard let decisionPoints else { return true }
    return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: decisionPoint.count + 1 + flavour.count) {
      joined in
      guard let base = joined.baseAddress else { return false }
      unsafe base.update(from: decisionPoint.base, count: decisionPoint.count)
      unsafe base[decisionPoint.count] = UInt8(ascii: "@")
      unsafe (base + decisionPoint.count + 1).update(from: flavour.base, count: flavour.count)
      return unsafe names.value(of: Text(base: base, count: joined.count), in: decisionPoints) != nil
    }
  }

  /// The triggers that wait for an event, in their order.
  func triggers(of event: Text) -> [Int] {
    // These are what the service makes of campaigns and users; campaigns never wait for them.
    guard let place = names.value(of: event, in: triggerEvents), event != "ddnaForgetMe",
      event != "ddnaEventTriggeredAction"
    else { return [] }
    return triggersOfEvent[place]
  }
}
