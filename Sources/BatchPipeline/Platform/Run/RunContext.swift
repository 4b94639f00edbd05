package import BatchConfiguration
package import BatchFoundation

/// What a run is about, as far as a platform has to know.
package struct RunContext: Sendable {
  package var job: Job
  package var settings: Settings
  package var mode: RunMode
  /// The clock of the run, by which the service's time is measured.
  package var asOf: Instant
  /// The time of day when the run began.
  package var now: Instant
  /// Where a sandbox inside the process listens that takes the place of the service; nil for the real one.
  package var sandboxAddress: String?
  /// Gets a line for each event that something is wrong with (`--findings-out`); nil if nobody asks for them.
  package var findings: OrderedLines?

  package init(
    job: Job, settings: Settings, mode: RunMode, asOf: Instant, now: Instant, sandboxAddress: String? = nil
  ) {
    self.job = job
    self.settings = settings
    self.mode = mode
    self.asOf = asOf
    self.now = now
    self.sandboxAddress = sandboxAddress
  }
}
