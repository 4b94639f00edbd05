public import BatchFoundation

/// Every field that lines of exports may have, for whatever platform (reference formats 3, deltadna 2); the raw value is a place in
/// ``RecordFields``.
///
/// A field is written here, with what it has to be, and with the types that have it (``RecordShape/fields``). Reading, checks and the words
/// for wrong lines follow; a test holds the schema and the pages against it.
public enum RecordField: UInt8, CaseIterable, Sendable {
  case deviceId, timestamp, type, params, device, mobileUserId, anonymousId, recipientId, channelId, appKey
  case name, notification, payload, url, eventTypeCode, latitude, longitude
  case city, state, postalCode, country, countryCode, ids, contactListId, programId, use, export
  case action, channel, attributes, eventTimestamp, eventTimeStamp
  case transactionType, received, spent, transactionID, transactorID, productID, transactionServer
  case transactionReceipt, transactionReceiptSignature
  case imActionName, imActionType, imActionValue, response
  case didLaunch, token, crossGameUserId, decisionPoint, flavour, userId, advertisingId
  case eventName, userID, sessionID, eventUUID, eventParams
  /// It only makes a line distinct.
  case recordId

  public enum Kind: Sendable {
    case text, object, number, array, boolean
    /// A text that is not empty, or an integer as it is written.
    case code
    /// An object without arrays and objects in it.
    case columns
    /// Read by whoever wants the instant.
    case time
    case anything
  }

  @inlinable public var kind: Kind {
    switch self {
    case .params, .device, .notification, .payload, .received, .spent, .response, .eventParams: .object
    case .ids: .columns
    case .latitude, .longitude: .number
    case .attributes: .array
    case .timestamp, .eventTimestamp, .eventTimeStamp: .time
    case .eventTypeCode, .contactListId, .programId: .code
    case .didLaunch, .use, .export: .boolean
    case .recordId: .anything
    default: .text
    }
  }

  /// As lines spell it.
  public var name: Text { Self.names[Int(rawValue)] }

  private static let names = allCases.map { Text(permanent: "\($0)") }
}

extension RecordField.Kind {
  /// Nil where any value will do.
  public var words: String? {
    switch self {
    case .text: "a text"
    case .object, .columns: "an object"
    case .number: "a number"
    case .array: "an array"
    case .boolean: "true or false"
    case .code: "a text or a whole number"
    case .time: "a text or a number"
    case .anything: nil
    }
  }
}

/// A field that records of a type have.
public struct FieldUse: Sendable {
  public var field: RecordField
  public var isRequired: Bool
  /// An empty text counts as a missing field.
  public var isFilled: Bool

  @inlinable
  public init(_ field: RecordField, isRequired: Bool, isFilled: Bool) {
    self.field = field
    self.isRequired = isRequired
    self.isFilled = isFilled
  }

  /// May be absent; if `filled`, not empty where it is there.
  @inlinable public static func optional(_ field: RecordField, filled: Bool = false) -> FieldUse {
    FieldUse(field, isRequired: false, isFilled: filled)
  }

  /// Has to be there, but may be empty.
  @inlinable public static func required(_ field: RecordField) -> FieldUse {
    FieldUse(field, isRequired: true, isFilled: false)
  }

  /// Has to be there and is not empty.
  @inlinable public static func filled(_ field: RecordField) -> FieldUse {
    FieldUse(field, isRequired: true, isFilled: true)
  }
}
