import ArgumentParser
import BatchConfiguration
import BatchFoundation
import FoundationEssentials

/// The source of a command's configuration: a job, with the configuration files and settings it names, or such files.
struct ConfigSource<Name: JobNaming>: ParsableArguments {
  @OptionGroup var name: Name

  @Option(help: "A configuration file, without a job. Repeatable; later ones win.")
  var file: [String] = []

  @OptionGroup var given: JobChanges

  var job: String? { name.job }

  func validate() throws {
    if job != nil, !file.isEmpty { throw ValidationError("Give either a job or --file, not both.") }
    if given.profile != nil, job == nil { throw ValidationError("--profile goes with a job.") }
  }

  /// Reads everything and prints faults and warnings on stderr; faults end the command with their exit code.
  func load(asksService: Bool = true) throws -> (job: Job?, configuration: Configuration) {
    do {
      let loaded = try read(asksService: asksService)
      for warning in loaded.configuration.warnings { Streams.note(warning.description) }
      return loaded
    } catch {
      Streams.note(error.description)
      throw ExitCode(error.exit)
    }
  }

  /// Reads everything and prints nothing; `times` are the job's times that the command line changes.
  func read(
    _ times: WindowOptions? = nil, asksService: Bool = true
  ) throws(ConfigurationErrors) -> (job: Job?, configuration: Configuration) {
    let loader = JobSource.loader(asksService: asksService)
    let changes = times?.added(to: given.changes) ?? given.changes
    guard let job else { return (nil, try loader.load(files: file, changes)) }
    let loaded = try loader.load(job: job, changes)
    return (loaded.job, loaded.configuration)
  }
}

extension Streams {
  /// Prints text that may end with a line break.
  static func document(_ text: String) { data(text.last == "\n" ? String(text.dropLast()) : text) }
}

extension SettingOverride {
  /// Parses `Section.key=value`. Other text is a usage error; an unknown key is a configuration error later.
  @Sendable static func argument(_ text: String) throws(ValidationError) -> SettingOverride {
    if let override = SettingOverride(text) { return override }
    throw ValidationError("write the section, the key and the value, as in Upload.concurrency=4")
  }
}
