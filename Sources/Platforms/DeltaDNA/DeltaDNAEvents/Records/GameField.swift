import BatchFoundation

/// The fields that records of a deltaDNA job may have; the raw value is a place in ``GameFields``.
enum GameField: Int, CaseIterable {
  case deviceId, timestamp, type, params, device, mobileUserId, anonymousId, recipientId
  case name, notification, payload, url, eventTypeCode, latitude, longitude
  case city, state, postalCode, country, countryCode, ids
  case action, channel, attributes, eventTimestamp, eventTimeStamp
  case transactionType, received, spent, transactionID, transactorID, productID, transactionServer
  case transactionReceipt, transactionReceiptSignature
  case imActionName, imActionType, imActionValue, response
  case didLaunch, token, crossGameUserId, decisionPoint, flavour, userId, advertisingId, use, export
  case eventName, userID, sessionID, eventUUID, eventParams
  /// Any value: it only makes a line distinct.
  case recordId

  var name: StaticString {
    switch self {
    case .deviceId: "deviceId"
    case .timestamp: "timestamp"
    case .type: "type"
    case .params: "params"
    case .device: "device"
    case .mobileUserId: "mobileUserId"
    case .anonymousId: "anonymousId"
    case .recipientId: "recipientId"
    case .name: "name"
    case .notification: "notification"
    case .payload: "payload"
    case .url: "url"
    case .eventTypeCode: "eventTypeCode"
    case .latitude: "latitude"
    case .longitude: "longitude"
    case .city: "city"
    case .state: "state"
    case .postalCode: "postalCode"
    case .country: "country"
    case .countryCode: "countryCode"
    case .ids: "ids"
    case .action: "action"
    case .channel: "channel"
    case .attributes: "attributes"
    case .eventTimestamp: "eventTimestamp"
    case .eventTimeStamp: "eventTimeStamp"
    case .transactionType: "transactionType"
    case .received: "received"
    case .spent: "spent"
    case .transactionID: "transactionID"
    case .transactorID: "transactorID"
    case .productID: "productID"
    case .transactionServer: "transactionServer"
    case .transactionReceipt: "transactionReceipt"
    case .transactionReceiptSignature: "transactionReceiptSignature"
    case .imActionName: "imActionName"
    case .imActionType: "imActionType"
    case .imActionValue: "imActionValue"
    case .response: "response"
    case .didLaunch: "didLaunch"
    case .token: "token"
    case .crossGameUserId: "crossGameUserId"
    case .decisionPoint: "decisionPoint"
    case .flavour: "flavour"
    case .userId: "userId"
    case .advertisingId: "advertisingId"
    case .use: "use"
    case .export: "export"
    case .eventName: "eventName"
    case .userID: "userID"
    case .sessionID: "sessionID"
    case .eventUUID: "eventUUID"
    case .eventParams: "eventParams"
    case .recordId: "recordId"
    }
  }

  /// Whether a stored event has the field; everything else is unknown there.
  var isOfStoredEvent: Bool {
    switch self {
    case .eventName, .userID, .sessionID, .eventUUID, .eventTimestamp, .eventParams: true
    default: false
    }
  }
}

/// The members of one line's object by field; null counts as absent (reference decisions 7).
@safe struct GameFields: ~Copyable {
  private let views: UnsafeMutablePointer<UnsafeRawPointer?>
  /// Names and fields by the length of the name, one length after the other.
  private let names: UnsafeMutablePointer<(name: Text, field: GameField)>
  private let starts: UnsafeMutablePointer<Int>
  private static let count = GameField.allCases.count
  private static let longest = 27

  init() {
    unsafe views = .allocate(capacity: Self.count)
    unsafe views.initialize(repeating: nil, count: Self.count)
    unsafe names = .allocate(capacity: Self.count)
    unsafe starts = .allocate(capacity: Self.longest + 2)
    unsafe starts.initialize(repeating: 0, count: Self.longest + 2)
    var next = 0
    for length in 0...Self.longest {
      unsafe starts[length] = next
      for field in GameField.allCases where field.name.utf8CodeUnitCount == length {
        unsafe (names + next).initialize(to: (Text(field.name), field))
        next += 1
      }
    }
    unsafe starts[Self.longest + 1] = next
  }

  deinit {
    unsafe views.deallocate()
    unsafe names.deallocate()
    unsafe starts.deallocate()
  }

  /// Takes the members of `object`; `unknown` gets the names that are not in the format.
  @inline(__always)
  mutating func read(_ object: JSONView, unknown: (Text) -> Void) {
    unsafe views.update(repeating: nil, count: Self.count)
    var members = object.members
    while let (key, value) = members.next() {
      if let field = field(key) {
        unsafe views[field.rawValue] = value.isNull ? nil : value.start
      } else {
        unknown(key)
      }
    }
  }

  @inline(__always)
  func field(_ key: Text) -> GameField? {
    guard key.count <= Self.longest else { return nil }
    for index in unsafe starts[key.count]..<starts[key.count + 1] where unsafe names[index].name == key {
      return unsafe names[index].field
    }
    return nil
  }

  subscript(field: GameField) -> JSONView? {
    @inline(__always) get { unsafe views[field.rawValue].map { unsafe JSONView(at: $0) } }
  }
}
