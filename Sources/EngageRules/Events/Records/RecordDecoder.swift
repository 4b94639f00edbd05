import BatchFoundation
import BatchIngest

/// Decodes individual lines as records (reference formats 3.3); reuses its working memory from line to line.
struct RecordDecoder: ~Copyable {
  var fields = LineFields(RecordType.self)
  private(set) var unknown = UnknownFields()
  private var known = KnownDeviceObjects()

  /// - Parameter record: Meaningless if the line is rejected.
  mutating func decode(_ object: JSONView, of line: SourceLine, into record: inout Record) -> Rejection? {
    unknown.drop()
    fields.read(object, unknown: &unknown)
    let faults = build(line.kind, line.position, &record)
    if let rejection = faults.first { return rejection }
    unknown.commit()
    return nil
  }

  /// Validates the fields of the current line and fills in the record, which is meaningless if there are faults.
  mutating func build(_ kind: InputKind, _ position: RecordPosition, _ record: inout Record) -> FieldFaults {
    var faults = FieldFaults()
    record = Record(
      device: .empty, timestamp: Instant(milliseconds: 0), type: .rawEvent, kind: kind, position: position)
    if kind == .events, fields.areOfRawEvent {
      (record.device, record.timestamp) = fields.rawEvent(&faults)
      record.subject = fields.code(.eventTypeCode)
      record.body = fields[.attributes]
      return faults
    }
    record.device = fields.device(&faults)
    record.timestamp = fields.time(.timestamp, &faults)
    fields.check(.optional(.params), &faults)
    record.params = fields[.params]
    readDeviceValues(&record, &faults)
    record.mobileUserId = fields.id(.mobileUserId, .mobileUserId, &faults)
    record.anonymousId = fields.id(.anonymousId, .anonymousId, &faults)
    record.recipientId = fields.id(.recipientId, .recipientId, &faults)
    record.channelId = fields.optional(.channelId, &faults)
    record.appKey = fields.optional(.appKey, &faults)
    switch kind {
    case .events: buildEvent(&record, &faults)
    case .notifications: buildNotification(&record, &faults)
    case .deepLinks:
      record.type = .deepLink
      fields.check(type: record.type.rawValue, &faults)
      record.subject = fields.text(.url)
    }
    return faults
  }

  @inline(__always)
  private mutating func buildEvent(_ record: inout Record, _ faults: inout FieldFaults) {
    fields.check(.required(.type), &faults)
    guard let name = fields.text(.type) else { return }
    guard let type = fields.type(named: name).flatMap({ RecordType(rawValue: $0) }) else {
      return faults.unknown("type")
    }
    record.type = type
    fields.check(type: type.rawValue, &faults)
    switch type {
    case .namedEvent, .goalCompleted, .goalAbandoned: record.subject = fields.text(.name)
    case .deepLink: record.subject = fields.text(.url)
    case .pushReceived, .notificationOpened: record.body = fields[.payload]
    case .localNotification: record.body = fields[.notification]
    case .custom: record.subject = fields.code(.eventTypeCode)
    case .contactList: record.subject = fields.code(.contactListId)
    case .program: record.subject = fields.code(.programId)
    case .location:
      if let latitude = fields[.latitude]?.number?.double, let longitude = fields[.longitude]?.number?.double {
        record.coordinates = (latitude, longitude)
      }
    case .placemark:
      var placemark = Placemark()
      for (field, part) in Placemark.parts { placemark[keyPath: part] = fields.nonEmpty(field) }
      record.placemark = placemark
    case .identify:
      record.body = fields[.ids]
      if record.body?.members.contains(where: { $0.value.isOfNobody }) ?? false { fields.notes.insert(.ids) }
    case .consent:
      if fields[.use] == nil, fields[.export] == nil { faults.missing("use") }
      record.use = fields[.use]?.bool
      record.export = fields[.export]?.bool
    case .launch, .foreground, .background, .terminate, .setMobileUserId, .localNotificationOpened, .rawEvent, .optOut,
      .optIn, .pushEnabled, .pushDisabled:
      break
    }
  }

  private mutating func buildNotification(_ record: inout Record, _ faults: inout FieldFaults) {
    let notification = fields.notification(&faults)
    record.body = notification.body
    guard notification.isLocal else {
      record.type = notification.isOpened ? .notificationOpened : .pushReceived
      return
    }
    record.type = notification.isOpened ? .localNotificationOpened : .localNotification
    if notification.isOpened, fields[.payload] != nil, let local = fields[.notification], local.kind == .object {
      record.notification = local
    }
  }

  @inline(__always)
  private mutating func readDeviceValues(_ record: inout Record, _ faults: inout FieldFaults) {
    guard let device = fields[.device] else { return }
    guard device.kind == .object else { return faults.wrong("device") }
    if let values = unsafe known.values(of: device) {
      unsafe record.deviceValues = values.pointee
      return
    }
    record.deviceValues = DeviceValues(device, &faults)
    guard faults.first == nil else { return }
    known.add(device)
  }
}

extension DeviceValues {
  init(_ device: JSONView, _ faults: inout FieldFaults) {
    self.init()
    var members = device.members
    while let (key, value) = members.next() {
      guard let attribute = CoreAttribute(deviceMember: key) else { continue }
      let text = value.string
      if text == nil, !value.isNull { faults.wrong(FieldPlace("device", key)) }
      self[attribute] = text.flatMap { $0.isEmpty ? nil : $0 }
    }
  }
}

extension JSONView {
  /// Whether the value is a string that identifies nobody. A blank string does not qualify, because it counts as absent
  /// (reference identity).
  var isOfNobody: Bool { string.map { $0.namesNobody && !$0.trimmed.isEmpty } ?? false }
}

extension CoreAttribute {
  /// Returns nil for a member of `device` that sets no attribute.
  @inline(__always)
  fileprivate init?(deviceMember key: Text) {
    switch key.count {
    case 4 where key == "name": self = .deviceName
    case 7 where key == "version": self = .deviceVersion
    case 6 where key == "osName": self = .osName
    case 9 where key == "osVersion": self = .osVersion
    case 7 where key == "appName": self = .appName
    case 10 where key == "appVersion": self = .appVersion
    default: return nil
    }
  }
}
