import BatchFoundation
import BatchIngest
import BatchJSON

/// The fields of each type (reference deltadna 2, the table).
extension GameRecordReader {
  mutating func readFields(of type: GameRecordType, _ object: JSONView, _ faults: inout FieldFaults) {
    switch type {
    case .launch, .foreground, .background, .terminate, .newSession, .stopTracking, .clearPersistentData: break
    case .gameEvent: record.name = filled(.name, &faults)
    case .namedEvent: record.name = required(.name, &faults)
    case .goalCompleted, .goalAbandoned:
      record.name = required(.name, &faults)
      if let name = record.name { write("goalName", name) }
    case .deepLink: if let url = required(.url, &faults) { write("url", url) }
    case .transaction: readTransaction(object, &faults)
    case .imageMessageAction: readImageMessageAction(object, &faults)
    case .notificationOpened:
      record.own = self.object(.payload, &faults)
      record.didLaunch = boolean(.didLaunch, &faults)
    case .pushToken: record.value = required(.token, &faults)
    case .crossGameUserId: record.value = required(.crossGameUserId, &faults)
    case .engagement:
      record.name = filled(.decisionPoint, &faults)
      record.flavour = optional(.flavour, &faults)
    case .setUserId: if let user = filled(.userId, &faults) { record.userID = user }
    case .setMobileUserId: if fields[.mobileUserId] == nil { faults.missing("mobileUserId") }
    case .forgetMe: record.value = nonEmpty(text(.advertisingId, &faults))
    case .consent:
      record.use = boolean(.use, &faults)
      record.export = boolean(.export, &faults)
      if fields[.use] == nil, fields[.export] == nil { faults.missing("use") }
    case .pushReceived: _ = self.object(.payload, &faults)
    case .localNotification: _ = self.object(.notification, &faults)
    case .custom: _ = eventTypeCode(&faults)
    case .location: readLocation(&faults)
    case .placemark: readPlacemark(&faults)
    case .identify: readIdentify(&faults)
    case .storedEvent, .rawUBF: break
    }
  }

  /// An event as an SDK stored it.
  mutating func readStoredEvent(_ faults: inout FieldFaults) {
    record.type = .storedEvent
    record.name = filled(.eventName, &faults)
    record.userID = filled(.userID, &faults)
    record.device = record.userID ?? .empty
    record.params = object(.eventParams, &faults)
    record.sessionID = nonEmpty(text(.sessionID, &faults))
    record.eventUUID = nonEmpty(text(.eventUUID, &faults))
    guard let value = fields[.eventTimestamp] else { return faults.missing("eventTimestamp") }
    let instant: Instant?
    switch value.kind {
    case .string:
      let text = value.string ?? .empty
      if text.isEmpty { return faults.missing("eventTimestamp") }
      instant = Instant(eventTimestamp: text)
    case .number: instant = value.number.flatMap { Instant(epoch: $0) }
    default: return faults.wrong("eventTimestamp")
    }
    guard let instant else { return faults.badTimestamp("eventTimestamp") }
    record.timestamp = instant
  }

  /// `action` and `channel` stand in for the type (reference decisions 10).
  mutating func readNotification(_ faults: inout FieldFaults) {
    record.type = .pushReceived
    if let action = required(.action, &faults) {
      if action == "opened" {
        record.type = .notificationOpened
      } else if action != "received" {
        faults.unknown("action")
      }
    }
    var channel: Text = "push"
    if let value = fields[.channel] {
      if let text = value.string { channel = text } else { faults.wrong("channel") }
    }
    if channel == "local" {
      record.type = .localNotification
      _ = object(fields[.payload] != nil || fields[.notification] == nil ? .payload : .notification, &faults)
      return
    }
    if channel != "push" { faults.unknown("channel") }
    let payload = object(.payload, &faults)
    guard record.type == .notificationOpened else { return }
    record.own = payload
    record.didLaunch = boolean(.didLaunch, &faults)
  }

  private mutating func readImageMessageAction(_ object: JSONView, _ faults: inout FieldFaults) {
    let name = filled(.imActionName, &faults)
    let type = filled(.imActionType, &faults)
    let value = nonEmpty(text(.imActionValue, &faults))
    let response = fields[.response]
    if let response, response.kind != .object { faults.wrong("response") }
    guard let name, let type else { return }
    record.isNoAction = type.isEqualIgnoringASCIICase(to: "none")
    var writer = unsafe ViewWriter(at: own.reserve(object.size + 512))
    let members = unsafe writer.begin(.object)
    writer.key("imActionName")
    writer.string(name)
    writer.key("imActionType")
    writer.string(type)
    if let value {
      writer.key("imActionValue")
      writer.string(value)
    }
    if let response {
      for (key, value) in response.members where Self.responseMembers.contains(key) {
        writer.key(key)
        writer.copy(value)
      }
    }
    unsafe writer.end(members)
    record.own = unsafe JSONView(at: own.start)
  }

  /// What Engage sent along for the action to be told with (reference deltadna-service 1.5).
  private static let responseMembers: [Text] = [
    "responseDecisionpointName", "responseEngagementID", "responseEngagementName", "responseEngagementType",
    "responseMessageSequence", "responseVariantName", "responseTransactionID",
  ]

  /// Makes an object of one text the record's own parameters.
  private mutating func write(_ name: Text, _ value: Text) {
    var writer = unsafe ViewWriter(at: own.reserve(value.count + 64))
    let members = unsafe writer.begin(.object)
    writer.key(name)
    writer.string(value)
    unsafe writer.end(members)
    record.own = unsafe JSONView(at: own.start)
  }
}

/// What only Engage uses: checked as there, and ignored.
extension GameRecordReader {
  private func readLocation(_ faults: inout FieldFaults) {
    for field in [GameField.latitude, .longitude] {
      guard let value = fields[field] else {
        faults.missing(field.name)
        continue
      }
      if value.number == nil { faults.wrong(field.name) }
    }
  }

  private func readPlacemark(_ faults: inout FieldFaults) {
    for field in [GameField.name, .city, .state, .postalCode, .country, .countryCode] { _ = text(field, &faults) }
  }

  private func readIdentify(_ faults: inout FieldFaults) {
    guard let ids = object(.ids, &faults) else { return }
    for (_, value) in ids.members where value.kind == .array || value.kind == .object { faults.wrong("ids") }
  }

  /// A non-empty string, or an integer as it is written.
  private func eventTypeCode(_ faults: inout FieldFaults) -> Text? {
    if let number = fields[.eventTypeCode]?.number, number.isIntegerLiteral { return number }
    return filled(.eventTypeCode, &faults)
  }

  /// An event as a phone stored it for Engage: its device is the last `Device Id` among its attributes.
  mutating func readRawUBF(_ faults: inout FieldFaults) {
    record.type = .rawUBF
    _ = eventTypeCode(&faults)
    let field: GameField = fields[.eventTimestamp] == nil ? .eventTimeStamp : .eventTimestamp
    if let value = fields[field] {
      let instant: Instant?
      switch value.kind {
      case .string: instant = value.string.flatMap { Instant(exportText: $0) }
      case .number: instant = value.number.flatMap { Instant(epoch: $0) }
      default:
        instant = nil
        faults.wrong(field.name)
      }
      if let instant { record.timestamp = instant } else { faults.badTimestamp(field.name) }
    } else {
      faults.missing("eventTimestamp")
    }
    guard let attributes = fields[.attributes], attributes.kind == .array else { return faults.wrong("attributes") }
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
      if name == "Device Id" { device = attribute["value"] }
    }
    guard let device, !device.isNull else { return faults.missing("Device Id") }
    guard let text = device.string else { return faults.wrong("Device Id") }
    if text.isEmpty { faults.missing("Device Id") }
    record.device = text
  }
}
