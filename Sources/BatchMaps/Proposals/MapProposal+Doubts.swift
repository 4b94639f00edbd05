import BatchFoundation

/// Doubts about columns whose values contradict their names.
extension MapProposal {
  /// Whether the device, the time and the name are in every record.
  package var isOfRecords: Bool {
    missing.isEmpty
      && ["deviceId", "timestamp", "name"].allSatisfy { path(of: $0).flatMap(column).map(isFull) ?? true }
  }

  /// Returns the proposal with what the records lack and `outer`, a proposal for the lines around them, has: a device,
  /// a person, values of the device, and the campaign of a push.
  ///
  /// - Parameter inside: the beginning of all paths that lead into the records; nil for a list, which has no paths.
  package func completed(by outer: MapProposal, besides inside: String? = nil) -> MapProposal {
    var (proposal, outer) = (self, outer)
    var taken = Set(outer.columns.columns.map(\.path).filter { path in inside.map { path.hasPrefix($0) } ?? false })
    func take(_ field: Field?) {
      guard var field, path(of: field.name) == nil, taken.insert(field.path).inserted else { return }
      field.path = "^.\(field.path)"
      proposal.fields.insert(field, at: field.name == "deviceId" ? 0 : proposal.fields.count)
    }
    if path(of: "deviceId") == nil { take(outer.device(besides: taken.union(outer.time?.paths ?? []))) }
    if path(of: "mobileUserId") == nil { take(outer.person(besides: taken)) }
    for field in outer.fields where field.name.hasPrefix("device.") { take(field) }
    if kind == .notifications, payload == nil, campaign == nil {
      let column = outer.columns.columns.first { Self.campaignNames[$0.plainName] != nil && !taken.contains($0.path) }
      take(column.map { Field(name: "campaign", path: $0.path, confidence: .high) })
      proposal.campaign = proposal.path(of: "campaign")
    }
    return proposal
  }

  /// Returns whether some of these members are attributes of events, rather than times or kinds.
  package func haveAttributes(_ members: [String: Int]) -> Bool {
    columns.columns.contains {
      members[$0.path] != nil && $0.plainName != "type" && $0.points(Self.timeNames) == nil
    }
  }

  /// Returns a sentence about one of these members that has objects or lists in another notation than JSON; nil if none
  /// has.
  package func notationDoubt(_ members: [String: Int]) -> String? {
    columns.columns.lazy.filter { members[$0.path] != nil }.compactMap { column in
      column.texts.first(where: ColumnLook.isOtherNotation).map {
        "'\(column.path)' has objects or lists that are not JSON, such as '\($0.shortened(to: 60))': export them as JSON"
      }
    }.first
  }

  /// Returns the reason why the values of a column are probably not devices; nil if there is none.
  func doubt(ofDevice column: ExportColumns.Column) -> String? {
    if column.values.contains(where: ColumnLook.isRounded) {
      return "numbers rounded by a spreadsheet, so different devices look the same"
    }
    if column.values.count(where: ColumnLook.isDeviceClass) * 2 > column.values.count {
      return "device models or types, which many people share"
    }
    if let text = column.texts.first(where: ColumnLook.isStructure) {
      return "objects or lists in strings, such as '\(text.shortened(to: 60))'"
    }
    let person = columns.columns.filter { $0.path != column.path && $0.points(Self.personNames) != nil }
      .max { ($0.points(Self.personNames) ?? 0, $0.count) < ($1.points(Self.personNames) ?? 0, $1.count) }
    guard let person else { return nil }
    let people = column.groups(of: person)
    let isShared = person.values.count > 2 && person.values.count >= 2 * people.count
    return isShared && people.values.allSatisfy { $0.count > 1 }
      ? "\(people.count) devices, each shared by several of \(person.values.count) people" : nil
  }

  static func zoneDoubt(_ column: ExportColumns.Column) -> String {
    "the zone of each time is in '\(column.path)', which a map cannot read: "
      + "export times in UTC, or with their offset"
  }

  /// Finds a column with the zone of times that lack one. Offsets are appended to the times, a zone that is the same in
  /// all records becomes the map's zone, and anything else is reported as a doubt.
  ///
  /// - Returns: whether there is such a column.
  mutating func findZone(besides taken: Set<String>) -> Bool {
    let isUTC = time?.paths.compactMap(column).contains { !Self.universal.isDisjoint(with: $0.words) } ?? false
    let column = columns.columns.first { column in
      let words = column.words.filter { !Self.zoneUnits.contains($0) }
      return !taken.contains(column.path)
        && (Self.zoneNames.contains(column.plainName) || Self.zoneNames.contains(words.last ?? ""))
    }
    guard let column, !isUTC else { return false }
    if isFull(column), column.values.count == 1, let only = column.values.first, ColumnLook.isZone(only) {
      zone = only
      remarks.append("times without a zone are read as \(only), the zone in '\(column.path)'")
    } else if isFull(column), column.values.allSatisfy(ColumnLook.isOffset) {
      time?.paths.append(column.path)
      time?.pattern? += " Z"
      remarks.append("'\(column.path)' contains the UTC offset of each time")
    } else {
      doubts.append(Self.zoneDoubt(column))
    }
    return true
  }

  /// The guesses on which the map of a table relies, as notes.
  var silentGuesses: [String] {
    [("null", columns.nulls.subtracting(["\\N"]).sorted()), ("decimal comma", decimals)].compactMap { what, texts in
      let texts = texts.map { "'\($0)'" }.joined(separator: ", ")
      return records.isTable && !texts.isEmpty ? "\(what) guessed: \(texts)" : nil
    }
  }

  /// In a push log without actions, the column that may show which pushes were not received; nil if there is none.
  private var outcomePath: String? {
    guard kind == .notifications, action == nil else { return nil }
    return columns.columns.first {
      $0.values.count > 1 && Self.outcomeNames.contains($0.plainName) || Self.nameNames[$0.plainName] ?? 0 > 2
    }?.path
  }

  /// The column with the notification actions, or one that may show which pushes were not received, with its record
  /// count.
  package var decidingColumn: (path: String, count: Int)? {
    (action?.path ?? outcomePath).flatMap(column).map { ($0.path, $0.count) }
  }

  /// Adds doubts about untrimmed or dubious ids, JSON in strings, unknown outcomes, and campaigns next to links.
  mutating func findDoubts() {
    for field in fields where ["deviceId", "mobileUserId", "name"].contains(field.name) {
      guard let column = column(at: field.path) else { continue }
      let isID = field.name != "name"
      if let text = column.texts.first(where: { ColumnLook.isWrapped($0, isID: isID) }) {
        let shown = text.shortened(to: 60)
        doubts.append(
          "remove blanks, quotes and invisible characters around the values of '\(field.path)', such as '\(shown)'")
      }
      if isID, column.values.contains(where: ColumnLook.isWhole) {
        doubts.append(
          "'\(field.path)' has integers written with a decimal point, such as 12.0, which is a different id from 12: export them as text"
        )
      }
      if isID, column.values.contains("0") {
        let one = field.name == "deviceId" ? "device" : "person"
        let count = column.texts.count { $0 == "0" }.counted("record")
        doubts.append(
          "'\(field.path)' is 0 in \(count), and all such records would be assigned to the same \(one): export an empty value instead"
        )
      }
    }
    // In a table, the map's `null` applies to all columns, not only to ids.
    let nobody = columns.nulls.filter(ExportColumns.isNobody).sorted()
    // In a column of numbers, such a word also means a missing value.
    let others = columns.columns.filter { !$0.values.allSatisfy { Double($0) != nil || ExportColumns.isNobody($0) } }
    for word in nobody where !records.isTable || others.contains(where: { $0.values.contains(word) }) {
      doubts.append(
        "'\(word)' is used for missing ids: export empty values instead"
          + (records.isTable ? ", or list this text under \"null\", which applies to all columns" : ""))
    }
    // JSON in a string may contain decisive values.
    for column in columns.columns where column.path != "line" {
      let isKey = ["mobileUserId", "name"].contains { path(of: $0) == column.path }
      let text = column.texts.first {
        $0.hasPrefix("[{") || $0.hasPrefix("{'") || kind == .notifications && $0.hasPrefix("{\"")
          || isKey && ColumnLook.isStructure($0)
      }
      if let text {
        let words = "'\(column.path)' contains JSON in strings"
        doubts.append(
          "\(words), such as '\(text.shortened(to: 60))', which is not parsed: export objects or arrays instead")
      }
    }
    if let path = outcomePath {
      doubts.append(
        "every record will count as received; if '\(path)' shows whether the push arrived, filter on that column with \"when\""
      )
    }
    if kind == .deepLinks, let column = columns.columns.first(where: { $0.points(Self.campaignNames) != nil }) {
      doubts.append("a link's campaign is read from its URL, not from '\(column.path)': add the campaign to the URL")
    }
  }
}
