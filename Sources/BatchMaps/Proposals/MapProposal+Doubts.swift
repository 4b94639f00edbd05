import BatchFoundation

/// The doubts about columns whose values contradict their names.
extension MapProposal {
  /// The subject of a log of opened and received items.
  enum Speech { case ofPushes, ofBoth, ofOthers }

  /// - Parameter action: the column with the actions.
  func speech(of action: String) -> Speech {
    var words = Set(columns.columns.flatMap(\.words))
    for column in columns.columns where column.values.count <= 20 || column.path == action {
      for value in column.values where value.utf8.count <= 40 { words.formUnion(ExportColumns.words(value)) }
    }
    let hasName = columns.columns.contains {
      $0.path != action && isFull($0) && $0.points(Self.nameNames) ?? 0 > 2 && ColumnLook.actions($0.texts) == nil
        && $0.values.count > 1
    }
    let isOther = hasName || !words.isDisjoint(with: Self.otherLogWords)
    if !words.isDisjoint(with: Self.pushWords) { return isOther ? .ofBoth : .ofPushes }
    return isOther || words.isDisjoint(with: Self.perhapsPushWords) ? .ofOthers : .ofPushes
  }

  /// Returns why the values of a column are not devices; nil if they may be.
  func doubt(ofDevice column: ExportColumns.Column) -> String? {
    if column.values.contains(where: ColumnLook.isRounded) {
      return "numbers rounded by a spreadsheet, so different devices look the same"
    }
    if column.values.count(where: ColumnLook.isDeviceClass) * 2 > column.values.count {
      return "models or kinds of devices, which many people share"
    }
    if let text = column.texts.first(where: ColumnLook.isStructure) {
      return "objects or lists in strings, such as '\(text.shortened(to: 60))'"
    }
    let person = columns.columns.filter { $0.path != column.path && $0.points(Self.personNames) != nil }
      .max { ($0.points(Self.personNames) ?? 0, $0.count) < ($1.points(Self.personNames) ?? 0, $1.count) }
    guard let person else { return nil }
    let owners = Dictionary(zip(person.rows, person.texts)) { $1 }
    var people: [String: Set<String>] = [:]
    for (row, text) in zip(column.rows, column.texts) {
      if let owner = owners[row] { people[text, default: []].insert(owner) }
    }
    let isShared = person.values.count > 2 && person.values.count >= 2 * people.count
    return isShared && people.values.allSatisfy { $0.count > 1 }
      ? "\(people.count) devices of \(person.values.count) people, each shared by several" : nil
  }

  static func zoneDoubt(_ column: ExportColumns.Column) -> String {
    "'\(column.path)' has \(column.values.count) zones, which no map reads: write times in UTC or with their offset"
  }

  /// Finds a column with the zone of times that lack one: offsets are joined to the times, a single zone becomes the
  /// map's.
  ///
  /// - Returns: whether there is such a column.
  mutating func findZone(besides taken: Set<String>) -> Bool {
    let isUTC = time?.paths.compactMap(column).contains { !Self.universal.isDisjoint(with: $0.words) } ?? false
    let column = columns.columns.first { column in
      !taken.contains(column.path)
        && (Self.zoneNames.contains(column.plainName) || Self.zoneNames.contains(column.words.last ?? ""))
    }
    guard let column, !isUTC else { return false }
    if isFull(column), column.values.count == 1, let only = column.values.first, ColumnLook.isZone(only) {
      zone = only
      notes.append("times without a zone; read in \(only), from '\(column.path)'")
    } else if isFull(column), column.values.allSatisfy(ColumnLook.isOffset) {
      time?.paths.append(column.path)
      time?.pattern? += " Z"
      notes.append("'\(column.path)' has the offset of each time")
    } else {
      doubts.append(Self.zoneDoubt(column))
    }
    return true
  }

  /// The column that may tell which pushes were not received, in a log without actions.
  private var outcomePath: String? {
    guard kind == .notifications, action == nil else { return nil }
    return columns.columns.first {
      $0.values.count > 1 && Self.outcomeNames.contains($0.plainName) || Self.nameNames[$0.plainName] ?? 0 > 2
    }?.path
  }

  /// The column that has, or may have, the actions of notifications.
  package var decidingColumn: (path: String, count: Int)? {
    (action?.path ?? outcomePath).flatMap(column).map { ($0.path, $0.count) }
  }

  /// Adds doubts about untrimmed or dubious ids, JSON in texts, unknown outcomes, and campaigns next to links.
  mutating func findDoubts() {
    for field in fields where ["deviceId", "mobileUserId", "name"].contains(field.name) {
      guard let column = column(at: field.path) else { continue }
      if column.values.contains(where: { $0.first?.isWhitespace ?? false || $0.last?.isWhitespace ?? false }) {
        doubts.append("blanks around values of '\(field.path)' are part of them: remove the blanks")
      }
      if field.name != "name", column.values.contains(where: ColumnLook.isWhole) {
        doubts.append("'\(field.path)' has integers written as 12.0, a different id from 12: export it as text")
      }
      if field.name != "name", column.values.contains("0") {
        doubts.append("'\(field.path)' is 0 in some records, which makes them all the same: leave it out there")
      }
    }
    // Texts that mean no value apply to all columns of a table.
    let nobody = columns.nulls.filter(ExportColumns.isNobody).sorted()
    for word in nobody where !records.isTable || columns.columns.contains(where: { $0.values.contains(word) }) {
      doubts.append(
        "'\(word)' is written for a missing id, which no map can define for a single column: leave it out there")
    }
    // JSON in a text may hold decisive values.
    for column in columns.columns where column.path != "line" {
      let isKey = ["mobileUserId", "name"].contains { path(of: $0) == column.path }
      let text = column.texts.first {
        $0.hasPrefix("[{") || kind == .notifications && $0.hasPrefix("{\"") || isKey && ColumnLook.isStructure($0)
      }
      if let text {
        let words = "'\(column.path)' has JSON in a string, which is not parsed"
        doubts.append("\(words), such as '\(text.shortened(to: 60))': export it as JSON")
      }
    }
    if let path = outcomePath {
      doubts.append("'\(path)' may be the outcome of each, but all count as received: leave out those that were not")
    }
    if kind == .deepLinks, let column = columns.columns.first(where: { $0.points(Self.campaignNames) != nil }) {
      doubts.append("a link's campaign is read from its URL, not from '\(column.path)': put it there")
    }
  }
}
