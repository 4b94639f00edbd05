import BatchConfiguration
import EngageIdentity

extension IdentitySettings {
  init(_ settings: Settings) {
    let recipient = settings.recipient
    self.init(list: settings.general.listId, dateFormat: recipient.mergedDateFormat)
    createsAnonymousUsers = recipient.createsAnonymousUsers
    mobileUserIdColumn = recipient.mobileUserIdColumn
    mergedRecipientIdColumn = recipient.mergedRecipientIdColumn
    mergedDateColumn = recipient.mergedDateColumn
    marksMerges = recipient.marksMergesInDatabase
    if settings.audit.isWritten {
      var table = AuditTable(id: settings.audit.tableId)
      table.keyColumn = settings.audit.keyColumn
      table.oldRecipientIdColumn = settings.audit.oldRecipientIdColumn
      table.newRecipientIdColumn = settings.audit.newRecipientIdColumn
      table.dateColumn = settings.audit.dateColumn
      audit = table
    }
    knownToKnown =
      switch recipient.knownToKnown {
      case .reassign: .reassign
      case .merge: .merge
      case .hold: .hold
      }
    sharedDevice = recipient.sharedDevice == .replace ? .replace : .keep
    longestChain = recipient.longestMergeChain
    bulkThreshold = recipient.bulkThreshold
    concurrency = settings.upload.concurrency
    guard settings.location.isEnabled else {
      locations = nil
      return
    }
    var columns = LocationColumns()
    columns.address = settings.location.addressColumn
    columns.time = settings.location.timeColumn
    columns.timeFormat = settings.location.dateFormat
    locations = columns
  }
}
