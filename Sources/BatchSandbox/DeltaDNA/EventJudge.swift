package import BatchFoundation
import EventSchemas

/// Reads the body of a request to Collect and judges each event in it (reference deltadna-service 3.7, 6.3).
package struct EventJudge: ~Copyable {
  package enum Outcome {
    /// The response is 400 with this text.
    case refused(String)
    case taken(events: Int, valid: Int)
  }

  private let now: Instant
  private let options: DeltaDNASandboxOptions
  private var checker: EventChecker
  private var reasons: [EventVerdict.Reason] = []

  package init(_ options: DeltaDNASandboxOptions, now: Instant) {
    self.options = options
    self.now = now
    checker = EventChecker(
      schema: options.schema, environment: options.environment, largestRequest: options.largestBody)
  }

  /// - Parameter isBulk: whether the address is for lists rather than individual events; nil if it accepts both.
  package mutating func read(
    _ body: UnsafeRawBufferPointer, isBulk: Bool? = nil, request: Int, into log: inout VerdictLog
  ) -> Outcome {
    let bytes = unsafe body.bindMemory(to: UInt8.self)
    guard unsafe firstInvalidUTF8(bytes) == nil else { return .refused("The body is not UTF-8") }
    var tape = JSONTape(capacity: max(1024, body.count * 2))
    var reader = JSONReader()
    // The place of the syntax error does not matter, because the service gives no details.
    guard let flaws = unsafe try? reader.read(bytes, onto: &tape), flaws.unpairedSurrogate == nil else {
      return .refused("The body is not valid JSON")
    }
    let root = tape.view(at: 0)
    guard root.kind == .object else { return .refused("The body is not an object") }
    guard isBulk ?? (root["eventList"] != nil) else {
      guard let name = root["eventName"]?.string, name.count > 0 else {
        return root["eventList"] == nil
          ? .refused("eventName is missing")
          : .refused("This is a list of events; send it to the address with /bulk")
      }
      guard Self.isRecognized(root, options.schema) else { return .refused("Custom Event Code not recognized") }
      let verdict = judge(root, &log)
      log.add(verdict, request: request)
      return .taken(events: 1, valid: verdict.verdict == .valid ? 1 : 0)
    }
    guard let list = root["eventList"] else {
      return root["eventName"] == nil
        ? .refused("eventList is missing")
        : .refused("This is a single event; send it to the address without /bulk")
    }
    guard list.kind == .array else { return .refused("eventList is not an array") }
    // A list sent to the bulk address is accepted before its events are checked.
    let schema = options.schema
    guard isBulk != nil || list.elements.allSatisfy({ Self.isRecognized($0, schema) }) else {
      return .refused("Custom Event Code not recognized")
    }
    var (count, valid) = (0, 0)
    for event in list.elements {
      count += 1
      let verdict = judge(event, &log)
      if verdict.verdict == .valid { valid += 1 }
      log.add(verdict, request: request)
    }
    return .taken(events: count, valid: valid)
  }

  /// Returns whether the schema has an event with that name; true if there is no schema or no name.
  private static func isRecognized(_ event: JSONView, _ schema: EventSchema?) -> Bool {
    guard let schema, let name = event["eventName"]?.string else { return true }
    return schema.events.contains { $0.name.isIdentical(to: name.description) }
  }

  // MARK: - One event

  /// Returns the first verdict that applies: duplicate, invalid, out of window, valid.
  private mutating func judge(_ event: JSONView, _ log: inout VerdictLog) -> EventVerdict {
    reasons = []
    var verdict = EventVerdict(verdict: .valid)
    guard event.kind == .object else {
      object("badTopLevel", "")
      verdict.verdict = .invalid
      verdict.reasons = reasons
      return verdict
    }
    let name = event["eventName"]?.string
    verdict.eventName = name?.description
    verdict.userID = event["userID"]?.string?.description
    verdict.sessionID = event["sessionID"]?.string?.description
    verdict.eventUUID = event["eventUUID"]?.string?.description
    verdict.eventTimestamp = event["eventTimestamp"]?.string?.description
    if let uuid = event["eventUUID"]?.string, uuid.count > 0, !log.insert(uuid) {
      verdict.verdict = .duplicate
      return verdict
    }
    checkTopLevel(event)
    if let name, let parameters = event["eventParams"], parameters.kind == .object {
      for finding in checker.findings(ofEvent: name, parameters: parameters, byteCount: 0) {
        object(finding.id.rawValue, String(decoding: finding.path, as: UTF8.self))
      }
    }
    if !reasons.isEmpty {
      verdict.verdict = .invalid
      verdict.reasons = reasons
    } else if let text = event["eventTimestamp"]?.string, let time = Instant(eventTimestamp: text), !isInWindow(time) {
      verdict.verdict = .outOfWindow
    }
    return verdict
  }

  private mutating func object(_ id: String, _ path: String) {
    let reason = EventVerdict.Reason(id: id, path: path)
    if !reasons.contains(reason) { reasons.append(reason) }
  }

  /// Checks the names and types of an event's members, and that the required ones are present.
  private mutating func checkTopLevel(_ event: JSONView) {
    for (name, value) in event.members {
      let isGood =
        switch name {
        case "eventName", "userID": (value.string?.count ?? 0) > 0
        case "sessionID": value.string != nil
        case "eventUUID": value.string.map { fits(Array($0), "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") } ?? false
        case "eventTimestamp": value.string.flatMap(Instant.init(eventTimestamp:)) != nil
        case "eventParams": value.kind == .object
        default: false
        }
      if !isGood { object("badTopLevel", EventPath.pointer(to: name)) }
    }
    for name in ["eventName", "userID", "eventParams"] as [StaticString] where event[Text(name)] == nil {
      object("missingRequired", "/\(name)")
    }
  }

  /// Returns whether the time is inside the window. Like the service, excludes both ends.
  private func isInWindow(_ time: Instant) -> Bool {
    time.milliseconds > now.milliseconds - options.oldestEvent.count
      && time.milliseconds < now.milliseconds + options.furthestAhead.count
  }
}
