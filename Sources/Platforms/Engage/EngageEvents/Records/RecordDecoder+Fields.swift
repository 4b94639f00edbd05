import BatchFoundation
import BatchIngest
import BatchJSON

extension RecordDecoder {
  /// Checks the fields of the line at hand and fills the record; with faults the record means nothing.
  mutating func build(_ kind: InputKind, _ position: RecordPosition, _ record: inout Record) -> FieldFaults {
    var faults = FieldFaults()
    record = Record(
      device: .empty, timestamp: Instant(milliseconds: 0), type: .rawEvent, kind: kind, position: position)
    if kind == .events, fields[.type] == nil, fields[.eventTypeCode] != nil, fields[.attributes] != nil {
      buildRawEvent(&record, &faults)
      return faults
    }
    if let device = text(.deviceId, &faults) {
      if device.isEmpty { faults.missing("deviceId") }
      record.device = device
    } else if fields[.deviceId] == nil {
      faults.missing("deviceId")
    }
    readTimestamp(.timestamp, &record, &faults)
    if let params = fields[.params] {
      if params.kind != .object { faults.wrong("params") }
      record.params = params
    }
    readDeviceValues(&record, &faults)
    record.mobileUserId = nonEmpty(text(.mobileUserId, &faults))
    record.anonymousId = nonEmpty(text(.anonymousId, &faults))
    record.recipientId = nonEmpty(text(.recipientId, &faults))
    record.channelId = nonEmpty(text(.channelId, &faults))
    record.appKey = nonEmpty(text(.appKey, &faults))
    switch kind {
    case .events: buildEvent(&record, &faults)
    case .notifications: buildNotification(&record, &faults)
    case .deepLinks:
      record.type = .deepLink
      record.subject = required(.url, &faults)
    }
    return faults
  }

  @inline(__always)
  private mutating func buildEvent(_ record: inout Record, _ faults: inout FieldFaults) {
    guard let name = required(.type, &faults) else { return }
    guard let type = RecordType(exportName: name) else { return faults.unknown("type") }
    record.type = type
    switch type {
    case .namedEvent, .goalCompleted, .goalAbandoned: record.subject = required(.name, &faults)
    case .deepLink: record.subject = required(.url, &faults)
    case .pushReceived, .notificationOpened: record.body = object(.payload, &faults)
    case .localNotification: record.body = object(.notification, &faults)
    case .custom: record.subject = code(.eventTypeCode, &faults)
    case .contactList: record.subject = code(.contactListId, &faults)
    case .program: record.subject = code(.programId, &faults)
    case .location: buildLocation(&record, &faults)
    case .placemark: buildPlacemark(&record, &faults)
    case .identify: buildIdentify(&record, &faults)
    case .consent: buildConsent(&record, &faults)
    case .setMobileUserId: if fields[.mobileUserId] == nil { faults.missing("mobileUserId") }
    case .launch, .foreground, .background, .terminate, .localNotificationOpened, .rawEvent, .optOut, .optIn,
      .pushEnabled,
      .pushDisabled:
      break
    }
  }

  /// `action` and `channel` stand in for the type (reference decisions 10). What they say does not keep a missing
  /// payload from being found (reference decisions 29).
  private mutating func buildNotification(_ record: inout Record, _ faults: inout FieldFaults) {
    var opened = false
    if let action = required(.action, &faults) {
      opened = action == "opened"
      if !opened, action != "received" { faults.unknown("action") }
    }
    let channel = fields[.channel] == nil ? "push" : text(.channel, &faults)
    let isLocal = channel == "local"
    record.body = object(
      isLocal && fields[.payload] == nil && fields[.notification] != nil ? .notification : .payload, &faults)
    if isLocal {
      record.type = opened ? .localNotificationOpened : .localNotification
      if opened, fields[.payload] != nil, let notification = fields[.notification], notification.kind == .object {
        record.notification = notification
      }
    } else {
      record.type = opened ? .notificationOpened : .pushReceived
      if let channel, channel != "push" { faults.unknown("channel") }
    }
  }

  private func buildConsent(_ record: inout Record, _ faults: inout FieldFaults) {
    if fields[.use] == nil, fields[.export] == nil { faults.missing("use") }
    record.use = boolean(.use, &faults)
    record.export = boolean(.export, &faults)
  }

  private mutating func buildLocation(_ record: inout Record, _ faults: inout FieldFaults) {
    guard let latitude = number(.latitude, &faults), let longitude = number(.longitude, &faults) else {
      // Both are looked at, so that a missing one is found behind one of the wrong type.
      _ = number(.longitude, &faults)
      return
    }
    record.coordinates = (latitude, longitude)
  }

  private mutating func buildPlacemark(_ record: inout Record, _ faults: inout FieldFaults) {
    var placemark = Placemark()
    placemark.name = nonEmpty(text(.name, &faults))
    placemark.city = nonEmpty(text(.city, &faults))
    placemark.state = nonEmpty(text(.state, &faults))
    placemark.postalCode = nonEmpty(text(.postalCode, &faults))
    placemark.country = nonEmpty(text(.country, &faults))
    placemark.countryCode = nonEmpty(text(.countryCode, &faults))
    record.placemark = placemark
  }

  /// The values of `ids` are column values: strings, and numbers and booleans as they are written; null asks nothing.
  private mutating func buildIdentify(_ record: inout Record, _ faults: inout FieldFaults) {
    record.body = object(.ids, &faults)
    guard let ids = record.body else { return }
    for (_, value) in ids.members where value.kind == .array || value.kind == .object { faults.wrong("ids") }
  }

  /// An event as a phone stored it: its device is the last `Device Id` among its attributes.
  private mutating func buildRawEvent(_ record: inout Record, _ faults: inout FieldFaults) {
    record.subject = code(.eventTypeCode, &faults)
    readTimestamp(fields[.eventTimestamp] == nil ? .eventTimeStamp : .eventTimestamp, &record, &faults)
    guard let attributes = fields[.attributes], attributes.kind == .array else { return faults.wrong("attributes") }
    record.body = attributes
    var device: JSONView?
    for attribute in attributes.elements {
      guard attribute.kind == .object else {
        faults.wrong("attributes")
        continue
      }
      guard let given = attribute["name"], !given.isNull else {
        faults.missing("name")
        continue
      }
      guard let name = given.string else {
        faults.wrong("name")
        continue
      }
      if name == CoreAttribute.deviceId.name { device = attribute["value"] }
    }
    guard let device, !device.isNull else { return faults.missing("Device Id") }
    guard let text = device.string else { return faults.wrong("Device Id") }
    if text.isEmpty { faults.missing("Device Id") }
    record.device = text
  }

  private mutating func readDeviceValues(_ record: inout Record, _ faults: inout FieldFaults) {
    guard let device = fields[.device] else { return }
    guard device.kind == .object else { return faults.wrong("device") }
    var members = device.members
    while let (key, value) = members.next() {
      switch key.count {
      case 4 where key == "name": record.deviceValues.name = deviceValue(value, &faults)
      case 7 where key == "version": record.deviceValues.version = deviceValue(value, &faults)
      case 6 where key == "osName": record.deviceValues.osName = deviceValue(value, &faults)
      case 9 where key == "osVersion": record.deviceValues.osVersion = deviceValue(value, &faults)
      case 7 where key == "appName": record.deviceValues.appName = deviceValue(value, &faults)
      case 10 where key == "appVersion": record.deviceValues.appVersion = deviceValue(value, &faults)
      default: continue
      }
    }
  }

  @inline(__always)
  private func deviceValue(_ value: JSONView, _ faults: inout FieldFaults) -> Text? {
    if value.isNull { return nil }
    guard let text = value.string else {
      faults.wrong("device")
      return nil
    }
    return nonEmpty(text)
  }

  private func readTimestamp(_ field: RecordField, _ record: inout Record, _ faults: inout FieldFaults) {
    guard let value = fields[field] else {
      return faults.missing(field == .eventTimeStamp ? "eventTimestamp" : field.name)
    }
    let instant: Instant?
    switch value.kind {
    case .string: instant = value.string.flatMap { Instant(exportText: $0) }
    case .number: instant = value.number.flatMap { Instant(epoch: $0) }
    default: return faults.wrong(field.name)
    }
    guard let instant else { return faults.badTimestamp(field.name) }
    record.timestamp = instant
  }

  /// A non-empty string, or an integer as it is written.
  private func code(_ field: RecordField, _ faults: inout FieldFaults) -> Text? {
    guard let value = fields[field] else {
      faults.missing(field.name)
      return nil
    }
    if let number = value.number, number.isIntegerLiteral { return number }
    guard let text = value.string else {
      faults.wrong(field.name)
      return nil
    }
    if text.isEmpty { faults.missing(field.name) }
    return text
  }

  @inline(__always)
  private func text(_ field: RecordField, _ faults: inout FieldFaults) -> Text? {
    guard let value = fields[field] else { return nil }
    guard let text = value.string else {
      faults.wrong(field.name)
      return nil
    }
    return text
  }

  @inline(__always)
  private func required(_ field: RecordField, _ faults: inout FieldFaults) -> Text? {
    guard fields[field] != nil else {
      faults.missing(field.name)
      return nil
    }
    return text(field, &faults)
  }

  @inline(__always)
  private func object(_ field: RecordField, _ faults: inout FieldFaults) -> JSONView? {
    guard let value = fields[field] else {
      faults.missing(field.name)
      return nil
    }
    if value.kind != .object { faults.wrong(field.name) }
    return value
  }

  private func boolean(_ field: RecordField, _ faults: inout FieldFaults) -> Bool? {
    guard let value = fields[field] else { return nil }
    if value.bool == nil { faults.wrong(field.name) }
    return value.bool
  }

  private func number(_ field: RecordField, _ faults: inout FieldFaults) -> Double? {
    guard let value = fields[field] else {
      faults.missing(field.name)
      return nil
    }
    guard let number = value.number?.double else {
      faults.wrong(field.name)
      return nil
    }
    return number
  }

  @inline(__always)
  private func nonEmpty(_ text: Text?) -> Text? { text.flatMap { $0.isEmpty ? nil : $0 } }
}
