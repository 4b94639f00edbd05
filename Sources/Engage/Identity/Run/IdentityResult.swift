package import BatchConfiguration
package import BatchFoundation
package import BatchReport

package struct IdentityResult: Sendable, Equatable {
  package var figures = RunSummary.Identity()
  /// The number of devices reassigned to another recipient without a merge.
  package var reassigned = 0
  /// The number of last known locations written.
  package var locations = 0
  /// The reason why not everything was finished: the work ended early, or a device's calls kept failing. Unfinished
  /// work stays in the store. Nil if everything was processed.
  package var failure: RemoteFailure?
  /// The devices left to a later run while others continued, in the order in which they were found.
  package var waiting: [WaitingDevice] = []
  /// Further notes for whoever started the run.
  package var notes: [String] = []
}

/// A device whose set-up or check is left to a later run.
package struct WaitingDevice: Sendable, Equatable {
  package var device: String
  /// The pending check; nil for the set-up or last known location.
  package var check: Int64?
  /// The repeated failure of its calls; nil if the device only waits for other pending work.
  package var failure: RemoteFailure?
}

/// The error thrown when the service's lists do not match the configuration (exit code 78). Nothing was written.
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
  /// The audit table; nil unless `AuditRecord.mergeHistoryInAuditRecordTable` is set.
  package var audit: Settings.Audit?
  /// The maximum number of concurrent calls.
  package var concurrency: Int
  /// The settings for last known locations; nil if `LocationServices.enabled` is false, so that none are written.
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
