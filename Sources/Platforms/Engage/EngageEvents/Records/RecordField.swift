import BatchFoundation
import BatchIngest

/// The fields that records may have (reference formats 3.3); the raw value is a place in ``RecordFields``.
enum RecordField: Int, CaseIterable {
  case deviceId, timestamp, type, params, device, mobileUserId, anonymousId, recipientId, channelId, appKey
  case name, notification, payload, url, eventTypeCode, latitude, longitude
  case city, state, postalCode, country, countryCode, ids, contactListId, programId, use, export
  case action, channel
  case attributes, eventTimestamp, eventTimeStamp
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
    case .channelId: "channelId"
    case .appKey: "appKey"
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
    case .contactListId: "contactListId"
    case .programId: "programId"
    case .use: "use"
    case .export: "export"
    case .action: "action"
    case .channel: "channel"
    case .attributes: "attributes"
    case .eventTimestamp: "eventTimestamp"
    case .eventTimeStamp: "eventTimeStamp"
    case .recordId: "recordId"
    }
  }

  /// The field of that name; nil for a name that is not in the format.
  @inline(__always)
  init?(_ key: Text) {
    // The length leaves one to three candidates each.
    switch key.count {
    case 3:
      if key == "url" {
        self = .url
      } else if key == "ids" {
        self = .ids
      } else if key == "use" {
        self = .use
      } else {
        return nil
      }
    case 4:
      if key == "type" {
        self = .type
      } else if key == "name" {
        self = .name
      } else if key == "city" {
        self = .city
      } else {
        return nil
      }
    case 5: if key == "state" { self = .state } else { return nil }
    case 6:
      if key == "device" {
        self = .device
      } else if key == "params" {
        self = .params
      } else if key == "action" {
        self = .action
      } else if key == "export" {
        self = .export
      } else if key == "appKey" {
        self = .appKey
      } else {
        return nil
      }
    case 7:
      if key == "payload" {
        self = .payload
      } else if key == "channel" {
        self = .channel
      } else if key == "country" {
        self = .country
      } else {
        return nil
      }
    case 8:
      if key == "deviceId" {
        self = .deviceId
      } else if key == "latitude" {
        self = .latitude
      } else if key == "recordId" {
        self = .recordId
      } else {
        return nil
      }
    case 9:
      if key == "timestamp" {
        self = .timestamp
      } else if key == "longitude" {
        self = .longitude
      } else if key == "programId" {
        self = .programId
      } else if key == "channelId" {
        self = .channelId
      } else {
        return nil
      }
    case 10:
      if key == "postalCode" {
        self = .postalCode
      } else if key == "attributes" {
        self = .attributes
      } else {
        return nil
      }
    case 11:
      if key == "anonymousId" {
        self = .anonymousId
      } else if key == "recipientId" {
        self = .recipientId
      } else if key == "countryCode" {
        self = .countryCode
      } else {
        return nil
      }
    case 12:
      if key == "mobileUserId" {
        self = .mobileUserId
      } else if key == "notification" {
        self = .notification
      } else {
        return nil
      }
    case 13:
      if key == "eventTypeCode" {
        self = .eventTypeCode
      } else if key == "contactListId" {
        self = .contactListId
      } else {
        return nil
      }
    case 14:
      if key == "eventTimestamp" {
        self = .eventTimestamp
      } else if key == "eventTimeStamp" {
        self = .eventTimeStamp
      } else {
        return nil
      }
    default: return nil
    }
  }
}

/// The members of one line's object by field; null counts as absent (reference decisions 7).
@safe struct RecordFields: ~Copyable {
  private let views: UnsafeMutablePointer<UnsafeRawPointer?>
  private static var count: Int { RecordField.allCases.count }

  init() {
    unsafe views = .allocate(capacity: Self.count)
    unsafe views.initialize(repeating: nil, count: Self.count)
  }

  deinit { unsafe views.deallocate() }

  /// Takes the members of `object`; `unknown` gets the names that are not in the format.
  @inline(__always)
  mutating func read(_ object: JSONView, unknown: inout UnknownFields) {
    unsafe views.update(repeating: nil, count: Self.count)
    var members = object.members
    while let (key, value) = members.next() {
      if let field = RecordField(key) {
        unsafe views[field.rawValue] = value.isNull ? nil : value.start
      } else {
        unknown.note(key)
      }
    }
  }

  subscript(field: RecordField) -> JSONView? {
    @inline(__always) get { unsafe views[field.rawValue].map { unsafe JSONView(at: $0) } }
  }
}
