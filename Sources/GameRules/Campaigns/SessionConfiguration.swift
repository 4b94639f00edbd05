package import BatchFoundation

/// Engage's saved response to `config`: the allowed events and decision points, and the triggers (reference deltadna
/// 7).
package struct SessionConfiguration: Sendable {
  /// The triggers, highest priority first, then in file order.
  package let triggers: [Trigger]
  /// Warnings about suspicious but usable parts of the file, in file order.
  package let notes: [ConfigurationFault]
  private let names: NameIndex
  /// The allowed events; nil if the whitelist is missing or empty, so that everything is allowed. The same holds for
  /// `decisionPoints`.
  private let events: NameIndex.Scope?
  private let decisionPoints: NameIndex.Scope?
  /// Maps an event's name to an index in `triggersOfEvent`.
  private let triggerEvents: NameIndex.Scope
  private let triggersOfEvent: [[Int]]
  /// The memory of the triggers' texts, which is not written once the configuration is read.
  private nonisolated(unsafe) let texts: Arena

  init(
    triggers unordered: [Trigger], eventsWhitelist: [String], decisionPointWhitelist: [String],
    notes: [ConfigurationFault], texts: Arena
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
    unsafe self.texts = texts
  }

  /// Returns whether `eventsWhitelist` allows the event. `ddnaForgetMe` is always allowed, and so are stored events,
  /// for which this is not called (reference decisions 40).
  package func allows(event: Text) -> Bool {
    guard let events, event != "ddnaForgetMe" else { return true }
    return names.value(of: event, in: events) != nil
  }

  /// Returns whether `dpWhitelist` allows the decision point, written there as `decisionPoint@flavour`.
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

  /// Returns the indices in ``triggers`` of an event's triggers, in ascending order.
  func triggers(of event: Text) -> [Int] {
    // These events report campaigns and privacy requests; they trigger no campaign.
    guard let place = names.value(of: event, in: triggerEvents), event != "ddnaForgetMe",
      event != "ddnaEventTriggeredAction"
    else { return [] }
    return triggersOfEvent[place]
  }
}

/// Selects the executions of a variant at which its campaign is shown (reference deltadna-service 4.6). An execution is
/// an occasion on which the variant's condition held.
package struct ShowCondition: Equatable, Sendable {
  /// The number (from 1) of the individual execution at which the campaign is shown; nil if there is none.
  package var required: Int64?
  package var repetition: Repetition?

  package struct Repetition: Equatable, Sendable {
    /// The campaign is shown at every multiple of this number, which is at least 1.
    package var interval: Int64
    /// The maximum number of such multiples; less than 1 for no limit.
    package var limit: Int64
  }

  /// Returns whether the campaign is shown at an execution, given by its number from 1.
  package func holds(executions: Int64) -> Bool {
    if executions == required { return true }
    guard let repetition, repetition.interval > 0, executions % repetition.interval == 0 else { return false }
    return repetition.limit < 1 || executions / repetition.interval <= repetition.limit
  }
}

/// A campaign triggered by an event (reference deltadna-service 4.6); the ``SessionConfiguration`` owns its texts.
package struct Trigger: Sendable {
  package enum Action: String, Sendable {
    case gameParameters
    case imageMessage
  }

  package var eventName: Text
  /// -1 if the file has none. The same holds for `variantID`.
  package var campaignID: Int64
  package var variantID: Int64
  /// Triggers of higher priority are evaluated first.
  package var priority: Int64
  package var action: Action
  package var campaignName: Text?
  package var variantName: Text?
  /// The maximum number of responses in one session; nil if there is no limit.
  var limit: Int64?
  var condition: Condition
  /// At least one must hold, unless the list is empty.
  var showConditions: [ShowCondition]
  /// Identifies the trigger in ``TriggerCounts``, even after other parts of the file change.
  package var key: UInt64
}

/// The parts that a phone needs to show a response's `image` as an image message, and those that are missing (reference
/// deltadna-service 4.4, deltadna 9).
package struct ImageMessage: Equatable, Sendable {
  /// The missing parts, in the order of ``Part``.
  package var problems: [Part]
  /// The URLs that a phone must load before it can show the message.
  package var assets: [String]

  package var isValid: Bool { problems.isEmpty }

  /// A required part of an image message; the raw value is its name in `problems`.
  package enum Part: String, CaseIterable, Sendable {
    case url
    case height
    case width
    case spritemap
    case layout
    case background = "spritemap.background"
    /// Either landscape or portrait.
    case orientation = "layout.orientation"
  }

  /// Returns nil if the `image` of a response is missing or null.
  package init?(_ image: JSONNode?) {
    guard let image, !image.isNull else { return nil }
    func has(_ key: String, in node: JSONNode) -> Bool { node.present(key) != nil }
    problems = Part.allCases.filter { part in
      switch part {
      case .url, .height, .width, .spritemap, .layout: !has(part.rawValue, in: image)
      case .background: has("spritemap", in: image) && image["spritemap"].map { !has("background", in: $0) } ?? false
      case .orientation:
        has("layout", in: image)
          && image["layout"].map { !has("landscape", in: $0) && !has("portrait", in: $0) } ?? false
      }
    }
    assets = image["url"]?.string.map { [$0] } ?? []
  }
}
