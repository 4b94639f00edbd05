import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import FoundationEssentials

enum JobSource {
  /// - Parameter asksService: Whether the job's service is called, which needs its credentials.
  static func loader(_ now: Instant = .now, asksService: Bool = true) -> ConfigurationLoader {
    var loader = ConfigurationLoader(
      environment: ProcessInfo.processInfo.environment, currentDirectory: FileManager.default.currentDirectoryPath,
      destinations: Platforms.installed.all.map(\.name), now: now)
    loader.readsCredentials = asksService
    return loader
  }

  /// Reads a job for a run: for a missed window or, if `missed` is nil, for the window of the changes or the job. An
  /// invalid job yields a ``LoadedJob/refusal``, so that the run ends like any other: it has figures and, if there is a
  /// store, an entry in its history.
  static func loadForRun(
    _ path: String, _ changes: CommandLineChanges, _ places: JobPlaces, at now: Instant, asksService: Bool,
    for missed: MissedWindow? = nil
  ) throws -> LoadedJob {
    var changes = changes
    (changes.store, changes.report) = (places.store, places.report)
    if let missed {
      changes.asOf = missed.asOf ?? missed.to
      if missed.asOf == nil { (changes.from, changes.to) = (missed.from, missed.to) }
    }
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

  /// Reads a job, and prints its warnings.
  static func load(
    _ path: String, _ changes: CommandLineChanges, at now: Instant = .now, asksService: Bool = true
  ) throws -> LoadedJob {
    let loaded = try loader(now, asksService: asksService).load(job: path, changes)
    for warning in loaded.configuration.warnings { Streams.note(warning.description) }
    return loaded
  }
}

extension Job {
  /// Returns the known time of a run and its origin, in words.
  func knownTime(at now: Instant) -> String {
    let known = knownUntil(at: now)
    let reason = known != asOf ?? now ? "the end of the window" : asOf == nil ? "the time of the run" : "asOf"
    return "Known until: \(known.rfc3339) (\(reason), unless an earlier run has a later known time)"
  }

  /// Returns a line for the chosen profile, or for every profile, with the keys that it changes.
  func profileLines(all: Bool = false) -> [String] {
    profiles.filter { all || $0.name == profile }.map { each in
      let keys = each.keys.isEmpty ? "nothing" : each.keys.joined(separator: ", ")
      return "Profile \(each.name)\(each.name == profile ? "" : " (not chosen)"): changes \(keys)"
    }
  }

  /// The current values of the job's time-dependent parts, one line each; empty if there are none.
  var times: [String] {
    var lines: [String] = []
    if let relativeWindow { lines.append("Window: \(window.words) (\(relativeWindow.text))") }
    let all = inputs.events + inputs.notifications + inputs.deepLinks
    if all.contains(where: { $0.days != nil }) {
      let folder = FileManager.default.currentDirectoryPath
      lines += all.flatMap(\.patterns).map { "Input: \(PathText.shown($0, from: folder))" }
    }
    return lines
  }
}

/// The way in which a command names its job.
protocol JobNaming: ParsableArguments {
  /// The path of the job file; nil if none was named.
  var job: String? { get }
}

/// A job named by the argument or by `--job`.
struct JobName: JobNaming {
  @Argument(help: ArgumentHelp("The job file, JSON or property list.", valueName: "job"))
  var file: String?

  @Option(name: .customLong("job"), help: ArgumentHelp("The job file, instead of the argument.", valueName: "job"))
  var option: String?

  var job: String? { file ?? option }

  func validate() throws {
    if file != nil, option != nil {
      throw ValidationError("Give the job either as the argument or with --job, not both.")
    }
  }
}

/// A job named by `--job`, for a command whose argument is something else.
struct JobOption: JobNaming {
  @Option(help: "The job file, JSON or property list.")
  var job: String?
}
