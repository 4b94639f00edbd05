import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import FoundationEssentials

/// The reader of jobs for commands.
enum JobSource {
  /// - Parameter asksService: Whether the job's service is called, which needs its credentials.
  static func loader(_ now: Instant = .now, asksService: Bool = true) -> ConfigurationLoader {
    var loader = ConfigurationLoader(
      environment: ProcessInfo.processInfo.environment, currentDirectory: FileManager.default.currentDirectoryPath,
      destinations: Platforms.installed.all.map(\.name), now: now)
    loader.readsCredentials = asksService
    return loader
  }

  /// Reads a job for a run. An invalid job yields a refusal, so that the run ends like any other: with figures, and
  /// recorded if there is a store.
  static func loadForRun(
    _ path: String, _ changes: CommandLineChanges, at now: Instant, asksService: Bool
  ) throws -> LoadedJob {
    var loader = loader(now, asksService: asksService)
    do {
      let loaded = try loader.load(job: path, changes)
      for warning in loaded.configuration.warnings { Streams.note(warning.description) }
      return loaded
    } catch {
      let file = PathText.resolve(path, in: loader.currentDirectory)
      loader.environment = [:]
      var loaded = LoadedJob(
        job: error.job ?? Job(file: file, destination: loader.destinations[0]),
        configuration: try loader.load(files: []), changes: changes)
      loaded.refusal = error
      return loaded
    }
  }

  /// Reads a job; its faults are passed to `refused`, printed, and end the command with their exit code.
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
