package import BatchConfiguration
package import BatchFoundation
package import BatchStore

package struct RunContext: Sendable {
  package var job: Job
  package var settings: Settings
  package var mode: RunMode
  /// The clock of the run, by which the service's time is measured.
  package var asOf: Instant
  /// The time when the run began.
  package var now: Instant
  /// The address of a sandbox inside the process in place of the service; nil for the real one.
  package var sandboxAddress: String?
  /// Receives a line for each event with a fault (`--findings-out`); nil if not requested.
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
