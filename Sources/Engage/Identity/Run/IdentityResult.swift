package import BatchConfiguration
package import BatchFoundation

/// The figures of a run's work on identities, named as in the summary (reference formats 4.1).
package struct IdentityFigures: Sendable, Equatable {
  /// The number of checks processed.
  package var checks = 0
  /// The number of recipients added for devices, including those that the service already had from another store.
  package var created = 0
  /// The number of changes of recipients without a merge: ids, a mobile user id, a location or an instruction.
  package var updated = 0
  package var merged = 0
  /// The number of cases that need a person: stopped plans, and people whose recipient was forgotten.
  package var conflicts = 0
  /// The number of set-ups, checks and merges that the service permanently refused or answered wrongly (reference
  /// decisions 36 and 37).
  package var refused = 0
  /// The number of checks in which a policy, such as `Recipient.sharedDevice` = `keep`, ruled out a change.
  package var decidedByPolicy = 0
  package var auditRows = 0
  /// The number of devices reassigned to another recipient without a merge.
  package var reassigned = 0
  /// The number of last known locations written.
  package var locations = 0
}

package struct IdentityResult: Sendable, Equatable {
  package var figures = IdentityFigures()
  /// The reason that not everything was finished: the work ended early, or calls of a device kept failing. Unfinished
  /// work stays in the store. Nil if all was processed.
  package var failure: RemoteFailure?
  /// The devices left to a later run while others continued, in the order found.
  package var waiting: [WaitingDevice] = []
  /// Further notes for whoever started the run.
  package var notes: [String] = []

  package init() {}
}

/// A device whose set-up or check is left to a later run.
package struct WaitingDevice: Sendable, Equatable {
  package var device: String
  /// The pending check; nil for the set-up or last known location.
  package var check: Int64?
  /// The repeated failure of its calls; nil if the device only waits for other pending work.
  package var failure: RemoteFailure?
}

/// The error that the service's lists do not match the configuration (exit code 78). Nothing was written.
package struct IdentityConfigurationError: RunError, Equatable, Sendable, CustomStringConvertible {
  package var problems: [String]

  package var exit: RunExit { .configuration }

  package var description: String { problems.map { "error: \($0)" }.joined(separator: "\n") }
}

/// The configuration of identities (reference identity 5.1).
package struct IdentitySettings: Sendable {
  /// The id of the list (`General.databaseListId`).
  package var list: String
  package var recipient: Settings.Recipient
  /// Nil unless `AuditRecord.mergeHistoryInAuditRecordTable` is set.
  package var audit: Settings.Audit?
  /// The maximum number of concurrent calls.
  package var concurrency: Int
  /// Nil if `LocationServices.enabled` is false: no last known locations are written, and their columns are not needed.
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
