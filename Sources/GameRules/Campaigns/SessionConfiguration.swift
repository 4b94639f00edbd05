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

/// After how many executions a campaign is shown (reference deltadna-service 4.6).
package struct ShowCondition: Equatable, Sendable {
  /// Shown at exactly this execution.
  package var required: Int64?
  package var repetition: Repetition?

  package struct Repetition: Equatable, Sendable {
    /// Shown at every multiple; at least 1.
    package var interval: Int64
    /// How many multiples there are; below 1 there is no end.
    package var limit: Int64
  }

  /// Whether one of its rules holds.
  ///
  /// - Parameter executions: how often the condition of the variant has held so far, this time included.
  package func holds(executions: Int64) -> Bool {
    if executions == required { return true }
    guard let repetition, repetition.interval > 0, executions % repetition.interval == 0 else { return false }
    return repetition.limit < 1 || executions / repetition.interval <= repetition.limit
  }
}

/// Owns texts that are written once and then read on any thread.
///
/// `@unchecked Sendable`: the arena is only written while the owner is local to who makes it.
final class TextOwner: @unchecked Sendable {
  private let arena = Arena(blockSize: 1 << 12)

  init() {}

  func own(_ string: String) -> Text { arena.text(string) }
}

/// A campaign that an event of a player triggers (reference deltadna-service 4.6).
///
/// Texts belong to the ``SessionConfiguration`` that the trigger came with.
package struct Trigger: Sendable {
  package enum Action: String, Sendable {
    case gameParameters
    case imageMessage
  }

  package var eventName: Text
  /// -1 where the file has none; so is `variantID`.
  package var campaignID: Int64
  package var variantID: Int64
  /// Larger ones come first.
  package var priority: Int64
  package var action: Action
  package var campaignName: Text?
  package var variantName: Text?
  /// How often it is shown in one session at most; nil for no limit.
  var limit: Int64?
  var condition: Condition
  /// One of them has to hold; none are no bar.
  var showConditions: [ShowCondition]
  /// Names the trigger in ``TriggerCounts``, also after the file was changed elsewhere.
  package var key: UInt64
}

/// What an answer's `image` is good for as an image message (reference deltadna-service 4.4, deltadna 9).
package struct ImageMessage: Equatable, Sendable {
  /// What is missing, in the order of ``Part``.
  package var problems: [Part]
  /// What a phone has to load before it can show the message.
  package var assets: [String]

  package var isValid: Bool { problems.isEmpty }

  /// A part that an image message needs; the raw value names it in `problems`.
  package enum Part: String, CaseIterable, Sendable {
    case url
    case height
    case width
    case spritemap
    case layout
    case background = "spritemap.background"
    /// Landscape or portrait.
    case orientation = "layout.orientation"
  }

  /// - Parameter image: `image` of an answer.
  /// - Returns: nil if there is none.
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
