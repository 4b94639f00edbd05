package import BatchConfiguration
package import BatchFoundation

/// What one run is asked to do, beyond its job.
package struct RunRequest: Sendable {
  package var loaded: LoadedJob
  /// Opens no connection and changes nothing.
  package var isDryRun = false
  /// Stops when everything is in the store.
  package var skipsUpload = false
  /// Sends what the store holds without reading inputs.
  package var skipsInputs = false
  /// Anything set aside fails the run.
  package var isValidation = false
  /// Where a sandbox inside the process listens, which takes the place of the service; nil for the real one.
  package var sandboxAddress: String?
  /// Canonical events, one a line; "-" is stdout; nil writes none.
  package var eventsOut: String?
  /// Device whose rules are explained; nil for none.
  package var explain: String?
  /// Where a dry run writes what would change at the service, which it reads for that; "-" is stdout; nil asks nothing.
  package var planOut: String?
  /// A plan that the run carries out exactly; nil decides by what is found.
  package var planFile: String?
  /// More quarantined lines than this end the run with exit code 65; nil is without limit.
  package var maxQuarantine: Int?
  /// What ends the known time when the job does not say (contract section 1).
  package var now: Instant

  package init(loaded: LoadedJob, now: Instant) {
    self.loaded = loaded
    self.now = now
  }

  package var job: Job { loaded.job }
  package var settings: Settings { loaded.configuration.settings }
  package var asOf: Instant { job.asOf ?? now }

  /// Beside the job file and named after the job unless it says otherwise.
  package var storePath: String { job.store ?? "\(job.directory)/\(job.name).sqlite" }

  /// The sandbox takes any list, so a job that names none can run against it all the same.
  package mutating func nameSandboxList() {
    if settings.general.listId.isEmpty { loaded.configuration.settings.general.listId = "1" }
  }
}
