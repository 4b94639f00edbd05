import BatchFoundation

/// The settings for identity (reference identity 5.1), with the policies that the SDKs leave undefined.
extension SettingsSchema {
  static let recipientRows = rows(
    .recipient,
    .flag(
      "enableAutoAnonymousTracking", true, \.recipient.createsAnonymousUsers,
      "Whether a device without a mobile user id gets a generated one."),
    .unused(
      "mobileUserIdGeneratorClassName", "EngageDefaultUUIDGenerator", .text(.any),
      "Generator of mobile user ids. Every name selects the same generator: a UUIDv5 of the device id, the same in every run and on every machine."
    ),
    .text(
      "mobileUserIdColumn", "Mobile User Id", .name, \.recipient.mobileUserIdColumn,
      "Column that contains the mobile user id."),
    .text(
      "mergedRecipientIdColumn", "Merged Recipient Id", .name, \.recipient.mergedRecipientIdColumn,
      "Column that contains the id of the recipient into which this one was merged."),
    .text(
      "mergedDateColumn", "Merged Date", .name, \.recipient.mergedDateColumn,
      "Column that contains the date of the merge."),
    .datePattern(
      "mergedDateFormat", "MM'/'dd'/'yyyy HH':'mm':'ss", \.recipient.mergedDateFormat,
      "Date format, in UTC, for the dates of merges and audit rows. The iOS SDK's format also ended with the time zone, ` zzz`."
    ),
    .flag(
      "mergeHistoryInMarketingDatabase", true, \.recipient.marksMergesInDatabase,
      "Whether a merge is marked on the recipient that was merged into another one."),
    .flag(
      "holdEventsUntilIdentified", false, \.recipient.holdsEventsUntilIdentified,
      "Whether the events of a device are held while its set-up, an identity check or a merge is unfinished."),
    .choice(
      "consentRecords", ConsentRecords.ignore, \.recipient.consentRecords,
      "Whether `consent` records are ignored or applied; if applied, nothing from the device is sent while `use` or `export` is false."
    ),
    .flag(
      "contactIdInHeader", false, \.recipient.sendsContactIdInHeader,
      "Whether events contain the recipient id as `contactId`, next to their attributes."),
    .number(
      "bulkThreshold", 5000, in: 1...1_000_000_000, unit: "look-ups", \.recipient.bulkThreshold,
      "Number of look-ups above which the list is exported into a local index and set-ups are imported as files."),
    .optionalText(
      "transferFolder", .folder, \.recipient.transferFolder,
      "Folder that contains the service's `upload/` and `download/`, for bulk look-ups and set-ups; without this folder, each look-up or set-up is a separate call."
    ),
    .choice(
      "knownToKnown", KnownToKnownPolicy.reassign, \.recipient.knownToKnown,
      "Handling of two known customers on one device: move the device without merge marks, merge the recipients, or hold the plan for an operator."
    ),
    .choice(
      "sharedDevice", SharedDevicePolicy.keep, \.recipient.sharedDevice,
      "Handling of another customer's ids on the device's recipient: keep these ids, or replace them as the SDKs did."
    ),
    .choice(
      "onNewUserId", NewUserPolicy.person, \.recipient.onNewUserId,
      "Meaning of another mobile user id on a device: another person with a separate recipient, or a new id of the same person."
    ),
    .number(
      "maxMergeChain", 8, in: 1...1000, unit: "recipients", \.recipient.longestMergeChain,
      "Maximum length of a chain of earlier merges that is followed to its end."))

  static let auditRecordRows = rows(
    .auditRecord,
    .flag(
      "mergeHistoryInAuditRecordTable", false, \.audit.isWritten,
      "Whether each merge is recorded as a row of a relational table."),
    .text(
      "auditRecordListId", "", .any, \.audit.tableId,
      "Id of the relational table for merges; required if `AuditRecord.mergeHistoryInAuditRecordTable` is true."),
    .text(
      "auditRecordPrimaryKeyColumnName", "Audit Record Id", .name, \.audit.keyColumn, "Key column of the audit table."
    ),
    .unused(
      "auditRecordPrimaryKeyGeneratorClassName", "EngageDefaultUUIDGenerator", .text(.any),
      "Generator of audit keys. Every name selects the same generator, whose keys make a repeated row replace the earlier one."
    ),
    .text(
      "oldRecipientIdColumnName", "Old Recipient Id", .name, \.audit.oldRecipientIdColumn,
      "Column that contains the id of the recipient that was merged into another one."),
    .text(
      "newRecipientIdColumnName", "New Recipient Id", .name, \.audit.newRecipientIdColumn,
      "Column that contains the id of the recipient that was kept."),
    .text(
      "createDateColumnName", "Create Date", .name, \.audit.dateColumn, "Column that contains the date of the merge."))
}

/// Settings for links and for the sandbox's recipients; phones have no such settings.
extension SettingsSchema {
  static let deepLinksRows = rows(
    .deepLinks,
    .list(
      "universalLinkDomains", of: .domain, \.deepLinks.universalLinkDomains,
      "Hosts whose `https` links are routed like links with the app's own scheme; `*.example.org` means all subdomains."
    ),
    .choice(
      "routeOrder", RouteOrderPolicy.literalFirst, \.deepLinks.routeOrder,
      "Which of several matching routes wins: literal parts before placeholders, or the first in the file."
    ))

  static let sandboxRows = rows(
    .sandbox,
    .optionalText(
      "recipients", .file, \.sandbox.recipients,
      "JSON file with the initial recipients of the sandbox that `--sandbox` starts."))
}
