package import BatchFoundation

/// Everything the configuration says about identities (reference identity 5.1).
package struct IdentitySettings: Sendable {
  /// General.databaseListId
  package var list: String
  /// Recipient.enableAutoAnonymousTracking
  package var createsAnonymousUsers: Bool
  package var mobileUserIdColumn: String
  package var mergedRecipientIdColumn: String
  package var mergedDateColumn: String
  /// Writes the dates of marks and audit rows, in UTC.
  package var dateFormat: DatePattern
  /// Recipient.mergeHistoryInMarketingDatabase
  package var marksMerges: Bool
  /// Nil unless AuditRecord.mergeHistoryInAuditRecordTable is set.
  package var audit: AuditTable?
  package var knownToKnown: KnownToKnownPolicy
  package var sharedDevice: SharedDevicePolicy
  /// Recipients that a chain of earlier merges may have before it is refused.
  package var longestChain: Int
  /// Look-ups above which the list is exported once instead.
  package var bulkThreshold: Int
  /// Checks of different devices that are worked on at once.
  package var concurrency: Int
  /// Nil with LocationServices.enabled = false: no last known location is written, nor are columns for it asked for.
  package var locations: LocationColumns?

  package init(
    list: String, createsAnonymousUsers: Bool, mobileUserIdColumn: String, mergedRecipientIdColumn: String,
    mergedDateColumn: String, dateFormat: DatePattern, marksMerges: Bool, audit: AuditTable?,
    knownToKnown: KnownToKnownPolicy, sharedDevice: SharedDevicePolicy, longestChain: Int, bulkThreshold: Int,
    concurrency: Int, locations: LocationColumns?
  ) {
    self.list = list
    self.createsAnonymousUsers = createsAnonymousUsers
    self.mobileUserIdColumn = mobileUserIdColumn
    self.mergedRecipientIdColumn = mergedRecipientIdColumn
    self.mergedDateColumn = mergedDateColumn
    self.dateFormat = dateFormat
    self.marksMerges = marksMerges
    self.audit = audit
    self.knownToKnown = knownToKnown
    self.sharedDevice = sharedDevice
    self.longestChain = longestChain
    self.bulkThreshold = bulkThreshold
    self.concurrency = concurrency
    self.locations = locations
  }
}

/// The relational table of merges and its columns.
package struct AuditTable: Sendable, Hashable {
  package var id: String
  package var keyColumn: String
  package var oldRecipientIdColumn: String
  package var newRecipientIdColumn: String
  package var dateColumn: String

  package init(
    id: String, keyColumn: String, oldRecipientIdColumn: String, newRecipientIdColumn: String, dateColumn: String
  ) {
    self.id = id
    self.keyColumn = keyColumn
    self.oldRecipientIdColumn = oldRecipientIdColumn
    self.newRecipientIdColumn = newRecipientIdColumn
    self.dateColumn = dateColumn
  }

  var columns: [String] { [keyColumn, oldRecipientIdColumn, newRecipientIdColumn, dateColumn] }
}

/// Columns that the last known location of a device goes to (reference events 5.4), on the recipient that the device has by then.
package struct LocationColumns: Sendable {
  package var address: String
  package var time: String
  /// Nil writes the instant as on the wire.
  package var timeFormat: DatePattern?

  package init(
    address: String, time: String, timeFormat: DatePattern?
  ) {
    self.address = address
    self.time = time
    self.timeFormat = timeFormat
  }
}
