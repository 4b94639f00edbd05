import BatchConfiguration

/// A column that the program writes or searches, and what can hold it.
struct NeededColumn {
  var setting: String
  var name: String
  /// In words, as ``ColumnTypeName`` has them.
  var types: Set<String>
  /// What it is made as where it is missing.
  var made: NewColumnType

  private static let idTypes: Set<String> = ["text", "number", "sync id"]
  private static let dateTypes: Set<String> = ["text", "date", "timestamp"]

  /// Those of the list.
  static func ofList(_ settings: Settings) -> [NeededColumn] {
    let recipient = settings.recipient
    var needs = [
      NeededColumn(
        setting: "Recipient.mobileUserIdColumn", name: recipient.mobileUserIdColumn, types: ["text", "sync id"],
        made: .text)
    ]
    if recipient.marksMergesInDatabase {
      needs.append(
        NeededColumn(
          setting: "Recipient.mergedRecipientIdColumn", name: recipient.mergedRecipientIdColumn, types: idTypes,
          made: .text))
      needs.append(
        NeededColumn(
          setting: "Recipient.mergedDateColumn", name: recipient.mergedDateColumn, types: dateTypes, made: .timestamp))
    }
    guard settings.location.isEnabled else { return needs }
    return needs + [
      NeededColumn(
        setting: "LocationServices.lastKnownLocationColumn", name: settings.location.addressColumn, types: ["text"],
        made: .text),
      NeededColumn(
        setting: "LocationServices.lastKnownLocationTimestampColumn", name: settings.location.timeColumn,
        types: dateTypes, made: .date),
    ]
  }

  /// Those of the audit table, its key first.
  static func ofAuditTable(_ audit: Settings.Audit) -> [NeededColumn] {
    [
      NeededColumn(
        setting: "AuditRecord.auditRecordPrimaryKeyColumnName", name: audit.keyColumn, types: ["text"], made: .text),
      NeededColumn(
        setting: "AuditRecord.oldRecipientIdColumnName", name: audit.oldRecipientIdColumn, types: idTypes, made: .text),
      NeededColumn(
        setting: "AuditRecord.newRecipientIdColumnName", name: audit.newRecipientIdColumn, types: idTypes, made: .text),
      NeededColumn(
        setting: "AuditRecord.createDateColumnName", name: audit.dateColumn, types: dateTypes, made: .timestamp),
    ]
  }
}

/// The types that missing columns are made with.
enum NewColumnType: String {
  case text, date, timestamp

  /// As databases number it (reference identity 3.2).
  var number: Int {
    switch self {
    case .text: 0
    case .date: 3
    case .timestamp: 17
    }
  }

  /// As relational tables call it.
  var word: String {
    switch self {
    case .text: "TEXT"
    case .date: "DATE"
    case .timestamp: "DATE_TIME"
    }
  }
}
