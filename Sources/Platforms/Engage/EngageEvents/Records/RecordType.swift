import BatchFoundation

/// What a record says happened (reference formats 3.3).
package enum RecordType: UInt8, CaseIterable, Sendable {
  case launch, foreground, background, terminate
  case namedEvent, goalCompleted, goalAbandoned
  case localNotification
  /// A local notification that was opened: only `notifications` inputs can say so (reference decisions 10).
  case localNotificationOpened
  case pushReceived, notificationOpened
  case deepLink, custom, location, placemark, identify, setMobileUserId
  /// What is to be done with the recipient of the device (reference identity 5.7).
  case contactList, program, optOut, optIn
  /// What somebody agrees to (reference events 3.5).
  case consent
  /// An event as a phone stored it, passed through but for normalisation.
  case rawEvent
  /// Somebody allowed the app's push notifications, or took that back (reference events 1.8).
  case pushEnabled, pushDisabled

  /// What counts for events before it: locations and placemarks, which events around them are augmented from (reference events
  /// 5), and consent, which says whether these may be used.
  package var isSample: Bool { self == .location || self == .placemark || self == .consent }
}

extension RecordType {
  /// The type by the name that `events` inputs use.
  @inline(__always)
  init?(exportName name: Text) {
    switch name.count {
    case 5: if name == "optIn" { self = .optIn } else { return nil }
    case 6:
      if name == "launch" {
        self = .launch
      } else if name == "custom" {
        self = .custom
      } else if name == "optOut" {
        self = .optOut
      } else {
        return nil
      }
    case 7: if name == "program" { self = .program } else if name == "consent" { self = .consent } else { return nil }
    case 8:
      if name == "deepLink" {
        self = .deepLink
      } else if name == "location" {
        self = .location
      } else if name == "identify" {
        self = .identify
      } else {
        return nil
      }
    case 9:
      if name == "terminate" { self = .terminate } else if name == "placemark" { self = .placemark } else { return nil }
    case 10:
      if name == "namedEvent" {
        self = .namedEvent
      } else if name == "foreground" {
        self = .foreground
      } else if name == "background" {
        self = .background
      } else {
        return nil
      }
    case 11:
      if name == "contactList" {
        self = .contactList
      } else if name == "pushEnabled" {
        self = .pushEnabled
      } else {
        return nil
      }
    case 12:
      if name == "pushReceived" {
        self = .pushReceived
      } else if name == "pushDisabled" {
        self = .pushDisabled
      } else {
        return nil
      }
    case 13:
      if name == "goalCompleted" {
        self = .goalCompleted
      } else if name == "goalAbandoned" {
        self = .goalAbandoned
      } else {
        return nil
      }
    case 15: if name == "setMobileUserId" { self = .setMobileUserId } else { return nil }
    case 17: if name == "localNotification" { self = .localNotification } else { return nil }
    case 18: if name == "notificationOpened" { self = .notificationOpened } else { return nil }
    default: return nil
    }
  }
}
