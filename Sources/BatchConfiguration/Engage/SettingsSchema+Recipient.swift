import BatchFoundation

/// The settings of identity (reference identity 5.1), with the policies that the SDKs left undefined.
extension SettingsSchema {
  static let identityRows: [Setting] = [
    recipientRows, auditRecordRows,
  ].flatMap { $0 }

  private static let recipientRows: [Setting] = rows(
    .recipient,
    [
      .flag(
        "enableAutoAnonymousTracking", true, \.recipient.createsAnonymousUsers,
        "Whether a device without a mobile user id gets a generated one."),
      .unused(
        "mobileUserIdGeneratorClassName", "EngageDefaultUUIDGenerator", .text(.any),
        "Generator of mobile user ids. Every name selects the same one: a UUIDv5 of the device id, equal on every run and machine."
      ),
      .text(
        "mobileUserIdColumn", "Mobile User Id", .name, \.recipient.mobileUserIdColumn,
        "Column with the mobile user id."),
      .text(
        "mergedRecipientIdColumn", "Merged Recipient Id", .name, \.recipient.mergedRecipientIdColumn,
        "Column that names the recipient into which this one was merged."),
      .text(
        "mergedDateColumn", "Merged Date", .name, \.recipient.mergedDateColumn, "Column with the date of the merge."),
      .datePattern(
        "mergedDateFormat", "MM'/'dd'/'yyyy HH':'mm':'ss", \.recipient.mergedDateFormat,
        "How dates of merges and audit rows are written, in UTC. iOS appended ` zzz`."),
      .flag(
        "mergeHistoryInMarketingDatabase", true, \.recipient.marksMergesInDatabase,
        "Whether a merge is marked on the recipient that loses."),
      .flag(
        "holdEventsUntilIdentified", false, \.recipient.holdsEventsUntilIdentified,
        "Whether the events of a device wait while its identity step is unfinished."),
      .choice(
        "consentRecords", ConsentRecords.ignore, \.recipient.consentRecords,
        "Records `consent`: ignored, or applied: while `use` or `export` is false, nothing of the device goes out."),
      .flag(
        "contactIdInHeader", false, \.recipient.sendsContactIdInHeader,
        "Whether events carry the recipient id as `contactId` beside their attributes."),
      .number(
        "bulkThreshold", 5000, in: 1...1_000_000_000, unit: "look-ups", \.recipient.bulkThreshold,
        "Look-ups above which the list is exported into a local index and set-ups are imported as files."),
      .optionalText(
        "transferFolder", .folder, \.recipient.transferFolder,
        "Folder that holds the service's `upload/` and `download/`, for look-ups and set-ups in bulk; none makes one call each."
      ),
      .choice(
        "knownToKnown", KnownToKnownPolicy.reassign, \.recipient.knownToKnown,
        "Two known customers on one device: move the device without marks, merge, or hold for an operator."),
      .choice(
        "sharedDevice", SharedDevicePolicy.keep, \.recipient.sharedDevice,
        "Another customer's ids on the device's recipient: keep them, or replace them as the SDKs did."),
      .choice(
        "onNewUserId", NewUserPolicy.person, \.recipient.onNewUserId,
        "A device records another mobile user id: another person with a recipient of its own, or a new name of the same one."
      ),
      .number(
        "maxMergeChain", 8, in: 1...1000, unit: "recipients", \.recipient.longestMergeChain,
        "How far a chain of earlier merges is followed to its end."),
    ])

  private static let auditRecordRows: [Setting] = rows(
    .auditRecord,
    [
      .flag(
        "mergeHistoryInAuditRecordTable", false, \.audit.isWritten,
        "Whether each merge leaves a row in a relational table."),
      .text("auditRecordListId", "", .any, \.audit.tableId, "Id of that table; required when rows are written."),
      .text(
        "auditRecordPrimaryKeyColumnName", "Audit Record Id", .name, \.audit.keyColumn, "Key column of the audit table."
      ),
      .unused(
        "auditRecordPrimaryKeyGeneratorClassName", "EngageDefaultUUIDGenerator", .text(.any),
        "Generator of audit keys. Every name selects the same one, so that a repeated row replaces itself."),
      .text(
        "oldRecipientIdColumnName", "Old Recipient Id", .name, \.audit.oldRecipientIdColumn,
        "Column with the recipient that was merged away."),
      .text(
        "newRecipientIdColumnName", "New Recipient Id", .name, \.audit.newRecipientIdColumn,
        "Column with the recipient that stays."),
      .text("createDateColumnName", "Create Date", .name, \.audit.dateColumn, "Column with the date of the merge."),
    ])
}

/// Links, and the recipients of the sandbox; the phones had no such settings.
extension SettingsSchema {
  static let deepLinksRows: [Setting] = rows(
    .deepLinks,
    [
      .list(
        "universalLinkDomains", [], of: .domain, \.deepLinks.universalLinkDomains,
        "Hosts whose `https` links are routed like links of the app's own scheme; `*.example.org` stands for all below."
      ),
      .choice(
        "routeOrder", RouteOrderPolicy.literalFirst, \.deepLinks.routeOrder,
        "Which of several matching routes wins: the one with literal parts before placeholders, or the first in the file."
      ),
    ])

  static let sandboxRows: [Setting] = rows(
    .sandbox,
    [
      .optionalText(
        "recipients", .file, \.sandbox.recipients,
        "JSON file of the recipients that the sandbox of `--sandbox` starts with.")
    ])
}
