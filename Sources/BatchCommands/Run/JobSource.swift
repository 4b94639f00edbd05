import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPlatform
import FoundationEssentials

/// Reads jobs for commands.
enum JobSource {
  static func loader(_ now: Instant = .now) -> ConfigurationLoader {
    ConfigurationLoader(
      environment: ProcessInfo.processInfo.environment, currentDirectory: FileManager.default.currentDirectoryPath,
      destinations: Platforms.installed.all.map(\.name), now: now)
  }

  /// Reads a job; its faults are printed and end the command with their exit code.
  static func load(_ path: String, _ changes: CommandLineChanges, at now: Instant = .now) throws -> LoadedJob {
    do {
      let loaded = try loader(now).load(job: path, changes)
      for warning in loaded.configuration.warnings { Streams.note(warning.description) }
      return loaded
    } catch {
      Streams.note(error.description)
      throw ExitCode(error.exit)
    }
  }
}
