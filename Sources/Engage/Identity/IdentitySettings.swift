package import BatchConfiguration

/// The configuration of identities (reference identity 5.1).
package struct IdentitySettings: Sendable {
  /// General.databaseListId
  package var list: String
  package var recipient: Settings.Recipient
  /// Nil unless AuditRecord.mergeHistoryInAuditRecordTable is set.
  package var audit: Settings.Audit?
  /// The number of devices whose checks are processed concurrently.
  package var concurrency: Int
  /// Nil with LocationServices.enabled = false: no last known location is written, and its columns are not requested.
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
