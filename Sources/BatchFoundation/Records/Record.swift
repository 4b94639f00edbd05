/// Which input of the job a record came from; the raw values order records of one instant (reference formats 3.8).
package enum InputKind: UInt8, Comparable, CaseIterable, Sendable {
  case events, notifications, deepLinks

  @inlinable
  package static func < (one: InputKind, other: InputKind) -> Bool { one.rawValue < other.rawValue }
}

/// What a record says happened (reference formats 3.4).
package enum RecordType: UInt8, CaseIterable, Sendable {
  case launch, foreground, background, terminate
  case namedEvent, goalCompleted, goalAbandoned
  case localNotification
  /// A local notification that was opened: only `notifications` inputs can say so (reference decisions 10).
  case localNotificationOpened
  case pushReceived, notificationOpened
  case deepLink, custom, location, placemark, identify, setMobileUserId
  /// An event as a phone stored it, passed through but for normalisation.
  case rawEvent

  /// Locations and placemarks, which events around them are augmented from (reference events 5).
  package var isSample: Bool { self == .location || self == .placemark }
}

/// Where a record stood: the index of its file in the run's file list and the line, from 1.
package struct RecordPosition: Hashable, Sendable {
  package var file: UInt32
  package var line: UInt64

  @inlinable
  package init(file: UInt32, line: UInt64) {
    self.file = file
    self.line = line
  }
}

/// One accepted line of an export: checked, typed, and still in the memory of its partition.
///
/// Absent and null fields are nil. Empty ids and device values are nil too, for they replace nothing (reference
/// decisions 7); an empty `name` or `url` stays.
package struct Record {
  package var device: Text
  package var timestamp: Instant
  package var type: RecordType
  package var kind: InputKind
  package var position: RecordPosition

  /// `name` of named events and goals, the URL of a deep link, the `eventTypeCode` of custom and raw events.
  package var subject: Text?
  /// The caller's attributes, an object.
  package var params: JSONView?
  /// `payload` of pushes (any value), `notification` of local ones, `ids` of `identify`, `attributes` of raw events.
  package var body: JSONView?

  /// Core attributes that the record sets, in the order of ``CoreAttribute`` from `deviceName` to `appVersion`.
  package var deviceValues: DeviceValues
  package var mobileUserId: Text?
  package var anonymousId: Text?
  package var recipientId: Text?

  /// `latitude` and `longitude` of a location sample.
  package var coordinates: (latitude: Double, longitude: Double)?
  package var placemark: Placemark?

  package init(device: Text, timestamp: Instant, type: RecordType, kind: InputKind, position: RecordPosition) {
    self.device = device
    self.timestamp = timestamp
    self.type = type
    self.kind = kind
    self.position = position
    deviceValues = DeviceValues()
  }
}

/// The `device` object of a record; nil where it says nothing.
package struct DeviceValues {
  package var name: Text?
  package var version: Text?
  package var osName: Text?
  package var osVersion: Text?
  package var appName: Text?
  package var appVersion: Text?

  @inlinable
  package init() {}
}

/// A geocoded place; all parts are optional and empty parts count as absent.
package struct Placemark {
  package var name: Text?
  package var city: Text?
  package var state: Text?
  package var postalCode: Text?
  package var country: Text?
  package var countryCode: Text?

  @inlinable
  package init() {}
}
