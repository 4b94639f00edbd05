package import BatchConfiguration
import BatchFoundation

/// A column that the program writes or searches, and the types that can hold it.
package struct NeededColumn {
  package var setting: String
  package var name: String
  /// The names of the types, such as `text` or `timestamp`.
  package var types: Set<String>
  /// The type to create the column with if it is missing.
  package var made: NewColumnType

  private static let idTypes: Set<String> = ["text", "number", "sync id"]
  private static let dateTypes: Set<String> = ["text", "date", "timestamp"]

  private init(_ setting: String, _ name: String, _ types: Set<String>, _ made: NewColumnType) {
    self.setting = setting
    self.name = name
    self.types = types
    self.made = made
  }

  package static func ofList(_ settings: IdentitySettings) -> [NeededColumn] {
    let recipient = settings.recipient
    var needs = [Self("Recipient.mobileUserIdColumn", recipient.mobileUserIdColumn, ["text", "sync id"], .text)]
    if recipient.marksMergesInDatabase {
      needs += [
        Self("Recipient.mergedRecipientIdColumn", recipient.mergedRecipientIdColumn, idTypes, .text),
        Self("Recipient.mergedDateColumn", recipient.mergedDateColumn, dateTypes, .timestamp),
      ]
    }
    guard let locations = settings.locations else { return needs }
    return needs + [
      Self("LocationServices.lastKnownLocationColumn", locations.addressColumn, ["text"], .text),
      Self("LocationServices.lastKnownLocationTimestampColumn", locations.timeColumn, dateTypes, .date),
    ]
  }

  /// Returns the columns that the audit table needs, with its key first.
  package static func ofAuditTable(_ audit: Settings.Audit) -> [NeededColumn] {
    [
      Self("AuditRecord.auditRecordPrimaryKeyColumnName", audit.keyColumn, ["text"], .text),
      Self("AuditRecord.oldRecipientIdColumnName", audit.oldRecipientIdColumn, idTypes, .text),
      Self("AuditRecord.newRecipientIdColumnName", audit.newRecipientIdColumn, idTypes, .text),
      Self("AuditRecord.createDateColumnName", audit.dateColumn, dateTypes, .timestamp),
    ]
  }
}

/// A problem with the unique key of a list or table, and the setting that names the list, table or key.
package struct KeyObjection {
  package var setting: String
  package var reason: String

  /// Returns nil if the list accepts recipients with only a mobile user id.
  package init?(_ settings: IdentitySettings, listKey: [String]) {
    let others = listKey.filter { !$0.isIdentical(to: settings.recipient.mobileUserIdColumn) }
    if others.isEmpty { return nil }
    setting = "General.databaseListId"
    reason =
      "list \(settings.list) has the unique key \(listKey.map { "'\($0)'" }.joined(separator: ", ")), so it refuses a recipient "
      + "with only a mobile user id ('\(settings.recipient.mobileUserIdColumn)'); name a list without a unique key, or with that column alone as its key"
  }

  /// Returns nil if the table's key is exactly the configured key column.
  package init?(_ audit: Settings.Audit, tableKey: [String]) {
    if tableKey.isEmpty {
      setting = "AuditRecord.auditRecordListId"
      reason =
        "table \(audit.tableId) has no key, so a repeated row would be added twice; to create a table with a key, unset AuditRecord.auditRecordListId and run 'service prepare --audit-table'"
    } else if tableKey.count == 1, tableKey[0].isIdentical(to: audit.keyColumn) {
      return nil
    } else {
      setting = "AuditRecord.auditRecordPrimaryKeyColumnName"
      reason = "'\(audit.keyColumn)' is not the key of table \(audit.tableId)"
    }
  }
}

/// The types with which missing columns are created.
package enum NewColumnType: String {
  case text, date, timestamp

  /// The type's number in databases (reference identity 3.2).
  package var number: Int {
    switch self {
    case .text: 0
    case .date: 3
    case .timestamp: 17
    }
  }

  /// The type's name in relational tables.
  package var word: String {
    switch self {
    case .text: "TEXT"
    case .date: "DATE"
    case .timestamp: "DATE_TIME"
    }
  }
}
