package import BatchConfiguration

/// Everything the configuration says about identities (reference identity 5.1).
package struct IdentitySettings: Sendable {
  /// General.databaseListId
  package var list: String
  package var recipient: Settings.Recipient
  /// Nil unless AuditRecord.mergeHistoryInAuditRecordTable is set.
  package var audit: Settings.Audit?
  /// Checks of different devices that are worked on at once.
  package var concurrency: Int
  /// Nil with LocationServices.enabled = false: no last known location is written, nor are columns for it asked for.
  package var locations: Settings.Location?

  package init(_ settings: Settings) {
    list = settings.general.listId
    recipient = settings.recipient
    audit = settings.audit.isWritten ? settings.audit : nil
    concurrency = settings.upload.concurrency
    locations = settings.location.isEnabled ? settings.location : nil
  }
}

extension Settings.Audit {
  var columns: [String] { [keyColumn, oldRecipientIdColumn, newRecipientIdColumn, dateColumn] }
}
