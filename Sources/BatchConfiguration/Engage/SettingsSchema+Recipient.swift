import BatchFoundation

/// The settings of identity (reference identity 5.1), with the policies that the SDKs leave undefined.
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
        "Date format of merges and audit rows, in UTC. iOS appended ` zzz`."),
      .flag(
        "mergeHistoryInMarketingDatabase", true, \.recipient.marksMergesInDatabase,
        "Whether a merge is marked on the recipient that is merged away."),
      .flag(
        "holdEventsUntilIdentified", false, \.recipient.holdsEventsUntilIdentified,
        "Whether the events of a device are held while its identity step is unfinished."),
      .choice(
        "consentRecords", ConsentRecords.ignore, \.recipient.consentRecords,
        "Whether `consent` records are ignored or applied: while `use` or `export` is false, nothing of the device is sent."
      ),
      .flag(
        "contactIdInHeader", false, \.recipient.sendsContactIdInHeader,
        "Whether events have the recipient id as `contactId` next to their attributes."),
      .number(
        "bulkThreshold", 5000, in: 1...1_000_000_000, unit: "look-ups", \.recipient.bulkThreshold,
        "Number of look-ups above which the list is exported into a local index and set-ups are imported as files."),
      .optionalText(
        "transferFolder", .folder, \.recipient.transferFolder,
        "Folder with the service's `upload/` and `download/`, for bulk look-ups and set-ups; without it, each is one call."
      ),
      .choice(
        "knownToKnown", KnownToKnownPolicy.reassign, \.recipient.knownToKnown,
        "What to do about two known customers on one device: move the device without marks, merge, or hold for an operator."
      ),
      .choice(
        "sharedDevice", SharedDevicePolicy.keep, \.recipient.sharedDevice,
        "What to do about another customer's ids on the device's recipient: keep them, or replace them as the SDKs did."
      ),
      .choice(
        "onNewUserId", NewUserPolicy.person, \.recipient.onNewUserId,
        "Meaning of another mobile user id on a device: another person with their own recipient, or a new name of the same person."
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
      .text("auditRecordListId", "", .any, \.audit.tableId, "Id of that table; required if rows are written."),
      .text(
        "auditRecordPrimaryKeyColumnName", "Audit Record Id", .name, \.audit.keyColumn, "Key column of the audit table."
      ),
      .unused(
        "auditRecordPrimaryKeyGeneratorClassName", "EngageDefaultUUIDGenerator", .text(.any),
        "Generator of audit keys. Every name selects the same one, with which a repeated row replaces itself."),
      .text(
        "oldRecipientIdColumnName", "Old Recipient Id", .name, \.audit.oldRecipientIdColumn,
        "Column with the recipient that was merged away."),
      .text(
        "newRecipientIdColumnName", "New Recipient Id", .name, \.audit.newRecipientIdColumn,
        "Column with the recipient that stays."),
      .text("createDateColumnName", "Create Date", .name, \.audit.dateColumn, "Column with the date of the merge."),
    ])
}

/// Settings of links and of the sandbox's recipients; the phones have no such settings.
extension SettingsSchema {
  static let deepLinksRows: [Setting] = rows(
    .deepLinks,
    [
      .list(
        "universalLinkDomains", [], of: .domain, \.deepLinks.universalLinkDomains,
        "Hosts whose `https` links are routed like links with the app's own scheme; `*.example.org` means all subdomains."
      ),
      .choice(
        "routeOrder", RouteOrderPolicy.literalFirst, \.deepLinks.routeOrder,
        "Which of several matching routes wins: literal parts before placeholders, or the first in the file."
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
