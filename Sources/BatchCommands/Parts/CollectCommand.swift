import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import Glibc

/// The third step of a run in parts.
struct CollectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "collect",
    abstract: "Collect the results of 'decide' into the job's store, from which 'post' sends them.",
    discussion: """
      Parts and lines that are already in the store are skipped, so the command can be repeated. Partitions are collected in \
      chain order, each continuing the previous one. While parts are missing, the exit code is 66 and 'post' sends nothing.
      """)

  @Argument(help: ArgumentHelp("The job file, JSON or property list, unless --job names it.", valueName: "job"))
  var first: String

  @Argument(help: "Result folders of 'decide', all of one partition.")
  var results: [String] = []

  @Option(help: "The job file, instead of the argument.")
  var job: String?

  @OptionGroup var given: JobChanges
  @OptionGroup var window: WindowOptions
  @OptionGroup var places: JobPlaces

  @Flag(help: "Accept a partition that does not continue the last one; its devices begin without state.")
  var newChain = false

  @OptionGroup var empty: EmptyOptions

  @Option(help: ArgumentHelp("Write the events of the collected parts, one per line; - for stdout.", valueName: "file"))
  var eventsOut: String?

  @Option(help: ArgumentHelp("Write the figures as one JSON object; - for stdout.", valueName: "file"))
  var summary: String?

  func validate() throws {
    if job == nil, results.isEmpty {
      throw ValidationError("Give the job file, as the argument or with --job, and the result folders.")
    }
    if eventsOut == "-", summary == "-" {
      throw ValidationError("--events-out and --summary cannot both write to stdout.")
    }
  }

  func run() throws {
    let session = try PartSession()
    var changes = window.added(to: given.changes)
    (changes.store, changes.report) = (places.store, places.report)
    let loaded = try JobSource.load(job ?? first, changes, at: session.now)
    var request = try RunRequest(loaded: loaded, of: .installed, mode: .noUpload, now: session.now)
    request.eventsOut = eventsOut
    request.summaryOut = summary
    request.allowsEmpty = empty.allowEmpty
    let pipeline = session.pipeline(request)
    var outcome = try pipeline.collect(job == nil ? results : [first] + results, beginsChain: newChain)
    if let summary {
      outcome.attempt { outcome in
        try OutputFile.write(outcome.report.summaryJSON + "\n", to: summary, request.storage)
      }
      pipeline.noteEnd(&outcome)
    }
    let text = TextSummary(
      outcome.report, reportFolder: outcome.reportFolder)
    Streams.summary(
      text.lines, Log.End(exit: outcome.exit.rawValue, run: outcome.run, figures: outcome.report.summaryJSON))
    guard outcome.exit == .done else { throw ExitCode(outcome.exit) }
  }
}
