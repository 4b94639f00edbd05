package import BatchFoundation

/// What a run did about identities, in the terms of the summary (reference formats 4.1).
package struct IdentityFigures: Sendable, Equatable {
  /// Checks that were worked on.
  package var checks = 0
  /// Recipients that were added for devices. One that only the service knew, from another store, counts too.
  package var created = 0
  /// Recipients that got ids or a mobile user id without a merge.
  package var updated = 0
  package var merged = 0
  /// What waits for a person: plans that stopped, and devices whose recipient was forgotten.
  package var conflicts = 0
  /// Set-ups, checks and merges that the service refuses for good, or answers wrongly (reference decisions 36 and 37).
  package var refused = 0
  /// Checks that a policy decided against a change, such as `Recipient.sharedDevice` = `keep`: nothing waits.
  package var decidedByPolicy = 0
  package var auditRows = 0
  /// Devices that moved over to another recipient without a merge.
  package var reassigned = 0
  /// Last known locations that were written.
  package var locations = 0
}

package struct IdentityResult: Sendable, Equatable {
  package var figures = IdentityFigures()
  /// Why not everything was finished: the work ended early, or the calls of a device kept failing. What is unfinished stays in
  /// the store. Nil when all was worked on.
  package var failure: RemoteFailure?
  /// Devices whose work was left to a later run while others went on, in the order in which that was found.
  package var waiting: [WaitingDevice] = []
  /// What else whoever started the run should know.
  package var notes: [String] = []

  package init() {}
}

/// A device whose set-up or check is left to a later run.
package struct WaitingDevice: Sendable, Equatable {
  package var device: String
  /// Its check that waits; nil for its set-up or last known place.
  package var check: Int64?
  /// What its calls kept failing with; nil for one that only comes after another that waits.
  package var failure: RemoteFailure?
}

/// The lists of the service do not have what the configuration says (exit code 78). Nothing was written.
package struct IdentityConfigurationError: RunError, Equatable, Sendable, CustomStringConvertible {
  package var problems: [String]

  package var exit: RunExit { .configuration }

  package var description: String { problems.map { "error: \($0)" }.joined(separator: "\n") }
}
