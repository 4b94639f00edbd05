package import BatchIngest

/// The kind of thing that a record reports (reference formats 3.3).
package enum RecordType: UInt8, CaseIterable, Sendable {
  case launch, foreground, background, terminate
  case namedEvent, goalCompleted, goalAbandoned
  case localNotification
  /// A local notification that was opened; only `notifications` inputs can say so (reference decisions 10).
  case localNotificationOpened
  case pushReceived, notificationOpened
  case deepLink, custom, location, placemark, identify, setMobileUserId
  /// A change to the recipient of the device (reference identity 5.7).
  case contactList, program, optOut, optIn
  /// A person's consent (reference events 3.5).
  case consent
  /// An event as stored by a phone, passed through normalized.
  case rawEvent
  /// Permission for the app's push notifications was given or withdrawn (reference events 1.8).
  case pushEnabled, pushDisabled

  /// Whether the record counts for earlier events: locations and placemarks augment the events around them
  /// (reference events 5), and consent decides whether these may be used.
  package var isSample: Bool { self == .location || self == .placemark || self == .consent }
}

extension RecordType: RecordShape {
  package static let head: [RecordField] = [
    .deviceId, .timestamp, .params, .device, .mobileUserId, .anonymousId, .recipientId, .channelId, .appKey,
  ]

  package var isExported: Bool { self != .localNotificationOpened && self != .rawEvent }

  package var fields: [FieldUse] {
    switch self {
    case .namedEvent, .goalCompleted, .goalAbandoned: [.required(.name)]
    case .deepLink: [.required(.url)]
    case .pushReceived, .notificationOpened: [.required(.payload)]
    case .localNotification: [.required(.notification)]
    case .custom: [.required(.eventTypeCode)]
    case .location: [.required(.latitude), .required(.longitude)]
    case .placemark: Placemark.fields.map { .optional($0) }
    case .identify: [.required(.ids)]
    case .contactList: [.required(.contactListId)]
    case .program: [.required(.programId)]
    case .consent: [.optional(.use), .optional(.export)]
    case .setMobileUserId: [.required(.mobileUserId)]
    case .rawEvent:
      [.required(.eventTypeCode), .optional(.eventTimestamp), .optional(.eventTimeStamp), .required(.attributes)]
    case .launch, .foreground, .background, .terminate, .localNotificationOpened, .optOut, .optIn, .pushEnabled,
      .pushDisabled:
      []
    }
  }
}
