import BatchFoundation
package import BatchIngest

/// The type of a record in a game's job (reference deltadna 2). Raw values are stored in packed records.
package enum GameRecordType: UInt8, CaseIterable, Sendable {
  case launch, foreground, background, terminate, newSession
  case gameEvent, namedEvent, goalCompleted, goalAbandoned
  case transaction, imageMessageAction, notificationOpened, deepLink
  case pushToken, crossGameUserId
  case engagement
  case setUserId, setMobileUserId
  case forgetMe, stopTracking, consent, clearPersistentData
  /// An event as stored by an SDK, without a `type`.
  case storedEvent
  // Only Engage uses these; here they are validated and ignored.
  case pushReceived, localNotification, custom, location, placemark, identify
  /// An event as stored by a phone for Engage.
  case rawUBF

  /// The `type` in exports, and the name in counts and explanations.
  package var name: String { "\(self)" }

  /// Whether records of the type are only validated, accepted and counted.
  package var isIgnored: Bool {
    switch self {
    case .pushReceived, .localNotification, .custom, .location, .placemark, .identify, .rawUBF: true
    default: false
    }
  }

  /// Whether exports for Engage have the type too, so that Engage's format rules apply.
  var isOfEngage: Bool {
    switch self {
    case .launch, .foreground, .background, .terminate, .namedEvent, .goalCompleted, .goalAbandoned,
      .notificationOpened, .deepLink, .setMobileUserId:
      true
    default: isIgnored
    }
  }

  /// Returns whether an object is a record of a kind that only exports from games contain.
  static func isOfGames(_ object: JSONView) -> Bool {
    func present(_ key: Text) -> JSONView? { object[key].flatMap { $0.isNull ? nil : $0 } }
    guard let type = present("type") else { return present("eventName") != nil && present("eventParams") != nil }
    return type.string.flatMap { GameRecordType(exportName: $0) }.map { !$0.isOfEngage } ?? false
  }
}

extension GameRecordType: RecordShape {
  package static let head: [RecordField] = [
    .deviceId, .timestamp, .params, .device, .mobileUserId, .anonymousId, .recipientId,
  ]

  package var isExported: Bool { self != .storedEvent && self != .rawUBF }

  package var fields: [FieldUse] {
    switch self {
    case .launch, .foreground, .background, .terminate, .newSession, .stopTracking, .clearPersistentData: []
    case .gameEvent: [.filled(.name)]
    case .namedEvent, .goalCompleted, .goalAbandoned: [.required(.name)]
    case .transaction:
      [.filled(.name), .filled(.transactionType), .required(.received), .required(.spent)]
        + Self.transactionTexts.map { .optional($0, filled: true) }
    case .imageMessageAction:
      [.filled(.imActionName), .filled(.imActionType), .optional(.imActionValue), .optional(.response)]
    case .notificationOpened: [.required(.payload), .optional(.didLaunch)]
    case .deepLink: [.required(.url)]
    case .pushToken: [.required(.token)]
    case .crossGameUserId: [.required(.crossGameUserId)]
    case .engagement: [.filled(.decisionPoint), .optional(.flavour, filled: true)]
    case .setUserId: [.filled(.userId)]
    case .setMobileUserId: [.required(.mobileUserId)]
    case .forgetMe: [.optional(.advertisingId)]
    case .consent: [.optional(.use), .optional(.export)]
    case .storedEvent:
      [
        .filled(.eventName), .filled(.userID), .required(.eventParams), .optional(.sessionID), .optional(.eventUUID),
        .required(.eventTimestamp),
      ]
    case .pushReceived: [.required(.payload)]
    case .localNotification: [.required(.notification)]
    case .custom: [.required(.eventTypeCode)]
    case .location: [.required(.latitude), .required(.longitude)]
    case .placemark:
      [
        .optional(.name), .optional(.city), .optional(.state), .optional(.postalCode), .optional(.country),
        .optional(.countryCode),
      ]
    case .identify: [.required(.ids)]
    case .rawUBF:
      [.required(.eventTypeCode), .optional(.eventTimestamp), .optional(.eventTimeStamp), .required(.attributes)]
    }
  }

  /// The fields that a `transaction` passes on unchanged.
  static let transactionTexts: [RecordField] = [
    .transactionID, .transactorID, .productID, .transactionServer, .transactionReceipt, .transactionReceiptSignature,
  ]
}
