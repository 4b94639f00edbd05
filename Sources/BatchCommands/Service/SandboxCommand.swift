import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchSandbox
import FoundationEssentials

struct SandboxCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sandbox",
    abstract: "Run a local server that imitates Engage, deltaDNA and Unity Analytics, until SIGINT or SIGTERM.",
    discussion:
      "The base URL is printed on stdout as soon as the server listens; docs/sandbox.md describes its behavior.")

  @Option(help: "The port on 127.0.0.1; 0 for a free one.")
  var port = 0

  @Option(help: ArgumentHelp("Keep the state in this file.", valueName: "file"))
  var state: String?

  @Option(help: ArgumentHelp("A JSON file of faults, switches and initial data (docs/sandbox.md).", valueName: "file"))
  var faults: String?

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
  }

  func run() throws {
    // Before the server's threads start; otherwise a signal would end the process.
    var signals = Signals.block()
    let server = try start()
    Streams.data(server.baseURL)
    _ = Signals.wait(for: &signals)
    try server.stop()
  }

  /// Throws at once if the state could never be saved there.
  private func requireRoom(for state: String) throws(OutputError) {
    _ = try OutputError.at(state) { () throws(SystemError) in try DraftFile(for: state) }
  }

  private func start() throws -> SandboxServer {
    var settings = SandboxSettings()
    settings.port = port
    settings.stateFile = state
    var parts = try InstalledPlatforms.all.map { try $0.sandbox(for: nil) }
    if let faults {
      try settings.read(faultFile: faults, endpoints: parts.flatMap(\.endpoints)) { fields in
        for index in parts.indices { parts[index].read(fields) }
      }
    }
    if let state {
      try FileUse.check(
        [FileUse("--state", state)], against: faults.map { [FileUse("--faults", $0)] } ?? [])
      try requireRoom(for: state)
    }
    do {
      return try SandboxServer.start(settings, parts.map { try $0.make(in: settings) })
    } catch let error as SandboxPortError {
      Streams.note("\(error)")
      throw ExitCode(.serviceUnavailable)
    }
  }
}

/// The sandbox inside the process, with the endpoints of every platform.
enum EmbeddedSandbox {
  /// - Parameters:
  ///   - store: The store next to which state is kept, so that a repeated run finds it; nil to start empty and keep
  ///     nothing.
  ///   - asOf: The time on the sandbox's clock, so that past events are not too old when they arrive; nil for the clock
  ///     in the saved state or, without a saved state, ``SandboxClock/defaultStart``.
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
      server.clock = SandboxClock(now: asOf)
      server.restoresClock = false
    }
    return try SandboxServer.start(
      server, InstalledPlatforms.all.map { try $0.sandbox(for: settings).make(in: server) })
  }

  static func start(for request: RunRequest) throws -> SandboxServer {
    // A service that drops events by their time uses its own clock.
    try start(
      request.settings, beside: request.storePath, savesState: !request.mode.isDryRun,
      asOf: request.window == nil ? nil : request.asOf)
  }

  /// Stops the sandbox and reports any error, such as a failure to save the state.
  static func stop(_ sandbox: SandboxServer?) {
    do {
      try sandbox?.stop()
    } catch {
      Streams.note("Sandbox: did not stop cleanly: \(error)")
    }
  }
}
