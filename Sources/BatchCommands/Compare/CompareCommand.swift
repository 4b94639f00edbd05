import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport

struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Show how other settings would change sessions, campaigns, events and identity, with example devices.",
    discussion: """
      The inputs of the job are processed twice, as if the job had never run: once with its settings, once with the changed \
      ones. Nothing is stored or sent, and the store is not touched.
      """)

  @OptionGroup var named: JobWithSettings
  @OptionGroup var window: WindowOptions

  @Option(
    name: .customLong("with"),
    help: ArgumentHelp(
      "A setting to try, or another destination (destination=NAME). Repeatable.", valueName: "Section.key=value"))
  var changes: [TriedChange] = []

  @Option(help: ArgumentHelp("A configuration to try instead of the job's configuration files.", valueName: "file"))
  var against: String?

  @Option(help: ArgumentHelp("Also write the comparison as an HTML page; - for stdout.", valueName: "file"))
  var html: String?

  @OptionGroup var answer: AnswerOption

  func validate() throws {
    if changes.isEmpty, against == nil {
      throw ValidationError("Give the settings to compare with: --with Section.key=value or --against CONFIG.")
    }
  }

  func run() throws {
    let now = Instant.now
    let interruption = try Signals.interruption()
    var options = window.added(to: named.changes)
    let before = try request(options, at: now)
    options.settings += changes.compactMap(\.setting)
    options.configuration = against
    let after = try request(options, destination: changes.compactMap(\.destination).last, at: now)
    if let html { for request in [before, after] { try request.checkOutputs([FileUse("--html", html)]) } }
    let monitor = TerminalMonitor(.auto)
    defer { monitor.finish() }
    let pipelines = [before, after].map { Pipeline($0, monitor: monitor, interruption: interruption) }
    let comparison = try Comparing(pipelines[0], pipelines[1]).run()
    monitor.finish()
    if html != "-" { answer.format.show(comparison.facts) }
    if let html { try OutputFile.write(HTMLComparison.text(comparison), to: html) }
  }

  private func request(
    _ options: CommandLineChanges, destination: String? = nil, at now: Instant
  ) throws -> RunRequest {
    var loaded = try JobSource.load(named.job, options, at: now, asksService: false)
    loaded.job.destination = destination ?? loaded.job.destination
    return try RunRequest(loaded: loaded, of: .installed, mode: .dryRun(sends: false), now: now)
  }
}

/// A change to try with `--with`.
struct TriedChange: ExpressibleByArgument {
  private(set) var setting: SettingOverride?
  /// The name of a different destination; nil for a setting.
  private(set) var destination: String?

  init?(argument: String) {
    if argument.hasPrefix("destination=") {
      destination = String(argument.dropFirst("destination=".count))
      return
    }
    setting = SettingOverride(argument)
    setting?.option = "--with"
    if setting == nil { return nil }
  }
}
