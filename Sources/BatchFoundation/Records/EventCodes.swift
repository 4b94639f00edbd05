/// What an event tells. Which code it has on the wire is for ``EventCodes`` to say (reference events 1.8).
package enum EventKind: Int, CaseIterable, Sendable {
  case installed, sessionStarted, sessionEnded, goalAbandoned, goalCompleted, namedEvent
  /// A deep link that was opened. Where it shares the code of a session's start, the link that starts a session is one event with it.
  case link
  /// Local or push: not told apart by a code.
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

/// An attribute that the rules add to an event, and where its value comes from.
package enum AutomaticField: Int, CaseIterable, Sendable {
  case tags, displayedMessage, callToAction, eventName, goalName
  case campaign
  /// The campaign stored last, active or not.
  case lastCampaign
  /// The time of use of a session: whole seconds, or whole minutes, rounded down.
  case activeSeconds, activeMinutes
  /// `push` or `local`.
  case channel
  /// What an opened notification did, and with what: of the member `notification-action` of its payload.
  case actionType, actionValue
  /// What records named of the device by then.
  case mobileUserId, channelId, appKey
  /// Of augmentation, which any event may get.
  case locationAddress, locationName, latitude, longitude
}

/// Which code each kind of event has on the wire, and which attributes it carries (`General.eventCodes`, reference events 1.8).
///
/// The profiles are values of it, and so is a table of your own.
package struct EventCodes: Hashable, Sendable {
  package struct Row: Hashable, Sendable {
    /// Empty keeps such events from being sent: the account does not know them.
    package var code: String
    package var fields: [AutomaticField]
  }

  /// The profile that this is, or that it began as.
  package var profile: String
  private var rows: [Row]
  /// What every event carries, also one with a code of the caller's own.
  package var ofEveryEvent: [AutomaticField] = []
  /// What attributes are called that `UBFFieldNames` does not name, or names by its default.
  package var names: [AutomaticField: String] = [
    .channel: "channel", .actionType: "type", .actionValue: "value", .mobileUserId: "mobileUserId",
    .channelId: "channelId", .appKey: "appKey",
  ]
  /// Whether an attribute that nothing gave a value is there with an empty one.
  package var keepsEmpty = true
  /// Codes of events that the service makes by itself: they are never sent.
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

  /// Universal Behavior events as the EngageSDKs sent them (reference events 1.1).
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

  /// Those that Acoustic Campaign lists for mobile apps today (reference events 1.8).
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

  /// With which an account that knows it is told of received notifications; no profile sends it.
  package static let deliveryStatus = "174"

  /// Each code that events are sent with, with the kinds that have it.
  package var byCode: [(code: String, kinds: [EventKind])] {
    Dictionary(grouping: EventKind.allCases) { self[$0].code }.filter { !$0.key.isEmpty }
      .sorted { (Int($0.key) ?? 0, $0.key) < (Int($1.key) ?? 0, $1.key) }.map { ($0.key, $0.value) }
  }

  /// What an event with the code tells: by this table, else by a profile, because a store may have events from before a change.
  ///
  /// Empty for a code of the caller's own.
  package func kinds(of code: String) -> [EventKind] {
    guard !code.isEmpty else { return [] }
    return ([self] + Self.profiles).lazy.map { codes in EventKind.allCases.filter { codes[$0].code == code } }
      .first { !$0.isEmpty } ?? []
  }

  /// A code in words; nil for one of the caller's own.
  package func words(for code: String) -> String? {
    let kinds = kinds(of: code)
    if let start = kinds.first(where: { $0 == .sessionStarted }) { return start.words }
    if kinds.count > 1, kinds.contains(.namedEvent) { return "custom event" }
    return kinds.isEmpty ? nil : kinds.map(\.words).joined(separator: " or ")
  }

  /// Whether only the service itself makes events of the code, which it reads as a number: `093` is 93.
  package func isOfService(_ code: String) -> Bool { Int(code).map { ofService.contains("\($0)") } ?? false }
}
