import BatchConfiguration
package import BatchFoundation
package import BatchIngest

/// A map for records that no preset knows: which of their members are device, time, name and person is told by their names and by the look
/// of their values.
package struct MapProposal {
  package enum Confidence: String, Sendable {
    case high, medium, low
  }

  package struct Field: Sendable {
    /// Of the project's own shape.
    package var name: String
    package var path: String
    package var confidence: Confidence
    /// What else there is to say of it; empty for nothing.
    package var remark = ""
  }

  /// In the order in which people look for them.
  package private(set) var fields: [Field] = []
  /// The document of the map, with an empty path for what is ``missing``; nil where there is nothing to begin with.
  package private(set) var document: String?

  /// Names of members, as far as letters and digits go, with how much they say.
  private static let deviceNames = [
    "deviceid": 4, "installationid": 4, "installid": 4, "appinstanceid": 4, "userpseudoid": 4, "anonymousid": 4,
    "idfv": 4,
    "channelid": 3, "clientid": 3, "device": 3, "visitorid": 3, "phone": 2, "handset": 2, "install": 2, "distinctid": 2,
    "uid": 1,
    "userid": 1, "customerid": 1, "user": 1, "customer": 1,
  ]
  private static let timeNames = [
    "timestamp": 4, "eventtimestamp": 4, "eventtime": 4, "occurredat": 4, "occurred": 3, "clienteventtime": 4,
    "time": 3, "ts": 3,
    "datetime": 3, "when": 3, "createdat": 3, "date": 2, "receivedat": 1, "sentat": 1,
  ]
  private static let nameNames = [
    "eventname": 4, "event": 4, "eventtype": 3, "action": 3, "activity": 3, "what": 3, "name": 2, "type": 2, "title": 1,
  ]
  private static let personNames = [
    "userid": 4, "mobileuserid": 4, "customerid": 4, "externaluserid": 4, "memberid": 4, "user": 3, "customer": 3,
    "accountid": 3,
  ]
  private static let deviceFields = [
    "device.name": ["devicename", "devicemodel", "model"], "device.osName": ["osname", "os", "platform"],
    "device.osVersion": ["osversion"], "device.appName": ["appname", "app", "appid"],
    "device.appVersion": ["appversion"],
  ]
  private static let lifecycle = [
    "launch": [
      "launch", "launched", "applaunch", "applaunched", "open", "opened", "appopen", "appopened", "applicationopened",
      "start", "appstart",
    ],
    "foreground": [
      "foreground", "foregrounded", "appforeground", "applicationforegrounded", "sessionstart", "sessionstarted",
      "resume",
    ],
    "background": [
      "background", "backgrounded", "appbackground", "applicationbackgrounded", "sessionend", "sessionended", "pause",
      "close", "closed", "appclose",
    ],
    "terminate": ["terminate", "terminated", "appterminate", "exit", "quit"],
  ]
  /// Tried in their order on texts that are no time by themselves.
  private static let patterns = [
    "dd/MM/yyyy HH:mm:ss", "MM/dd/yyyy HH:mm:ss", "dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm", "dd/MM/yyyy hh:mm:ss a",
    "MM/dd/yyyy hh:mm:ss a", "MM/dd/yyyy hh:mm a", "dd.MM.yyyy HH:mm:ss", "dd.MM.yyyy HH:mm", "yyyy/MM/dd HH:mm:ss",
    "dd-MMM-yyyy HH:mm:ss", "MMM d yyyy HH:mm:ss", "d MMM yyyy HH:mm:ss", "yyyyMMdd HH:mm:ss", "dd/MM/yyyy",
    "MM/dd/yyyy", "yyyyMMddHHmmss", "yyyyMMddHHmm", "yyyyMMdd",
  ]
  /// The beginning of 2000 and of 2100: a number that says a time outside counts something else, or is a date in digits.
  private static let likelyTimes: Range<Int64> = 946_684_800_000..<4_102_444_800_000

  /// Records that are looked at.
  package static let recordLimit = 200

  private let columns: ExportColumns
  /// By type, how many of the records say that they are of it; events as an SDK stored them say it by their members.
  package private(set) var types: [String: Int] = [:]
  /// How many of the records are of the project's own shape, by kind.
  private var ownKinds: [InputKind: Int] = [:]

  package var records: Int { columns.records }

  /// - Parameters:
  ///   - file: whose first records are looked at.
  ///   - form: words of the map that say how it is cut, such as `"form": "csv"`; none for lines.
  ///   - eventType: the type of a record that is an event with a name.
  /// - Throws: `IngestFailure`, `InputChanged`.
  package init(of file: InputFile, form: [String], eventType: String, vocabulary: any RecordVocabulary) throws {
    let empty = "{\((form + [#""rules": []"#]).joined(separator: ","))}"
    let reader = MapReader(
      try JSONNode.read(Array(empty.utf8), source: ""), name: "", source: "",
      zones: ZoneDatabase(environment: [:]))
    var file = file
    file.map = InputMap(reader.map, identity: "")
    var columns = ExportColumns()
    var ownKinds: [InputKind: Int] = [:]
    var types: [String: Int] = [:]
    try file.tryMap(vocabulary, limit: Self.recordLimit) { trial in
      // What is not an object is no record that could say anything.
      guard let node = try? JSONNode.parse(trial.raw), node.members != nil else { return }
      columns.add(node)
      if let kind = Self.ownKind(of: node) { ownKinds[kind, default: 0] += 1 }
      if let type = Self.type(of: node) { types[type, default: 0] += 1 }
    }
    self.columns = columns
    self.ownKinds = ownKinds
    self.types = types
    var taken: Set<String> = []
    let time = self.time()
    if let time { taken.insert(time.field.path) }
    let device = best(Self.deviceNames, "deviceId", besides: taken, isNeeded: true) { column in
      (column.values.count < column.count ? 1 : 0) + (column.values.allSatisfy { $0.utf8.count >= 8 } ? 1 : 0)
    }
    if let device { taken.insert(device.path) }
    let name = best(Self.nameNames, "name", besides: taken) { $0.values.count <= max(20, $0.count / 2) ? 1 : -2 }
    if let name { taken.insert(name.path) }
    let person = best(Self.personNames, "mobileUserId", besides: taken) { _ in 1 }
    fields = [device, time?.field, name, person].compactMap { $0 }
    if let person { taken.insert(person.path) }
    for (field, names) in Self.deviceFields.sorted(by: { $0.key < $1.key }) {
      guard let column = columns.columns.first(where: { names.contains($0.plainName) && !taken.contains($0.path) })
      else { continue }
      taken.insert(column.path)
      fields.append(Field(name: field, path: column.path, confidence: .medium))
    }
    guard missing.count < 3 else { return }
    document = text(form, time?.pattern, name, eventType)
  }

  /// What was not found of all that a record has to have.
  package var missing: [String] {
    ["deviceId", "timestamp", "name"].filter { name in !fields.contains { $0.name == name } }
  }

  /// The kind of input that the records are by themselves; nil where they are foreign.
  package var ownKind: InputKind? {
    func has(_ path: String) -> Bool {
      columns.columns.contains { $0.path.utf8.elementsEqual(path.utf8) && $0.count * 10 >= columns.records * 9 }
    }
    guard has("deviceId"), has("timestamp") else {
      return has("eventTypeCode") || has("eventName") && has("userID") ? .events : nil
    }
    return has("type")
      ? .events
      : has("action") && columns.columns.contains { $0.path.hasPrefix("payload.") }
        ? .notifications : has("url") ? .deepLinks : nil
  }

  /// The same, where records of a file may have either shape: with `deviceId` and `timestamp`, or as an SDK stored them.
  package var ownKindByRecord: InputKind? { ownKinds.first { $0.value * 10 >= max(1, columns.records) * 9 }?.key }

  private static func ownKind(of record: JSONNode) -> InputKind? {
    guard record["deviceId"] != nil, record["timestamp"] != nil else {
      return storedType(of: record) == nil ? nil : .events
    }
    if record["type"] != nil { return .events }
    if record["payload"] != nil, record["action"] != nil { return .notifications }
    return record["url"] != nil ? .deepLinks : nil
  }

  private static func type(of record: JSONNode) -> String? { record["type"]?.string ?? storedType(of: record) }

  private static func storedType(of record: JSONNode) -> String? {
    if record["eventTypeCode"] != nil { return "rawEvent" }
    return record["eventName"] != nil && record["userID"] != nil ? "storedEvent" : nil
  }

  /// A map of records that are the project's own, in a file that has to be cut: each field is the member of its name.
  ///
  /// - Returns: its document, and the members that are no fields; nil for records that only have such names.
  ///
  /// - Parameters:
  ///   - form: as for the proposal.
  ///   - types: that records may have.
  package func ownMap(_ form: [String], types: [String]) -> (document: String, unread: [String])? {
    guard let kind = ownKind, !form.isEmpty else { return nil }
    let named = columns.columns.first { $0.path == "type" }?.values ?? []
    guard kind != .events || named.allSatisfy(types.contains) else { return nil }
    // In a table a member of an object has a column of its own.
    func isField(_ name: String) -> Bool {
      let first = name.prefix { $0 != "." }
      return RecordField.allCases.contains { "\($0)".utf8.elementsEqual(first.utf8) }
    }
    let fields = columns.members.filter(isField).map {
      "    \(JSONString.quoted($0)): \(JSONString.quoted(ExportColumns.written($0)))"
    }
    let lines = form + ["\"fields\": {\n\(fields.joined(separator: ",\n"))\n  }"]
    return (
      "{\n" + lines.map { "  \($0)" }.joined(separator: ",\n") + "\n}\n", columns.members.filter { !isField($0) }
    )
  }

  private func best(
    _ names: [String: Int], _ field: String, besides taken: Set<String>, isNeeded: Bool = false,
    look: (ExportColumns.Column) -> Int
  ) -> Field? {
    var found: (column: ExportColumns.Column, points: Int)?
    var gaps: [String] = []
    for column in columns.columns where !taken.contains(column.path) {
      guard let known = names[column.plainName] else { continue }
      // One that only some records have says less.
      let isRare = column.count * 10 < columns.records * 9
      // Without a field that each has to have, a record is refused.
      let points = known + look(column) - (isRare ? isNeeded ? 10 : 1 : 0)
      if isRare, isNeeded { gaps.append("'\(column.path)' is there in \(column.count) of \(columns.records)") }
      if points > found?.points ?? (isNeeded ? -10 : 0) { found = (column, points) }
    }
    return found.map {
      Field(
        name: field, path: $0.column.path, confidence: $0.points >= 5 ? .high : $0.points >= 3 ? .medium : .low,
        remark: gaps.joined(separator: ", "))
    }
  }

  private func time() -> (field: Field, pattern: String?)? {
    var found: (field: Field, pattern: String?, points: Int)?
    for column in columns.columns where column.count * 10 >= columns.records * 9 {
      guard let (pattern, remark) = Self.form(of: column.texts) else { continue }
      let known = Self.timeNames[column.plainName] ?? 0
      // A number by itself may count anything.
      guard known > 0 || !column.texts.allSatisfy({ $0.allSatisfy(\.isNumber) }) else { continue }
      let points = known + 1 - (remark.isEmpty ? 0 : 2)
      guard points > found?.points ?? 0 else { continue }
      let confidence: Confidence = points >= 4 ? .high : points >= 2 ? .medium : .low
      found = (Field(name: "timestamp", path: column.path, confidence: confidence, remark: remark), pattern, points)
    }
    return found.map { ($0.field, $0.pattern) }
  }

  /// The pattern that nearly all texts have, nil within for times that need none; nil for texts that are not times.
  private static func form(of texts: [String]) -> (pattern: String?, remark: String)? {
    func misfits(_ time: MapTime) -> Int {
      texts.count { text in
        !Array(text.utf8).withText { time.instant($0.trimmed).map { likelyTimes ~= $0.milliseconds } ?? false }
      }
    }
    func told(_ misfits: Int) -> String { misfits == 0 ? "" : "\(misfits) of \(texts.count) are no such times" }
    let most = texts.count / 20
    let automatic = misfits(MapTime(form: .automatic, zone: .utc))
    if automatic <= most { return (nil, told(automatic)) }
    let fitting = patterns.compactMap { text -> (text: String, misfits: Int)? in
      // The patterns are known to be ones.
      guard let pattern = try? TimePattern(text) else { return nil }
      let misfits = misfits(MapTime(form: .pattern(pattern), zone: .utc))
      return misfits <= most ? (text, misfits) : nil
    }
    guard let best = fitting.map(\.misfits).min() else { return nil }
    let equal = fitting.filter { $0.misfits == best }.map(\.text)
    let tail = best == 0 ? "" : "; " + told(best)
    return (
      equal[0],
      (equal.count > 1 ? "\(equal[0]), or \(equal[1]), which these records do not tell apart" : equal[0]) + tail
    )
  }

  private func text(_ form: [String], _ pattern: String?, _ name: Field?, _ eventType: String) -> String {
    let quoted = JSONString.quoted
    var lines = form
    if !missing.isEmpty {
      let members = columns.columns.map(\.path).joined(separator: ", ")
      lines.insert(
        "\"description\": "
          + quoted("To be filled in: \(missing.joined(separator: ", ")). The records have \(members)."), at: 0)
    }
    let absent = missing.filter { $0 != "name" }.map { "    \(quoted($0)): \"\"" }
    let found = fields.filter { $0.name != "name" }.map { field in
      let path = quoted(field.path)
      guard field.name == "timestamp", let pattern else { return "    \(quoted(field.name)): \(path)" }
      return "    \(quoted(field.name)): {\"path\": \(path), \"time\": \(quoted(pattern))}"
    }
    lines.append("\"fields\": {\n\((absent + found).joined(separator: ",\n"))\n  }")
    let path = name?.path ?? ""
    let values = columns.columns.first { $0.path == path }?.values.sorted() ?? []
    let known = values.compactMap { value -> String? in
      let plain = value.lowercased().filter { $0.isASCII && $0.isLetter }
      return Self.lifecycle.first { $0.value.contains(plain) }.map { "\(quoted(value)): \(quoted($0.key))" }
    }
    var type = quoted(eventType)
    if !known.isEmpty {
      type = "{\"path\": \(quoted(path)), \"table\": {\(known.joined(separator: ", "))}, \"default\": \(type)}"
    }
    // A record without a name is told to have none.
    let when = name == nil ? "" : "\"when\": {\(quoted(path)): {\"exists\": true}},\n      "
    lines.append(
      """
      "rules": [
          {
            \(when)"type": \(type),
            "fields": {"name": \(quoted(path)), "params": {"others": "$", "flatten": "."}}
          }
        ]
      """)
    return "{\n" + lines.map { "  \($0)" }.joined(separator: ",\n") + "\n}\n"
  }
}
