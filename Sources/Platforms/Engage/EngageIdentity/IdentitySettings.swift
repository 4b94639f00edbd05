package import BatchFoundation

/// Everything the configuration says about identities (reference identity 5.1).
package struct IdentitySettings: Sendable {
  /// General.databaseListId
  package var list: String
  /// Recipient.enableAutoAnonymousTracking
  package var createsAnonymousUsers = true
  package var mobileUserIdColumn = "Mobile User Id"
  package var mergedRecipientIdColumn = "Merged Recipient Id"
  package var mergedDateColumn = "Merged Date"
  /// Writes the dates of marks and audit rows, in UTC.
  package var dateFormat: DatePattern
  /// Recipient.mergeHistoryInMarketingDatabase
  package var marksMerges = true
  /// Nil unless AuditRecord.mergeHistoryInAuditRecordTable is set.
  package var audit: AuditTable?
  package var knownToKnown = KnownCustomersRule.reassign
  package var sharedDevice = SharedDeviceRule.keep
  /// Recipients that a chain of earlier merges may have before it is refused.
  package var longestChain = 8
  /// Look-ups above which the list is exported once instead.
  package var bulkThreshold = 5000
  /// Checks of different devices that are worked on at once.
  package var concurrency = 4
  /// Nil with LocationServices.enabled = false: no last known location is written, nor are columns for it asked for.
  package var locations: LocationColumns? = LocationColumns()

  package init(list: String, dateFormat: DatePattern) {
    self.list = list
    self.dateFormat = dateFormat
  }
}

/// The relational table of merges and its columns.
package struct AuditTable: Sendable, Hashable {
  package var id: String
  package var keyColumn = "Audit Record Id"
  package var oldRecipientIdColumn = "Old Recipient Id"
  package var newRecipientIdColumn = "New Recipient Id"
  package var dateColumn = "Create Date"

  package init(id: String) { self.id = id }

  var columns: [String] { [keyColumn, oldRecipientIdColumn, newRecipientIdColumn, dateColumn] }
}

/// Columns that the last known location of a device goes to (reference events 5.4), on the recipient that the device has by then.
package struct LocationColumns: Sendable {
  package var address = "Last Location Address"
  package var time = "Last Location Address Time"
  /// Nil writes the instant as on the wire.
  package var timeFormat: DatePattern?

  package init() {}
}

/// Two known customers on one device (Recipient.knownToKnown).
package enum KnownCustomersRule: String, CaseIterable, Sendable {
  /// The device moves over to the other recipient; neither is marked.
  case reassign
  case merge
  /// Left to an operator.
  case hold
}

/// A customer nobody knows signs in on a device whose recipient has another customer's ids (Recipient.sharedDevice).
package enum SharedDeviceRule: String, CaseIterable, Sendable {
  case keep, replace
}
