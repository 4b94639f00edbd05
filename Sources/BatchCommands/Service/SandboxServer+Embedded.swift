import BatchFoundation
import BatchSandbox
import DeltaDNASandbox
import EngageSandbox

extension SandboxServer {
  /// The sandbox inside the process, for a job of any destination.
  ///
  /// - Parameter asOf: what its clock shows, so that events of the past are not too old when they arrive; nil for its own time.
  static func embedded(_ engage: EngageSandboxOptions, asOf: Instant? = nil) throws -> SandboxServer {
    var settings = engage.server
    if let asOf {
      settings.clock = .virtual(from: asOf)
      settings.restoresClock = false
    }
    return try start(settings, [EngageEndpoints(engage), DeltaDNAEndpoints()])
  }
}
