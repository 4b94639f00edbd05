package import BatchConfiguration
package import EngageIdentity

extension IdentitySettings {
  package init(_ settings: Settings) {
    let recipient = settings.recipient
    self.init(
      list: settings.general.listId, createsAnonymousUsers: recipient.createsAnonymousUsers,
      mobileUserIdColumn: recipient.mobileUserIdColumn, mergedRecipientIdColumn: recipient.mergedRecipientIdColumn,
      mergedDateColumn: recipient.mergedDateColumn, dateFormat: recipient.mergedDateFormat,
      marksMerges: recipient.marksMergesInDatabase,
      audit: settings.audit.isWritten ? AuditTable(settings.audit) : nil,
      knownToKnown: recipient.knownToKnown,
      sharedDevice: recipient.sharedDevice, longestChain: recipient.longestMergeChain,
      bulkThreshold: recipient.bulkThreshold, concurrency: settings.upload.concurrency,
      locations: settings.location.isEnabled ? LocationColumns(settings.location) : nil)
  }
}

extension AuditTable {
  package init(_ audit: Settings.Audit) {
    self.init(
      id: audit.tableId, keyColumn: audit.keyColumn, oldRecipientIdColumn: audit.oldRecipientIdColumn,
      newRecipientIdColumn: audit.newRecipientIdColumn, dateColumn: audit.dateColumn)
  }
}

extension LocationColumns {
  fileprivate init(_ location: Settings.Location) {
    self.init(address: location.addressColumn, time: location.timeColumn, timeFormat: location.dateFormat)
  }
}
