import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import FoundationEssentials

extension Log.Format: ExpressibleByArgument {}

/// The changes to the job that every command accepts.
struct JobChanges: ParsableArguments {
  @Option(help: ArgumentHelp("The job's profile to apply.", valueName: "name"))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "A setting that overrides all files and the environment. Repeatable.", valueName: "Section.key=value"),
    transform: SettingOverride.argument)
  var set: [SettingOverride] = []

  var changes: CommandLineChanges { CommandLineChanges(settings: set, profile: profile) }
}

struct JobWithSettings: ParsableArguments {
  @OptionGroup var name: JobName
  @OptionGroup var given: JobChanges

  /// The path; `validate` ensures that there is one.
  var job: String { name.job ?? "" }

  var changes: CommandLineChanges { given.changes }

  func validate() throws {
    if name.job == nil { throw ValidationError("Give the job file, as the argument or with --job.") }
  }
}

/// A job with the store and the service that a command reads or changes.
struct StoredJob: ParsableArguments {
  @OptionGroup var named: JobWithSettings

  @Option(help: "The store. (default: the job's)")
  var store: String?

  @Flag(help: "Use the store and the service of runs with --sandbox; no account is needed.")
  var sandbox = false

  var changes: CommandLineChanges {
    var changes = named.changes
    changes.store = store
    return changes
  }

  /// Reads the job. Faults are printed and end the command with their exit code.
  func load(asksService: Bool = true) throws -> LoadedJob {
    try JobSource.load(named.job, changes, asksService: asksService && !sandbox)
  }

  func request(_ mode: RunMode, _ loaded: LoadedJob) throws -> RunRequest {
    var request = try RunRequest(loaded: loaded, of: .installed, mode: mode, now: .now)
    if sandbox { request.useSandbox() }
    return request
  }
}

struct WindowOptions: ParsableArguments {
  @Option(
    help: "Start of the window, such as 2026-01-31 or 'yesterday'; records before it are skipped.",
    transform: Instant.argument)
  var from: Instant?

  @Option(
    help: "End of the window, such as 2026-02-01 or 'today'; records at or after it are skipped.",
    transform: Instant.argument)
  var to: Instant?

  @Option(
    help:
      "The clock of the run, such as 2026-02-01T02:15:00Z; inactivity counts up to this time, or up to the end of the window if that is earlier. (default: the job's, else now)",
    transform: Instant.argument)
  var asOf: Instant?

  /// - Parameter changes: The other changes from the command line.
  func added(to changes: CommandLineChanges) -> CommandLineChanges {
    var changes = changes
    (changes.from, changes.to, changes.asOf) = (from, to, asOf)
    return changes
  }
}

struct MissingOptions: ParsableArguments {
  @Flag(help: "Continue even if inputs that the job requires are missing or have too few records.")
  var allowMissing = false
}

struct EmptyOptions: ParsableArguments {
  @Flag(help: "Continue even if lines were read but none of them is usable.")
  var allowEmpty = false
}

struct FutureOptions: ParsableArguments {
  @Flag(help: "Allow an asOf more than a day ahead of the machine's clock.")
  var allowFuture = false
}

struct JobPlaces: ParsableArguments {
  @Option(help: "The store. (default: the job's)")
  var store: String?

  @Option(help: "The folder for reports. (default: the job's)")
  var report: String?
}

struct OutputOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write the events, one per line; - for stdout.", valueName: "file"))
  var eventsOut: String?

  @Option(
    help: ArgumentHelp("Write the findings, one line per event; - for stdout.", valueName: "file"))
  var findingsOut: String?

  @Option(
    help: ArgumentHelp("Write the answers from Engage, one line per question; - for stdout.", valueName: "file"))
  var decisionsOut: String?

  @Option(help: ArgumentHelp("Write the figures as one JSON object; - for stdout.", valueName: "file"))
  var summary: String?

  @Option(
    help: ArgumentHelp(
      "Write the figures for Prometheus, even if the run fails, replacing the previous ones.", valueName: "file"))
  var metrics: String?

  @Option(
    help: ArgumentHelp(
      "Write a trace and the figures for OpenTelemetry, as two lines of OTLP JSON, replacing the previous ones.",
      valueName: "file"))
  var otlp: String?

  @Option(
    help: ArgumentHelp(
      "Write the result as JUnit XML, with a failure for each quarantined line.", valueName: "file"))
  var junit: String?

  func validate() throws {
    if [eventsOut, summary, findingsOut, decisionsOut].count(where: { $0 == "-" }) > 1 {
      throw ValidationError(
        "Only one of --events-out, --findings-out, --decisions-out and --summary can write to stdout.")
    }
  }

  var takesStdout: Bool { [eventsOut, summary, findingsOut, decisionsOut].contains("-") }
}

/// The limits beyond which a run ends with 65.
struct LimitOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Exit with 65 if more lines than this are quarantined.", valueName: "lines"))
  var maxQuarantine: Int?

  @Flag(help: "With --max-quarantine: stop reading as soon as the limit is exceeded, and process nothing.")
  var stopEarly = false

  enum FailOn: String, ExpressibleByArgument, CaseIterable { case unusual }

  @Option(
    help: "Exit with 65 before anything is sent, if a figure is 'unusual' for the job (Report.usualRuns).")
  var failOn: FailOn?

  func validate() throws {
    if stopEarly, maxQuarantine == nil { throw ValidationError("--stop-early needs --max-quarantine.") }
    if let maxQuarantine, maxQuarantine < 0 { throw ValidationError("--max-quarantine must be 0 or more.") }
  }
}

struct MessageOptions: ParsableArguments {
  enum Progress: String, ExpressibleByArgument, CaseIterable { case auto, plain, none }

  @Flag(help: "Print nothing on stderr if the exit code is 0, and everything otherwise.")
  var quiet = false

  @Option(help: "How to show progress: auto, plain or none.")
  var progress: Progress = .auto

  @Option(help: "text, or json: one object per line, with time, level and message.")
  var logFormat: Log.Format = .text

  @Flag(help: "Start each line on stderr with the UTC time.")
  var logTimes = false

  var log: Log { Log(format: logFormat, hasTimes: logTimes, isHeld: quiet) }
}

struct ExplainOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Explain the effects of the rules on this device; @FILE reads the id from a file.", valueName: "device-id"))
  var explain: String?

  func validate() throws {
    if explain == "@" { throw ValidationError("--explain @FILE needs a file name.") }
  }

  var files: [FileUse] { NamedIDs.files(of: explain.map { [$0] } ?? []) }

  /// Returns the device to explain: the id, or the first line of the named file.
  ///
  /// - Throws: ``CommandError``.
  func device() throws -> String? {
    try explain.map { try NamedIDs.ids(of: $0).first ?? "" }
  }
}
