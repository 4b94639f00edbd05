import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchSandbox
import FoundationEssentials

/// The sandbox inside the process, with the endpoints of every platform.
enum EmbeddedSandbox {
  /// Starts the sandbox.
  ///
  /// - Parameters:
  ///   - store: The store next to which state is kept, so that a repeated run finds it; nil to start empty and keep
  ///     nothing.
  ///   - asOf: The time on its clock, so that past events are not too old when they arrive; nil for the current time.
  static func start(
    _ settings: Settings, beside store: String? = nil, savesState: Bool = true, asOf: Instant? = nil
  ) throws -> SandboxServer {
    var server = SandboxSettings()
    if let store {
      server.stateFile = RunRequest.sandboxState(beside: store)
      // State left over from a deleted store does not belong to a new one.
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

  /// Starts the sandbox of a run, next to the run's store.
  static func start(for request: RunRequest) throws -> SandboxServer {
    let needsClock = InstalledPlatforms.of(request.platform)?.needsClockOfJob ?? false
    return try start(
      request.settings, beside: request.storePath, savesState: !request.mode.isDryRun,
      asOf: needsClock ? request.asOf : nil)
  }

  /// Stops the sandbox and reports state that cannot be saved.
  static func stop(_ sandbox: SandboxServer?) {
    do {
      try sandbox?.stop()
    } catch {
      Streams.note("Sandbox: did not stop cleanly: \(error)")
    }
  }
}
