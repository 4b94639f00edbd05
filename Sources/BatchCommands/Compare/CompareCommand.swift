package import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchPlatform
import BatchReport

/// `engage-batch compare`: what a job would do otherwise with other settings.
package struct CompareCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Tell what would change with other settings: sessions, campaigns, events, identity, and example devices.",
    discussion: """
      The inputs of the job are decided twice, as if it had never run: as it is, and with the other settings. Nothing is kept or sent, \
      and the store is not touched.
      """)

  @OptionGroup var choice: JobChoice

  @Option(
    name: .customLong("with"),
    help: ArgumentHelp("A setting to try. Repeatable.", valueName: "Section.key=value"))
  var changes: [SettingOverride] = []

  @Option(help: ArgumentHelp("A configuration to try in place of the job's configuration files.", valueName: "file"))
  var against: String?

  @Option(help: ArgumentHelp("Also write the comparison as a page; - for stdout.", valueName: "file"))
  var html: String?

  @Option(help: "text or json.")
  var format: OutputFormat = .text

  package init() {}

  package func validate() throws {
    if changes.isEmpty, against == nil {
      throw ValidationError("Say what to compare with: --with Section.key=value, or --against CONFIG.")
    }
  }

  package func run() throws {
    let now = Instant.now
    let interruption = Interruption()
    try Signals.pass(to: interruption)
    let comparison = try Failures.reported {
      var options = choice.changes
      let before = try request(options, at: now)
      options.settings += changes
      options.configuration = against
      let after = try request(options, at: now)
      let monitor = TerminalMonitor(.auto)
      defer { monitor.finish() }
      return try Comparing(before, after, monitor: monitor, interruption: interruption).run()
    }
    if html != "-" {
      switch format {
      case .text: for line in ComparisonText.lines(comparison) { Streams.data(line.printable) }
      case .json: Streams.document(ComparisonText.json(comparison))
      }
    }
    if let html { try Failures.reported { try OutputFile.write(HTMLComparison().text(comparison), to: html) } }
  }

  private func request(_ options: CommandLineChanges, at now: Instant) throws -> RunRequest {
    try RunRequest(
      loaded: JobSource.load(choice.job, options, at: now), of: .installed, mode: .dryRun(sends: false), now: now)
  }
}
