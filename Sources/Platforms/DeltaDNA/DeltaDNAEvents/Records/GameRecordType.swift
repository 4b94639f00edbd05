package import BatchFoundation

/// What a record of a deltaDNA job says happened (reference deltadna 2); the raw values are those of packed records.
package enum GameRecordType: UInt8, CaseIterable, Sendable {
  case launch, foreground, background, terminate, newSession
  case gameEvent, namedEvent, goalCompleted, goalAbandoned
  case transaction, imageMessageAction, notificationOpened, deepLink
  case pushToken, crossGameUserId
  case engagement
  case setUserId, setMobileUserId
  case forgetMe, stopTracking, consent, clearPersistentData
  /// An event as an SDK stored it, without a `type` of its own.
  case storedEvent
  // What counts for Engage only; checked and ignored.
  case pushReceived, localNotification, custom, location, placemark, identify
  /// An event as a phone stored it for Engage.
  case rawUBF

  /// The `type` in exports, and the name in counts and explanations.
  package var name: Text {
    switch self {
    case .launch: "launch"
    case .foreground: "foreground"
    case .background: "background"
    case .terminate: "terminate"
    case .newSession: "newSession"
    case .gameEvent: "gameEvent"
    case .namedEvent: "namedEvent"
    case .goalCompleted: "goalCompleted"
    case .goalAbandoned: "goalAbandoned"
    case .transaction: "transaction"
    case .imageMessageAction: "imageMessageAction"
    case .notificationOpened: "notificationOpened"
    case .deepLink: "deepLink"
    case .pushToken: "pushToken"
    case .crossGameUserId: "crossGameUserId"
    case .engagement: "engagement"
    case .setUserId: "setUserId"
    case .setMobileUserId: "setMobileUserId"
    case .forgetMe: "forgetMe"
    case .stopTracking: "stopTracking"
    case .consent: "consent"
    case .clearPersistentData: "clearPersistentData"
    case .storedEvent: "storedEvent"
    case .pushReceived: "pushReceived"
    case .localNotification: "localNotification"
    case .custom: "custom"
    case .location: "location"
    case .placemark: "placemark"
    case .identify: "identify"
    case .rawUBF: "rawUBF"
    }
  }

  /// Whether records of the type are checked, accepted and counted, and nothing more.
  package var isIgnored: Bool {
    switch self {
    case .pushReceived, .localNotification, .custom, .location, .placemark, .identify, .rawUBF: true
    default: false
    }
  }

  /// Whether Engage's exports have the type too, so that the checks of its format hold.
  var isOfEngage: Bool {
    switch self {
    case .launch, .foreground, .background, .terminate, .namedEvent, .goalCompleted, .goalAbandoned,
      .notificationOpened, .deepLink, .setMobileUserId:
      true
    default: isIgnored
    }
  }
}
