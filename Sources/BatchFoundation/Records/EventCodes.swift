/// The meaning of an event. ``EventCodes`` maps it to the code on the wire (reference events 1.8).
package enum EventKind: Int, CaseIterable, Sendable {
  case installed, sessionStarted, sessionEnded, goalAbandoned, goalCompleted, namedEvent
  /// A link that was opened. If the link starts a session and has the same code as a session start, one event reports
  /// both.
  case link
  /// A local or push notification; codes do not distinguish the two.
  case receivedNotification, openedNotification
  case pushEnabled, pushDisabled

  package var words: String {
    switch self {
    case .installed: "installed"
    case .sessionStarted: "session started"
    case .sessionEnded: "session ended"
    case .goalAbandoned: "goal abandoned"
    case .goalCompleted: "goal completed"
    case .namedEvent: "named event"
    case .link: "link opened"
    case .receivedNotification: "received notification"
    case .openedNotification: "opened notification"
    case .pushEnabled: "push enabled"
    case .pushDisabled: "push disabled"
    }
  }
}

/// An attribute that the rules add to an event, identified by the source of its value.
package enum AutomaticField: Int, CaseIterable, Sendable {
  case tags, displayedMessage, callToAction, eventName, goalName
  case campaign
  /// The last stored campaign, active or not.
  case lastCampaign
  /// The time that the app was in use during a session, in whole seconds or whole minutes, rounded down.
  case activeSeconds, activeMinutes
  /// `push` or `local`.
  case channel
  /// The action of an opened notification and its value, from the payload's member `notification-action`.
  case actionType, actionValue
  /// The device's recorded values at the time of the event.
  case mobileUserId, channelId, appKey
  /// The results of augmentation, which any event may receive.
  case locationAddress, locationName, latitude, longitude
}

/// The wire code and attributes of each kind of event (`General.eventCodes`, reference events 1.8).
package struct EventCodes: Hashable, Sendable {
  package struct Row: Hashable, Sendable {
    /// The code on the wire; empty for events that are not sent because the account does not support them.
    package var code: String
    package var fields: [AutomaticField]
  }

  /// The name of the profile that this table is or is based on.
  package var profile: String
  private var rows: [Row]
  /// The attributes of every event, including those with custom codes.
  package var ofEveryEvent: [AutomaticField] = []
  /// The names of attributes that `UBFFieldNames` does not cover or leaves at their defaults.
  package var names: [AutomaticField: String] = [
    .channel: "channel", .actionType: "type", .actionValue: "value", .mobileUserId: "mobileUserId",
    .channelId: "channelId", .appKey: "appKey",
  ]
  /// Whether an attribute without a value is sent as an empty value rather than omitted.
  package var keepsEmpty = true
  /// The codes of events that only the service creates; they are never sent.
  package var ofService: [String] = []

  package subscript(kind: EventKind) -> Row {
    get { rows[kind.rawValue] }
    set { rows[kind.rawValue] = newValue }
  }

  private init(_ profile: String, _ rows: KeyValuePairs<EventKind, (code: String, fields: [AutomaticField])>) {
    self.profile = profile
    self.rows = EventKind.allCases.map { _ in Row(code: "", fields: []) }
    for (kind, row) in rows { self[kind] = Row(code: row.code, fields: row.fields) }
  }

  /// The Universal Behavior events that the EngageSDKs sent (reference events 1.1).
  package static let engageSDK = EventCodes(
    "engage-sdk",
    [
      .installed: ("12", [.lastCampaign]),
      .sessionStarted: ("13", [.campaign]),
      .sessionEnded: ("14", [.activeSeconds, .campaign]),
      .goalAbandoned: ("15", [.goalName, .campaign]),
      .goalCompleted: ("16", [.goalName, .campaign]),
      .namedEvent: ("17", [.eventName, .campaign]),
      .link: ("13", [.callToAction, .campaign]),
      .receivedNotification: ("48", [.tags, .displayedMessage, .callToAction, .campaign]),
      .openedNotification: ("49", [.tags, .displayedMessage, .callToAction, .campaign]),
      .pushEnabled: ("", [.campaign]),
      .pushDisabled: ("", [.campaign]),
    ])

  /// The events that Acoustic Campaign lists for mobile apps today (reference events 1.8).
  package static let acousticMobile: EventCodes = {
    let notification: [AutomaticField] = [
      .tags, .displayedMessage, .callToAction, .campaign, .channel, .actionType, .actionValue,
    ]
    var codes = EventCodes(
      "acoustic-mobile",
      [
        .installed: ("89", [.lastCampaign]),
        .sessionStarted: ("91", [.campaign]),
        .sessionEnded: ("92", [.activeMinutes, .campaign]),
        .goalAbandoned: ("95", [.goalName, .campaign]),
        .goalCompleted: ("95", [.goalName, .campaign]),
        .namedEvent: ("95", [.eventName, .campaign]),
        .link: ("95", [.callToAction, .campaign]),
        .receivedNotification: ("", notification),
        .openedNotification: ("94", notification),
        .pushEnabled: ("103", [.campaign]),
        .pushDisabled: ("104", [.campaign]),
      ])
    codes.ofEveryEvent = [.mobileUserId, .channelId, .appKey]
    codes.names.merge([.campaign: "attribution", .activeMinutes: "sessionLength"]) { $1 }
    codes.keepsEmpty = false
    codes.ofService = ["90", "93"]
    return codes
  }()

  package static let profiles = [engageSDK, acousticMobile]

  /// The code for received notifications in accounts that support it; no profile sends it.
  package static let deliveryStatus = "174"

  /// All codes on the wire with the kinds that share them.
  package var byCode: [(code: String, kinds: [EventKind])] {
    Dictionary(grouping: EventKind.allCases) { self[$0].code }.filter { !$0.key.isEmpty }
      .sorted { (Int($0.key) ?? 0, $0.key) < (Int($1.key) ?? 0, $1.key) }.map { ($0.key, $0.value) }
  }

  /// Returns the kinds of events with the code in this table or, if there are none, in the first profile that
  /// has it, because a store may contain events with earlier codes. The result is empty for custom codes.
  package func kinds(of code: String) -> [EventKind] {
    guard !code.isEmpty else { return [] }
    return ([self] + Self.profiles).lazy.map { codes in EventKind.allCases.filter { codes[$0].code == code } }
      .first { !$0.isEmpty } ?? []
  }

  /// Returns the meaning of a code in words; nil for custom codes.
  package func words(for code: String) -> String? {
    let kinds = kinds(of: code)
    if let start = kinds.first(where: { $0 == .sessionStarted }) { return start.words }
    if kinds.count > 1, kinds.contains(.namedEvent) { return "custom event" }
    return kinds.isEmpty ? nil : kinds.map(\.words).joined(separator: " or ")
  }

  /// Returns whether only the service creates events with the code. Codes are compared as numbers: `093` equals 93.
  package func isOfService(_ code: String) -> Bool { Int(code).map { ofService.contains("\($0)") } ?? false }
}
