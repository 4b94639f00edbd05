package import BatchFoundation
package import BatchIngest

/// One accepted line of an export, validated and typed; its texts point into the memory of its partition.
///
/// Absent and null fields are nil. Empty ids and device values are nil too, because they replace nothing (reference
/// decisions 7); an empty `name` or `url` is kept.
package struct Record {
  package var device: Text
  package var timestamp: Instant
  package var type: RecordType
  package var kind: InputKind
  package var position: RecordPosition

  /// The name of an event or goal, the URL of a link, the code of a custom or raw event, or the id of a list or
  /// program.
  package var subject: Text?
  /// The caller's attributes, an object.
  package var params: JSONView?
  /// `payload` of pushes (any value), `notification` of local ones, `ids` of `identify`, `attributes` of raw events.
  package var body: JSONView?
  /// The `notification` of an opened local notification whose ``body`` is its `payload`.
  package var notification: JSONView?

  package var deviceValues = DeviceValues()
  package var mobileUserId: Text?
  package var anonymousId: Text?
  package var recipientId: Text?
  /// The ids of the installation and of the app in Acoustic Campaign.
  package var channelId: Text?
  package var appKey: Text?

  /// The `latitude` and `longitude` of a location sample.
  package var coordinates: (latitude: Double, longitude: Double)?
  package var placemark: Placemark?
  /// The consent set by a `consent` record; nil leaves the earlier value unchanged.
  package var use: Bool?
  package var export: Bool?

  package init(device: Text, timestamp: Instant, type: RecordType, kind: InputKind, position: RecordPosition) {
    self.device = device
    self.timestamp = timestamp
    self.type = type
    self.kind = kind
    self.position = position
  }
}

/// The core attributes in the `device` object of a record.
package struct DeviceValues {
  /// The values from ``CoreAttribute/deviceName`` to ``CoreAttribute/appVersion``; empty if missing.
  package fileprivate(set) var values = InlineArray<6, Text>(repeating: .empty)
  /// The values as in a payload; nil if they have not been packed.
  fileprivate var packed: PackedTexts?

  package init() {}

  package subscript(attribute: CoreAttribute) -> Text? {
    get { self[attribute.rawValue] }
    set {
      values[attribute.rawValue] = newValue ?? .empty
      packed = nil
    }
  }

  @inline(__always)
  package subscript(slot: Int) -> Text? { values[slot].isEmpty ? nil : values[slot] }
}

/// A geocoded place; all parts are optional, and empty parts count as absent.
package struct Placemark {
  // These are separate fields, because every copy of an optional place with an array in it would look up the array's
  // type.
  package var name, city, state, postalCode, country, countryCode: Text?

  /// The parts with their record fields.
  static let parts: [(field: RecordField, part: any WritableKeyPath<Placemark, Text?> & Sendable)] = [
    (.name, \.name), (.city, \.city), (.state, \.state), (.postalCode, \.postalCode), (.country, \.country),
    (.countryCode, \.countryCode),
  ]
}

extension DeviceValues {
  /// Packs the values once for all records that have them.
  mutating func pack(in memory: Arena) {
    var bound = RecordPacker.head
    for slot in values.indices { bound += RecordPacker.bound(self[slot]) }
    var packer = unsafe RecordPacker(at: memory.allocate(bound))
    for slot in values.indices { packer.put(self[slot]) }
    packed = packer.texts
  }
}

extension Record {
  /// The maximum number of bytes that the payload can take.
  @inline(__always)
  var payloadBound: Int {
    func text(_ text: Text?) -> Int { RecordPacker.bound(text) }
    var size = RecordPacker.head + text(mobileUserId) + text(anonymousId) + text(recipientId) + text(subject)
    size += text(channelId) + text(appKey)
    if let packed = deviceValues.packed {
      size += packed.bytes.count
    } else {
      for slot in deviceValues.values.indices { size += text(deviceValues[slot]) }
    }
    size += (params?.size ?? 0) + (body?.size ?? 0) + (notification?.size ?? 0) + 16
    if let placemark { for (_, part) in Placemark.parts { size += text(placemark[keyPath: part]) } }
    return size
  }

  /// - Returns: The number of bytes written.
  @inline(__always)
  func writePayload(at start: UnsafeMutableRawPointer) -> Int {
    var packer = unsafe RecordPacker(at: start)
    packer.put(mobileUserId)
    packer.put(anonymousId)
    packer.put(recipientId)
    packer.put(subject)
    if let packed = deviceValues.packed {
      packer.put(packed)
    } else {
      for slot in deviceValues.values.indices { packer.put(deviceValues[slot]) }
    }
    packer.put(params)
    packer.put(body)
    packer.put(notification)
    packer.put(channelId)
    packer.put(appKey)
    packer.put(use)
    packer.put(export)
    packer.put(coordinates != nil)
    if let coordinates {
      packer.put(bits: coordinates.latitude.bitPattern)
      packer.put(bits: coordinates.longitude.bitPattern)
    }
    packer.put(placemark != nil)
    if let placemark { for (_, part) in Placemark.parts { packer.put(placemark[keyPath: part]) } }
    return packer.end()
  }

  /// Fills in the fields written by ``writePayload(at:)``; the record already has its device, time, type and position.
  @inline(__always)
  mutating func unpack(_ payload: UnsafeRawPointer) {
    var unpacker = unsafe RecordUnpacker(at: payload)
    mobileUserId = unpacker.text()
    anonymousId = unpacker.text()
    recipientId = unpacker.text()
    subject = unpacker.text()
    for slot in deviceValues.values.indices { deviceValues.values[slot] = unpacker.text() ?? .empty }
    params = unpacker.view()
    body = unpacker.view()
    notification = unpacker.view()
    channelId = unpacker.text()
    appKey = unpacker.text()
    use = unpacker.optionalFlag()
    export = unpacker.optionalFlag()
    if unpacker.flag() {
      coordinates = (Double(bitPattern: unpacker.bits()), Double(bitPattern: unpacker.bits()))
    }
    guard unpacker.flag() else { return }
    var place = Placemark()
    for (_, part) in Placemark.parts { place[keyPath: part] = unpacker.text() }
    placemark = place
  }
}

/// The type of a record (reference formats 3.3).
package enum RecordType: UInt8, CaseIterable, Sendable {
  case launch, foreground, background, terminate
  case namedEvent, goalCompleted, goalAbandoned
  case localNotification
  /// A local notification that was opened; only `notifications` inputs can report that (reference decisions 10).
  case localNotificationOpened
  case pushReceived, notificationOpened
  case deepLink, custom, location, placemark, identify, setMobileUserId
  /// A change to the recipient of the device (reference identity 5.7).
  case contactList, program, optOut, optIn
  /// A person's consent (reference events 3.5).
  case consent
  /// An event as stored by a phone, which is normalized and passed through.
  case rawEvent
  /// Permission for the app's push notifications was given or withdrawn (reference events 1.8).
  case pushEnabled, pushDisabled

  /// Whether the record counts for earlier events: locations and placemarks augment the events around them (reference
  /// events 5), and consent decides whether locations and placemarks may be used.
  package var isSample: Bool { self == .location || self == .placemark || self == .consent }

  /// Whether somebody used the app, unlike for a notification that arrived by itself; nil if the event's code decides.
  package var isUse: Bool? {
    switch self {
    case .launch, .foreground, .background, .terminate, .namedEvent, .goalCompleted, .goalAbandoned, .deepLink,
      .notificationOpened, .localNotificationOpened, .custom:
      true
    case .pushReceived, .localNotification, .location, .placemark, .identify, .setMobileUserId, .contactList, .program,
      .optOut, .optIn, .consent, .pushEnabled, .pushDisabled:
      false
    case .rawEvent: nil
    }
  }
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
    case .placemark: Placemark.parts.map { .optional($0.field) }
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

extension Record {
  static var blank: Record {
    Record(
      device: .empty, timestamp: Instant(milliseconds: 0), type: .launch, kind: .events,
      position: RecordPosition(file: 0, line: 0))
  }

  /// Creates the record from an entry, with views into the entry's memory.
  package init(_ entry: RecordEntry) {
    self.init(
      device: entry.device, timestamp: entry.timestamp, type: RecordType(rawValue: entry.type) ?? .launch,
      kind: entry.kind, position: entry.position)
    if let payload = unsafe entry.payload.baseAddress { unsafe unpack(payload) }
  }
}
