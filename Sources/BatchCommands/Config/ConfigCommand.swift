import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import FoundationEssentials

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show, explain and check the configuration of a job, or print its schema.",
    subcommands: [ConfigShowCommand.self, ConfigExplainCommand.self, ConfigCheckCommand.self, ConfigSchemaCommand.self])
}

struct ConfigShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print every setting as a run would see it; secrets are redacted.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json, plist
  }

  @OptionGroup var source: ConfigSource<JobName>

  @Option(help: "text, json or plist; the output in json or plist can be used as a configuration file.")
  var format: Format = .text

  func run() throws {
    let (job, configuration) = try source.load()
    if let job {
      for line in job.profileLines(all: true) + job.times + [job.knownTime(at: .now)] { Streams.note(line) }
      for map in MapDigest.all(of: job) { Streams.note("Map: \(map.name.printable) (content \(map.text))") }
    }
    switch format {
    case .text: Streams.data(configuration.lines.joined(separator: "\n"))
    case .json: Streams.data(configuration.document.text())
    case .plist: Streams.document(PropertyListText.of(configuration.document))
    }
  }
}

struct ConfigExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract:
      "Print the meaning of a setting and every layer that sets it, with file and line; the first layer wins.")

  @Argument(help: "Section.key or a key alone, in any accepted spelling; or a section for all its keys.")
  var key: String

  @OptionGroup var source: ConfigSource<JobOption>
  @OptionGroup var answer: AnswerOption

  func validate() throws {
    if let problem = SettingsSchema.current.problem(withName: key) { throw ValidationError(problem) }
  }

  func run() throws {
    let settings = try source.load().configuration.resolved(matching: key)
    switch answer.format {
    case .text: Streams.document(settings.map(\.explanation).joined(separator: "\n"))
    case .json where settings.count == 1:
      for setting in settings { Streams.data(setting.explanationDocument.text()) }
    case .json: Streams.data(JSONNode.array(settings.map(\.explanationDocument)).text())
    }
  }
}

struct ConfigSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print a JSON Schema of configuration files, for editors.")

  func run() throws { Streams.data(SettingsSchema.current.jsonSchema.text()) }
}

/// The source of a command's configuration: a job with its configuration and settings, or configuration files alone.
struct ConfigSource<Name: JobNaming>: ParsableArguments {
  @OptionGroup var name: Name

  @Option(help: "A configuration file, instead of a job. Repeatable; later ones win.")
  var file: [String] = []

  @OptionGroup var given: JobChanges

  var job: String? { name.job }

  func validate() throws {
    if job != nil, !file.isEmpty { throw ValidationError("Give either a job or --file, not both.") }
    if given.profile != nil, job == nil { throw ValidationError("--profile needs a job.") }
  }

  /// Reads everything and prints warnings.
  func load(asksService: Bool = true) throws -> (job: Job?, configuration: Configuration) {
    let loaded = try read(asksService: asksService)
    for warning in loaded.configuration.warnings { Streams.note(warning.description) }
    return loaded
  }

  /// Reads everything and prints nothing. `times` contains the changes to the job's times from the command line.
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
  /// Parses `Section.key=value`. Any other string is a usage error; an unknown key later becomes a configuration error.
  @Sendable static func argument(_ text: String) throws(ValidationError) -> SettingOverride {
    if let override = SettingOverride(text) { return override }
    throw ValidationError("write the section, the key and the value, as in Upload.concurrency=4")
  }
}
