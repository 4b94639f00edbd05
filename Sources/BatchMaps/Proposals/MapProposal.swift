package import BatchFoundation

/// A proposed map for records that no preset reads. The names and values of members show which ones are the device,
/// time, name and person.
package struct MapProposal {
  package enum Confidence: String, Sendable {
    case high, medium, low
  }

  package struct Field: Sendable {
    /// The name of the field in the project's own shape.
    package var name: String
    package var path: String
    package var confidence: Confidence
    /// A remark for the user; empty if there is none.
    package var remark = ""
  }

  /// The columns named by the user.
  package struct Hints: Sendable {
    package var device: String?
    /// One column, or two: the day and the time of day.
    package var time: [String] = []
    package var name: String?
    package var campaign: String?
    package var zone: String?

    package init() {}

    /// Returns the hints for the records below a place: without the beginning of their paths.
    package func inside(_ begin: String) -> Hints {
      func short(_ path: String) -> String { path.hasPrefix(begin) ? String(path.dropFirst(begin.count)) : path }
      var hints = self
      (hints.device, hints.time, hints.name) = (device.map(short), time.map(short), name.map(short))
      (hints.campaign, hints.zone) = (campaign.map(short), zone.map(short))
      return hints
    }

    package var isEmpty: Bool { time.isEmpty && [device, name, campaign, zone].allSatisfy { $0 == nil } }
  }

  /// The error thrown if the user named a column that the records lack.
  package struct NoColumn: Error {
    package var name: String
    package var known: [String]
  }

  struct Time {
    var paths: [String]
    var pattern: String?
    /// Another pattern that fits as well but reads the values differently; nil if there is none.
    var other: String?
  }

  /// The name of the map's file in the job's folder.
  package static let file = "map.json"
  package static let recordLimit = 200

  /// The fields, in the order in which messages list them.
  package internal(set) var fields: [Field] = []
  package internal(set) var kind = InputKind.events
  /// Further remarks for the user.
  package var notes: [String] { remarks + [distinctIDNote].compactMap(\.self) }
  /// The remarks that depend only on the columns.
  var remarks: [String] = []
  /// Sentences about points to be checked before the map is used.
  package internal(set) var doubts: [String] = []
  let columns: ExportColumns
  let records: ExportRecords
  var time: Time?
  var zone: String
  private(set) var name: String?
  /// The column with record types of the project's own shape; nil if there is none.
  private(set) var type: String?
  var campaign: String?
  var alert: String?
  var payload: String?
  /// The column with the notification actions, and the action for each value (nil for values that mean neither
  /// "received" nor "opened").
  var action: (path: String, values: [String: String?])?

  /// - Parameters:
  ///   - types: the record types in the project's own shape.
  ///   - hints: the columns that the user named.
  /// - Throws: ``NoColumn``.
  package init(of records: ExportRecords, types: [String], hints: Hints = Hints()) throws {
    self.records = records
    var columns = ExportColumns()
    for node in records.nodes { columns.add(node) }
    self.columns = columns
    zone = hints.zone ?? "UTC"
    if let name = hints.zone, let column = columns.columns.first(where: { $0.path == name }) {
      zone = column.values.min() ?? "UTC"
      if column.values.count > 1 { doubts.append(Self.zoneDoubt(column)) }
    }
    var taken: Set<String> = []
    let time = try self.time(hints.time)
    if let time {
      self.time = time.time
      taken.formUnion(time.time.paths)
      if time.namesNoZone, hints.zone == nil, !findZone(besides: taken) {
        remarks.append("times without a zone are read as UTC; if they are local, change \"zone\"")
      }
    }
    let device = try named(hints.device, "deviceId") ?? self.device(besides: taken)
    if let device { taken.insert(device.path) }
    try findNotification(besides: taken, hints)
    if let url = columns.columns.first(where: { isFull($0) && $0.values.allSatisfy(ColumnLook.isURL) }), action == nil,
      payload == nil, hints.name == nil,
      best(Self.nameNames, "name", besides: taken.union([url.path])) == nil || url.path == "line"
    {
      kind = .deepLinks
      taken.insert(url.path)
      fields = [device, time?.field, Field(name: "url", path: url.path, confidence: .high)].compactMap { $0 }
    } else if kind == .notifications {
      let action = action.map { Field(name: "action", path: $0.path, confidence: .high) }
      fields = [device, time?.field, action].compactMap { $0 }
    } else {
      let name = try named(hints.name, "name") ?? self.name(besides: taken, types)
      if let name { taken.insert(name.path) }
      self.name = name?.path
      fields = [device, time?.field, name].compactMap { $0 }
    }
    if time != nil { taken.formUnion(self.time?.paths ?? []) }
    taken.formUnion([action?.path, type, campaign].compactMap(\.self))
    if let campaign { fields.append(Field(name: "campaign", path: campaign, confidence: .high)) }
    if let person = person(besides: taken) {
      taken.insert(person.path)
      fields.append(person)
    }
    if let record = recordID(besides: taken) {
      taken.insert(record.path)
      fields.append(record)
    }
    if kind == .events, type == nil, let name {
      let types = Self.lifecycle(column(at: name)?.values.sorted() ?? []).map { "'\($0.name)' is \($0.type)" }
      if !types.isEmpty { remarks.append("type: \(types.joined(separator: ", "))") }
    }
    findDoubts()
    for (field, names) in Self.deviceFields.sorted(by: { $0.key < $1.key }) {
      guard let column = columns.columns.first(where: { names.contains($0.plainName) && !taken.contains($0.path) })
      else { continue }
      taken.insert(column.path)
      fields.append(Field(name: field, path: column.path, confidence: .medium))
    }
    if time == nil {
      for column in columns.columns where column.points(Self.timeNames) != nil {
        if let words = ColumnLook.foreignClock(column.texts) {
          remarks.append("'\(column.path)' looks like \(words)")
        } else if let text = column.texts.first(where: { $0.contains(where: \.isNumber) }) {
          remarks.append(
            "'\(column.path)' may be the time, but no known pattern fits all values, such as '\(text.shortened(to: 60))': "
              + "export it with a four-digit year and an offset, such as 2026-01-15T08:00:00-05:00, or specify a pattern in the map"
          )
        }
      }
    }
    remarks += silentGuesses
  }

  /// The required fields for which no column was found.
  package var missing: [String] {
    let last = kind == .events ? "name" : kind == .deepLinks ? "url" : nil
    return ["deviceId", "timestamp", last].compactMap(\.self).filter { name in !fields.contains { $0.name == name } }
  }

  /// The important fields whose columns are only guesses.
  package var unsure: [Field] {
    fields.filter {
      $0.confidence == .low
        && (["deviceId", "timestamp", "name"].contains($0.name)
          || $0.name == "mobileUserId" && $0.remark.contains("or '"))
    }
  }

  /// The same proposal with the other of two possible time patterns; nil if only one is possible.
  package var ofOtherTime: MapProposal? {
    guard let time, let other = time.other else { return nil }
    var proposal = self
    proposal.time?.pattern = other
    return proposal
  }

  /// Returns the proposal with its time pattern settled, after later records have shown which one is right.
  package func withSettledTime() -> MapProposal {
    var proposal = self
    for place in fields.indices where fields[place].name == "timestamp" {
      proposal.fields[place].confidence = .high
      proposal.fields[place].remark = "\(time?.pattern ?? ""), according to later records"
    }
    return proposal
  }

  /// Whether the records are lines, rows or whole documents rather than elements of a list.
  package var isOfLines: Bool { records.list == nil }

  package func path(of field: String) -> String? { fields.first { $0.name == field }?.path }

  func isFull(_ column: ExportColumns.Column) -> Bool { column.count * 10 >= columns.records * 9 }

  func column(at path: String) -> ExportColumns.Column? { columns.columns.first { $0.path == path } }

  func column(_ name: String) throws -> ExportColumns.Column {
    let written = ExportColumns.written(name)
    guard let column = columns.columns.first(where: { $0.path == name || $0.path == written }) else {
      throw NoColumn(name: name, known: columns.columns.map(\.path))
    }
    return column
  }

  /// Returns the column whose name has the most points, among those that fit.
  func column(
    named names: [String: Int], besides taken: Set<String>, where isFit: (ExportColumns.Column) -> Bool
  ) -> ExportColumns.Column? {
    columns.columns.filter { names[$0.plainName] != nil && !taken.contains($0.path) && isFit($0) }
      .max { names[$0.plainName, default: 0] < names[$1.plainName, default: 0] }
  }

  private func named(_ column: String?, _ field: String) throws -> Field? {
    guard let column else { return nil }
    return Field(name: field, path: try self.column(column).path, confidence: .high, remark: "as requested")
  }

  private mutating func name(besides taken: Set<String>, _ types: [String]) -> Field? {
    let own = columns.columns.first { $0.plainName == "type" && isFull($0) && $0.values.allSatisfy(types.contains) }
    if let own, let name = columns.columns.first(where: { $0.plainName == "name" && $0.words.count == 1 }) {
      type = own.path
      return Field(name: "name", path: name.path, confidence: .high, remark: "its type is in '\(own.path)'")
    }
    func isFew(_ column: ExportColumns.Column) -> Bool { column.values.count <= max(20, column.count / 2) }
    func isProtocol(_ column: ExportColumns.Column) -> Bool {
      column.plainName == "type" && column.values.isSubset(of: Self.callTypes)
        && columns.columns.contains { $0.plainName == "name" && $0.words.count == 1 && isFull($0) }
    }
    // The type of a message of Singer or Airbyte.
    func isMessage(_ column: ExportColumns.Column) -> Bool {
      column.plainName == "type" && column.values.contains("RECORD")
        && column.values.subtracting(["RECORD", "BATCH"]).isSubset(of: ForeignMapper.otherMessages)
    }
    let hasSeveral = columns.columns.contains {
      !isMessage($0) && !taken.contains($0.path) && $0.points(Self.nameNames) != nil && isFull($0) && isFew($0)
        && $0.values.count > 1
    }
    // A column with the same value in all records is not the name if there are other candidates.
    if let found = best(
      Self.nameNames, "name", besides: taken,
      look: {
        isProtocol($0) || isMessage($0)
          ? -1 : isFew($0) ? $0.values.count == 1 && $0.count > 1 && hasSeveral ? -1 : 1 : -2
      })
    {
      return found
    }
    return columns.columns.first { column in
      isFull(column) && !taken.contains(column.path) && isFew(column) && column.values.count > 1
        && column.values.allSatisfy {
          $0.contains(where: \.isLetter) && !ColumnLook.isValue($0) && !ColumnLook.areIDs([$0])
        }
    }.map { Field(name: "name", path: $0.path, confidence: .low, remark: "recognized only by its values") }
  }

  func best(
    _ names: [String: Int], _ field: String, besides taken: Set<String>, isNeeded: Bool = false,
    look: (ExportColumns.Column) -> Int = { _ in 1 }
  ) -> Field? {
    var found: (column: ExportColumns.Column, points: Int)?
    var rival: ExportColumns.Column?
    var gaps: [String] = []
    for column in columns.columns where !taken.contains(column.path) {
      guard let known = column.points(names) else { continue }
      // A column that only some records have receives fewer points.
      let isRare = !isFull(column)
      // Records without a required field would be refused, so gaps in such a column cost more points.
      let penalty = isNeeded ? 10 + 4 * (columns.records - column.count) / columns.records : 1
      let points = known + look(column) - (isRare ? penalty : 0)
      if isRare, isNeeded { gaps.append("'\(column.path)' is in \(column.count) of \(columns.records) records") }
      if points == found?.points, rival == nil { rival = column }
      if points > found?.points ?? (isNeeded ? -15 : 0) { (found, rival) = ((column, points), nil) }
    }
    return found.map { found in
      var confidence: Confidence = found.points >= 5 ? .high : found.points >= 3 ? .medium : .low
      // Columns that divide the records into the same groups are interchangeable.
      if let rival, !found.column.parts(asDoes: rival) {
        confidence = .low
        gaps.append("or '\(rival.path)'")
      }
      return Field(
        name: field, path: found.column.path, confidence: confidence, remark: gaps.joined(separator: ", "))
    }
  }

  private func time(_ hints: [String]) throws -> (field: Field, time: Time, namesNoZone: Bool)? {
    typealias Look = (column: ExportColumns.Column, times: ColumnLook.Times, points: Int, isOwn: Bool)
    var looks: [Look] = []
    let full = columns.columns.filter(isFull)
    // A column with gaps counts only if no other has times.
    let others = columns.columns.filter { $0.count * 2 >= columns.records }
    let candidates =
      try hints.isEmpty ? full.contains { ColumnLook.times($0.texts) != nil } ? full : others : hints.map(column)
    for column in candidates {
      guard let times = ColumnLook.times(column.texts) else { continue }
      let single = column.words.compactMap { Self.timeNames[$0] }.max().map { min($0, 2) }
      let clock = column.words.reduce(0) {
        $0 + (Self.ownClocks.contains($1) ? 2 : Self.otherClocks.contains($1) ? -2 : 0)
      }
      let known = hints.isEmpty ? (column.points(Self.timeNames) ?? single ?? 0) + max(-2, min(clock, 2)) : 4
      // Plain numbers may be any quantity, so the column needs a name that suggests a time.
      guard known > 0 || !column.texts.allSatisfy({ $0.allSatisfy(\.isNumber) }) else { continue }
      looks.append(
        (
          column, times, known + 1 - (times.remarks.contains { $0.contains(" of ") } ? 1 : 0) - (times.isOpen ? 2 : 0),
          clock > 0
        ))
    }
    func best(_ part: ColumnLook.Times.Part) -> Look? {
      looks.filter { $0.times.part == part }.max { $0.points < $1.points }
    }
    let (whole, day, clock) = (best(.whole), best(.day), best(.clock))
    if let day, let clock, whole?.points ?? 0 <= day.points {
      let dayPattern = day.times.pattern ?? "", clockPattern = clock.times.pattern ?? ""
      let isISO = dayPattern == "yyyy-MM-dd" && clockPattern.hasPrefix("HH:mm") && !clockPattern.contains(",")
      let pattern = "\(dayPattern) \(clockPattern)"
      let paths = [day.column.path, clock.column.path]
      return (
        Field(
          name: "timestamp", path: paths.joined(separator: " and "), confidence: day.times.isOpen ? .low : .high,
          remark: isISO ? "" : (["\(pattern)"] + day.times.remarks.dropFirst()).joined(separator: "; ")),
        Time(paths: paths, pattern: isISO ? nil : pattern), true
      )
    }
    guard let found = whole ?? day else { return nil }
    var remarks = found.times.remarks
    if !isFull(found.column) { remarks.append("in \(found.column.count) of \(columns.records) records") }
    let rival = looks.first {
      $0.column.path != found.column.path && $0.times.part == .whole
        && ($0.points == found.points || $0.isOwn && found.isOwn)
    }
    // If only one column contains times, its name matters less.
    let points = found.points + (looks.count == 1 ? 1 : 0)
    var confidence: Confidence = points >= 4 ? .high : points >= 2 ? .medium : .low
    if found.times.part == .day { remarks.append("dates without times, so all records of a day are at midnight") }
    if let rival, whole != nil, hints.isEmpty, rival.column.texts != found.column.texts {
      remarks.append("or '\(rival.column.path)'")
      confidence = .low
    }
    if found.times.part == .day || found.times.isOpen { confidence = .low }
    return (
      Field(
        name: "timestamp", path: found.column.path, confidence: confidence, remark: remarks.joined(separator: "; ")),
      Time(paths: [found.column.path], pattern: found.times.pattern, other: found.times.other), !found.times.namesZone
    )
  }
}
