package import BatchFoundation

/// Which code each kind of event has on the wire, and what it carries besides (`General.eventCodes`, reference events 1.8).
///
/// An empty code keeps such events from being sent: the account does not know them.
package struct EventCodes: Sendable {
  package var installed: Text
  package var sessionStarted: Text
  package var sessionEnded: Text
  package var goalAbandoned: Text
  package var goalCompleted: Text
  package var namedEvent: Text
  /// A deep link. Where it shares the code of a session's start, the link that starts a session is one event with it.
  package var link: Text
  /// Local and push notifications share it on the wire.
  package var receivedNotification: Text
  package var openedNotification: Text
  package var pushEnabled: Text
  package var pushDisabled: Text
  /// Events carry the ids of user, channel and app under the names of Acoustic's mobile SDKs.
  package var carriesMobileIds = false
  /// The length of a session is told in whole minutes, rounded down, and not in seconds.
  package var tellsMinutes = false

  /// Universal Behavior events as the EngageSDKs sent them (reference events 1.1).
  package static let engageSDK = EventCodes(
    installed: "12", sessionStarted: "13", sessionEnded: "14", goalAbandoned: "15", goalCompleted: "16",
    namedEvent: "17", link: "13", receivedNotification: "48", openedNotification: "49", pushEnabled: "",
    pushDisabled: "")

  /// Those that Acoustic Campaign lists for mobile apps today (reference events 1.8).
  package static let acousticMobile = EventCodes(
    installed: "89", sessionStarted: "91", sessionEnded: "92", goalAbandoned: "95", goalCompleted: "95",
    namedEvent: "95", link: "95", receivedNotification: "", openedNotification: "94", pushEnabled: "103",
    pushDisabled: "104", carriesMobileIds: true, tellsMinutes: true)
}

/// Names of attributes of Acoustic's mobile SDKs.
enum MobileAttribute {
  static let mobileUserId: Text = "mobileUserId"
  static let channelId: Text = "channelId"
  static let appKey: Text = "appKey"
  static let channel: Text = "channel"
  /// What an opened notification does, and with what.
  static let actionType: Text = "type"
  static let actionValue: Text = "value"
  /// The member of a payload that has both.
  static let action: Text = "notification-action"
}
