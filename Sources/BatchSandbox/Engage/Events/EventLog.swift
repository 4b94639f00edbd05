import BatchFoundation

/// The events that the service accepted, and those that it refused later (reference identity 6.1).
struct EventLog: Sendable {
  struct Refused: Sendable {
    var id: Int
    var reason: String
    /// The event as sent.
    var event: [UInt8]
  }

  private(set) var applied: [String: Int] = [:]
  private(set) var bodies: [[UInt8]] = []
  private(set) var refused: [Refused] = []
  let accounting: EventAccounting
  private let badMark: Needle?
  private let accountPrefix: Needle?

  /// The event types that the service knows without further configuration, by code.
  static let types: [Int64: String] = {
    var types: [Int64: String] = [
      90: "uninstalled", 93: "notification sent", 112: "geofence entered", 113: "geofence left",
      114: "geofence dwelled in", 158: "beacon area entered", 159: "beacon area left", 160: "beacon area dwelled in",
      161: "frequency suppressed", 174: "push delivery status",
    ]
    for codes in EventCodes.profiles {
      for (code, _) in codes.byCode { types[Int64(code) ?? 0] = codes.words(for: code) ?? "custom" }
    }
    return types
  }()

  init(accounting: EventAccounting, badEvents: BadEvents?) {
    self.accounting = accounting
    badMark = badEvents.map { EventScanner.attribute($0.attribute, value: $0.value) }
    if case .attribute(let name) = accounting {
      accountPrefix = EventScanner.attribute(name, value: nil)
    } else {
      accountPrefix = nil
    }
  }

  mutating func submit(
    _ bytes: UnsafeRawBufferPointer, switches: SandboxSwitches, knowsContact: (Int64) -> Bool
  ) -> SandboxReply {
    var count: Int
    var unknownContacts: [Int: String] = [:]
    if !switches.strictEvents, let quick = unsafe EventScanner.quickCount(bytes) {
      count = quick
    } else {
      switch unsafe Self.read(bytes, strict: switches.strictEvents) {
      case .failure(let objection):
        var reply = Self.reply(.rest(400, error: objection.text), received: objection.count)
        reply.added.violation("malformed-body")
        return reply
      case .success(let events):
        count = events.count
        for (index, event) in events.enumerated() {
          if let contact = event["contactId"], let id = contact.integer ?? contact.string.flatMap(Int64.init),
            !knowsContact(id)
          {
            unknownContacts[index] = "Contact \(id) does not exist"
          }
        }
      }
    }
    let isMarked = unsafe badMark?.find(in: bytes) != nil
    if isMarked, switches.badEvents?.answer == .refuse {
      return Self.reply(.rest(400, error: "An event is not valid"), received: count)
    }
    let received = count
    if isMarked || !unknownContacts.isEmpty || accounting != .count {
      count = unsafe take(bytes, isMarked: isMarked, unknownContacts: unknownContacts)
    }
    return Self.reply(SandboxAnswer(status: 201), received: received, applied: count)
  }

  /// - Parameter received: the number of events in the body; 0 if it could not be read.
  private static func reply(_ answer: SandboxAnswer, received: Int, applied: Int = 0) -> SandboxReply {
    var reply = SandboxReply(answer: answer, applied: answer.status == 201, events: received)
    (reply.added.submissions, reply.added.eventsReceived, reply.added.eventsApplied) = (1, received, applied)
    reply.changesState = true
    return reply
  }

  /// Accepts events one by one; returns the number accepted.
  private mutating func take(
    _ bytes: UnsafeRawBufferPointer, isMarked: Bool, unknownContacts: [Int: String]
  ) -> Int {
    var count = 0
    for (index, range) in unsafe EventScanner.events(bytes).enumerated() {
      let event = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
      if isMarked, unsafe badMark?.find(in: event) != nil {
        unsafe refused.append(Refused(id: refused.count + 1, reason: "An event is not valid", event: Array(event)))
        continue
      }
      if let reason = unknownContacts[index] {
        unsafe refused.append(Refused(id: refused.count + 1, reason: reason, event: Array(event)))
        continue
      }
      count += 1
      switch accounting {
      case .count: break
      case .digests, .bodies: unsafe applied[Self.digest(event), default: 0] += 1
      case .attribute:
        let key = unsafe accountPrefix.flatMap { unsafe EventScanner.value(after: $0, in: event) } ?? Self.digest(event)
        applied[key, default: 0] += 1
      }
    }
    if accounting == .bodies { unsafe bodies.append(Array(bytes)) }
    return count
  }

  private static func digest(_ bytes: UnsafeRawBufferPointer) -> String {
    var digest = BodyDigest()
    unsafe digest.update(bytes)
    return digest.text
  }

  struct Objection: Error {
    var text: String
    var count = 0
  }

  /// Returns the events of a body. Each must be an object and, if `strict`, must have a known code, a time and named
  /// attributes.
  static func read(_ bytes: UnsafeRawBufferPointer, strict: Bool) -> Result<[JSONNode], Objection> {
    // The kind of error does not matter: the service responds only with 400.
    guard let root = unsafe try? JSONNode.parse(Array(bytes), options: .nulCharacters),
      let events = root["events"]?.array
    else {
      return .failure(Objection(text: "The body is not JSON with an events array"))
    }
    for (index, event) in events.enumerated() {
      if let text = objection(to: event, strict: strict) {
        return .failure(Objection(text: "events[\(index)]: \(text)", count: events.count))
      }
    }
    return .success(events)
  }

  private static func objection(to event: JSONNode, strict: Bool) -> String? {
    guard event.members != nil, let code = event["eventTypeCode"] else { return "eventTypeCode is missing" }
    guard let number = code.integer ?? code.string.flatMap({ Int64($0) }) else {
      return "eventTypeCode is not a number"
    }
    guard strict else { return nil }
    if types[number] == nil { return "event type \(number) is not known" }
    guard let time = (event["eventTimestamp"] ?? event["eventTimeStamp"])?.string else {
      return "eventTimestamp is missing"
    }
    if !isEventTime(time) { return "eventTimestamp is not valid" }
    if let contact = event["contactId"], contact.integer == nil, contact.string.flatMap({ Int64($0) }) == nil {
      return "contactId is not a number"
    }
    guard let attributes = event["attributes"]?.array else { return "attributes is missing" }
    for attribute in attributes where attribute["name"]?.string == nil || attribute["value"]?.string == nil {
      return "attributes has an element without name or value"
    }
    return nil
  }

  /// Returns whether the string is an RFC 3339 time with milliseconds and `Z` or an offset.
  private static func isEventTime(_ text: String) -> Bool {
    let zones = ["Z", "+dd:dd", "-dd:dd"]
    return zones.contains { fits(Array(text.utf8), "dddd-dd-ddTdd:dd:dd.ddd" + $0) }
  }

  /// Returns the data of the response of `/rest/events/errors`: refusals with an id above `after`, oldest first.
  func errors(after: Int, limit: Int) -> String {
    let listed = refused.filter { $0.id > after }.prefix(limit).map { entry in
      "{\"errorId\":\(entry.id),\"errorMessage\":\(JSONString.quoted(entry.reason)),\"event\":\(String(decoding: entry.event, as: UTF8.self))}"
    }
    return "[\(listed.joined(separator: ","))]"
  }
}
