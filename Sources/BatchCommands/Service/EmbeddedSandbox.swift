import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchSandbox
import FoundationEssentials

/// The sandbox inside the process, with the endpoints of every platform.
enum EmbeddedSandbox {
  /// - Parameters:
  ///   - store: beside which the sandbox keeps what it holds, so that a repeated run finds the same; nil for one that begins anew and
  ///     keeps nothing.
  ///   - asOf: what its clock shows, so that events of the past are not too old when they arrive; nil for its own time.
  static func start(
    _ settings: Settings, beside store: String? = nil, savesState: Bool = true, asOf: Instant? = nil
  ) throws -> SandboxServer {
    var server = SandboxSettings()
    if let store {
      server.stateFile = RunRequest.sandboxState(beside: store)
      // What is left of a store that was deleted is not part of a new one.
      server.loadsState = FileManager.default.fileExists(atPath: store)
      server.savesState = savesState
    }
    if let asOf {
      server.clock = .virtual(from: asOf)
      server.restoresClock = false
    }
    return try SandboxServer.start(
      server, InstalledPlatforms.all.map { try $0.sandbox(for: settings).make(in: server) })
  }

  /// The sandbox of a run, beside the run's store.
  static func start(for request: RunRequest) throws -> SandboxServer {
    let needsClock = InstalledPlatforms.of(request.platform)?.needsClockOfJob ?? false
    return try start(
      request.settings, beside: request.storePath, savesState: !request.mode.isDryRun,
      asOf: needsClock ? request.asOf : nil)
  }

  /// Ends it; what cannot be kept of it is told.
  static func stop(_ sandbox: SandboxServer?) {
    do {
      try sandbox?.stop()
    } catch {
      Streams.note("Sandbox: did not stop cleanly: \(error)")
    }
  }
}
