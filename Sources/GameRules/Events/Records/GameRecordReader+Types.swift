import BatchFoundation
import BatchIngest

/// Reads the fields of each record type (table in reference deltadna 2).
extension GameRecordReader {
  mutating func readFields(of type: GameRecordType, _ object: JSONView, _ faults: inout FieldFaults) {
    if type == .transaction { return readTransaction(object, &faults) }
    fields.check(type: type.rawValue, &faults)
    switch type {
    case .gameEvent, .namedEvent: record.name = fields.text(.name)
    case .goalCompleted, .goalAbandoned:
      record.name = fields.text(.name)
      if let name = record.name { write("goalName", name) }
    case .deepLink: if let url = fields.text(.url) { write("url", url) }
    case .imageMessageAction: readImageMessageAction(object)
    case .notificationOpened:
      record.own = fields[.payload]
      record.didLaunch = fields[.didLaunch]?.bool
    case .pushToken: record.value = fields.text(.token)
    case .crossGameUserId: record.value = fields.text(.crossGameUserId)
    case .engagement:
      record.name = fields.text(.decisionPoint)
      record.flavour = fields.text(.flavour)
    case .setUserId:
      if fields.text(.userId) != nil { record.userID = fields.id(.userId, .userId, &faults) ?? .empty }
    case .forgetMe: record.value = fields.nonEmpty(.advertisingId)
    case .consent:
      if fields[.use] == nil, fields[.export] == nil { faults.missing("use") }
      record.use = fields[.use]?.bool
      record.export = fields[.export]?.bool
    case .launch, .foreground, .background, .terminate, .newSession, .stopTracking, .clearPersistentData,
      .setMobileUserId, .transaction, .storedEvent, .pushReceived, .localNotification, .custom, .location, .placemark,
      .identify, .rawUBF:
      break
    }
  }

  mutating func readStoredEvent(_ faults: inout FieldFaults) {
    record.type = .storedEvent
    fields.check(type: record.type.rawValue, &faults)
    record.name = fields.text(.eventName)
    record.userID = fields.text(.userID)
    record.device = record.userID ?? .empty
    record.params = fields[.eventParams]
    record.sessionID = fields.nonEmpty(.sessionID)
    record.eventUUID = fields.nonEmpty(.eventUUID)
    if fields.text(.eventTimestamp)?.isEmpty == true { return faults.missing("eventTimestamp") }
    record.timestamp = fields.time(.eventTimestamp, &faults) { Instant(eventTimestamp: $0) }
  }

  /// Reads a push notification. Local notifications are ignored, even opened ones.
  mutating func readNotification(_ faults: inout FieldFaults) {
    let notification = fields.notification(&faults)
    record.type =
      notification.isLocal ? .localNotification : notification.isOpened ? .notificationOpened : .pushReceived
    guard record.type == .notificationOpened else { return }
    fields.check(.optional(.didLaunch), &faults)
    record.own = notification.body
    record.didLaunch = fields[.didLaunch]?.bool
  }

  private mutating func readImageMessageAction(_ object: JSONView) {
    guard let name = fields.text(.imActionName), let type = fields.text(.imActionType) else { return }
    record.isNoAction = type.isEqualIgnoringASCIICase(to: "none" as Text)
    var writer = unsafe ViewWriter(at: own.reserve(object.size + 512))
    let members = unsafe writer.begin(.object)
    writer.member("imActionName", name)
    writer.member("imActionType", type)
    writer.member("imActionValue", fields.nonEmpty(.imActionValue))
    if let response = fields[.response], response.kind == .object {
      for (key, value) in response.members where Self.responseMembers.contains(key) {
        writer.key(key)
        writer.copy(value)
      }
    }
    unsafe writer.end(members)
    record.own = unsafe JSONView(at: own.start)
  }

  /// The members of Engage's response that the action's event repeats (reference deltadna-service 1.5).
  private static let responseMembers: [Text] = [
    "responseDecisionpointName", "responseEngagementID", "responseEngagementName", "responseEngagementType",
    "responseMessageSequence", "responseVariantName", "responseTransactionID",
  ]

  /// Sets the record's own parameters to an object with one string member.
  mutating func write(_ name: Text, _ value: Text) {
    var writer = unsafe ViewWriter(at: own.reserve(value.count + 64))
    let members = unsafe writer.begin(.object)
    writer.member(name, value)
    unsafe writer.end(members)
    record.own = unsafe JSONView(at: own.start)
  }
}
