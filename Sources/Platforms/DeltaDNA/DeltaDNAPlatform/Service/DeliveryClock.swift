import BatchConfiguration
import BatchFoundation
package import BatchPlatform
import BatchReport

/// A service that drops events by its own clock, beside the `asOf` of a run.
package enum DeliveryClock {
  /// Tells once that the two are far apart, where they are (reference deltadna 5).
  ///
  /// - Parameter service: as people know it.
  package static func warn(_ context: RunContext, _ service: String, _ stage: inout ServiceStage) {
    guard let asOf = context.job.asOf, abs(asOf.milliseconds - context.now.milliseconds) > 3_600_000 else { return }
    let warning =
      "asOf is more than an hour off the clock, by which \(service) drops events"
      + (context.sandboxAddress == nil ? "" : "; the sandbox goes by asOf")
    stage.report.notes.append(warning)
    stage.note("warning: \(warning)")
  }
}
