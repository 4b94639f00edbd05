public import BatchFoundation

/// A field that lines in exports may have, on any platform (reference formats 3, deltadna 2); the raw value is an index
/// into ``LineFields``.
///
/// A field is declared here with its kind, and in the record types that have it (``RecordShape/fields``). Reading,
/// checks and messages about bad lines are based on these declarations; a test compares the schema and the pages with
/// them.
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
  /// A field whose only effect is to make a line distinct.
  case recordId

  public enum Kind: Sendable {
    case text, object, number, array, boolean
    /// A nonempty string, or an integer as written.
    case code
    /// An object without nested arrays or objects.
    case columns
    /// A timestamp, which its reader parses.
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

  public var name: Text { Self.names[Int(rawValue)] }

  private static let names = allCases.map { Text(permanent: "\($0)") }
}

extension RecordField.Kind {
  /// The kind in words; nil if any value is valid.
  public var words: String? {
    switch self {
    case .text: "a string"
    case .object, .columns: "an object"
    case .number: "a number"
    case .array: "an array"
    case .boolean: "true or false"
    case .code: "a string or an integer"
    case .time: "a string or a number"
    case .anything: nil
    }
  }
}

public struct FieldUse: Sendable {
  public var field: RecordField
  public var isRequired: Bool
  /// Whether an empty string counts as a missing field.
  public var isFilled: Bool

  @inlinable
  public init(_ field: RecordField, isRequired: Bool, isFilled: Bool) {
    (self.field, self.isRequired, self.isFilled) = (field, isRequired, isFilled)
  }

  /// Returns an optional field; if `filled`, the field must not be empty when present.
  @inlinable public static func optional(_ field: RecordField, filled: Bool = false) -> FieldUse {
    FieldUse(field, isRequired: false, isFilled: filled)
  }

  /// Returns a field that must be present but may be empty.
  @inlinable public static func required(_ field: RecordField) -> FieldUse {
    FieldUse(field, isRequired: true, isFilled: false)
  }

  /// Returns a field that must be present and not empty.
  @inlinable public static func filled(_ field: RecordField) -> FieldUse {
    FieldUse(field, isRequired: true, isFilled: true)
  }
}

/// The record types of a platform, with cases named as in exports, and the fields of each.
public protocol RecordShape: CaseIterable, RawRepresentable<UInt8>, Sendable {
  /// The fields that records of every type may have in addition to ``RecordField/type``.
  static var head: [RecordField] { get }

  /// The additional fields of the type.
  var fields: [FieldUse] { get }

  /// Whether `events` inputs may name the type; other types are recognized by their fields or their input.
  var isExported: Bool { get }
}

extension RecordShape {
  /// The fields of the format; all others are unknown.
  package static var allFields: Set<RecordField> {
    Set(head + [.type, .action, .channel, .recordId] + allCases.flatMap { $0.fields.map(\.field) })
  }

  package init?(exportName name: Text) {
    guard let type = Self.allCases.first(where: { $0.isExported && "\($0)" == name.description }) else { return nil }
    self = type
  }

  /// The names to suggest for misspelled ones.
  package static var dictionary: FieldDictionary {
    var dictionary = FieldDictionary()
    dictionary.values = [
      "type": allCases.filter(\.isExported).map { "\($0)" }, "action": ["received", "opened"],
      "channel": ["push", "local"],
    ]
    for field in allFields {
      dictionary.fields.insert("\(field)")
      dictionary.kinds["\(field)"] = field.kind.words
    }
    // A consent record has at least one of these fields.
    dictionary.alternatives = ["use": "export"]
    return dictionary
  }
}
