import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a job: read its inputs, store its events, reconcile identities and send what is due.")

  @OptionGroup var named: JobWithSettings
  @OptionGroup(title: "Window") var window: WindowOptions
  @OptionGroup(title: "Window") var future: FutureOptions
  @OptionGroup(title: "Sending") var effect: EffectOptions
  @OptionGroup(title: "Inputs") var missing: MissingOptions
  @OptionGroup(title: "Inputs") var empty: EmptyOptions
  @OptionGroup(title: "Inputs") var limits: LimitOptions
  @OptionGroup(title: "Output") var places: JobPlaces
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Explanation") var explain: ExplainOptions
  @OptionGroup(title: "Explanation") var explanation: ExplanationFormat
  @OptionGroup(title: "Messages") var messages: MessageOptions

  func validate() throws {
    try explanation.check(explain)
    if effect.onlinePlan == "-", output.takesStdout {
      throw ValidationError("--online-plan cannot share stdout with another output.")
    }
  }

  func run() throws {
    let session = RunSession(
      output: output, messages: messages, limits: limits, explain: explain, explanations: explanation.format,
      usesSandbox: effect.sandbox, connects: effect.connects)
    try session.run { now, missed in
      let loaded = try JobSource.loadForRun(
        named.job, window.added(to: named.changes), places, at: now, asksService: !effect.sandbox, for: missed)
      var request = try RunRequest(loaded: loaded, of: .installed, mode: effect.mode, now: now)
      if effect.onlinePlan != nil || effect.plan != nil, loaded.refusal == nil, !request.job.identity {
        throw CommandError(
          .configuration, "\(named.job): error: 'identity' is not true, so there is nothing to plan")
      }
      request.allowsFuture = future.allowFuture
      request.allowsMissing = missing.allowMissing
      request.allowsEmpty = empty.allowEmpty
      request.planOut = effect.onlinePlan
      request.planFile = effect.plan
      return request
    }
  }
}

struct EffectOptions: ParsableArguments {
  @Flag(help: "Print the expected results; change nothing and, without --online-plan, do not call the service.")
  var dryRun = false

  @Flag(help: "Run against an in-process sandbox; no account is needed.")
  var sandbox = false

  @Flag(name: .customLong("no-upload"), help: "Stop once the events are in the store; send nothing.")
  var skipsUpload = false

  @Option(
    help: ArgumentHelp(
      "With --dry-run: read from the service, and write the recipients' fields that would change; - for stdout.",
      valueName: "file"))
  var onlinePlan: String?

  @Option(
    help: ArgumentHelp(
      "Make exactly the changes of this plan, or none if the inputs or the service have changed since.",
      valueName: "file"))
  var plan: String?

  func validate() throws {
    if onlinePlan != nil, !dryRun { throw ValidationError("--online-plan needs --dry-run.") }
    if plan != nil, dryRun || skipsUpload {
      throw ValidationError("--plan changes the service, so it cannot be combined with --dry-run or --no-upload.")
    }
  }

  var mode: RunMode {
    if dryRun { return .dryRun(sends: !skipsUpload) }
    return skipsUpload ? .noUpload : .run
  }

  /// Whether the service is called.
  var connects: Bool { onlinePlan != nil || !(dryRun || skipsUpload) }
}

struct ExplanationFormat: ParsableArguments {
  @Option(help: "The format of --explain: text or json.")
  var format: OutputFormat = .text

  func check(_ device: ExplainOptions) throws {
    if format == .json, device.explain == nil {
      throw ValidationError("--format needs --explain; --summary - prints the figures as JSON.")
    }
  }
}

/// `engage-batch post`: the counterpart of the SDKs' postEventCache.
struct PostCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Send everything pending in the store of a job, without reading its inputs.")

  @OptionGroup var named: JobWithSettings

  @Option(
    help: "The clock of the run, such as 2026-02-01T02:15:00Z. (default: the job's, else now)",
    transform: Instant.argument)
  var asOf: Instant?

  @OptionGroup var future: FutureOptions
  @OptionGroup(title: "Output") var places: JobPlaces
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Messages") var messages: MessageOptions

  @Flag(help: "Send to an in-process sandbox; no account is needed.")
  var sandbox = false

  func run() throws {
    try RunSession(output: output, messages: messages, usesSandbox: sandbox).run { now, _ in
      var changes = named.changes
      changes.asOf = asOf
      let loaded = try JobSource.loadForRun(named.job, changes, places, at: now, asksService: !sandbox)
      var request = try RunRequest(loaded: loaded, of: .installed, mode: .post, now: now)
      request.allowsFuture = future.allowFuture
      return request
    }
  }
}
