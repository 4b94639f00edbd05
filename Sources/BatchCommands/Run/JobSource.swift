import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPlatform
import FoundationEssentials

/// Reads jobs for commands.
enum JobSource {
  /// - Parameter asksService: whether the job's service is asked, which takes its credentials.
  static func loader(_ now: Instant = .now, asksService: Bool = true) -> ConfigurationLoader {
    var loader = ConfigurationLoader(
      environment: ProcessInfo.processInfo.environment, currentDirectory: FileManager.default.currentDirectoryPath,
      destinations: Platforms.installed.all.map(\.name), now: now)
    loader.readsCredentials = asksService
    return loader
  }

  /// Reads a job; its faults are printed and end the command with their exit code.
  ///
  /// - Parameters:
  ///   - asksService: as above.
  ///   - refused: called with what is wrong.
  static func load(
    _ path: String, _ changes: CommandLineChanges, at now: Instant = .now, asksService: Bool = true,
    refused: (ConfigurationErrors) -> Void = { _ in }
  ) throws -> LoadedJob {
    do {
      let loaded = try loader(now, asksService: asksService).load(job: path, changes)
      for warning in loaded.configuration.warnings { Streams.note(warning.description) }
      return loaded
    } catch {
      Streams.note(error.description)
      refused(error)
      throw ExitCode(error.exit)
    }
  }
}
