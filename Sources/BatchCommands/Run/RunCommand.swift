import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline

struct RunCommand: JobCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a job: read its inputs, store its events, reconcile identities and send what is due.")

  @OptionGroup var named: JobWithSettings
  @OptionGroup var window: WindowOptions
  @OptionGroup var places: JobPlaces
  @OptionGroup var output: OutputOptions
  @OptionGroup var explanation: ExplanationOptions

  @Flag(help: "Print the expected results; change nothing and, without --online-plan, open no connection.")
  var dryRun = false

  @OptionGroup var future: FutureOptions
  @OptionGroup var missing: MissingOptions
  @OptionGroup var empty: EmptyOptions

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
    try explanation.check(output)
    if onlinePlan != nil, !dryRun { throw ValidationError("--online-plan needs --dry-run.") }
    if plan != nil, dryRun || skipsUpload {
      throw ValidationError("--plan changes the service, so it cannot be combined with --dry-run or --no-upload.")
    }
    if onlinePlan == "-", output.eventsOut == "-" || output.summary == "-" {
      throw ValidationError("--online-plan cannot share stdout with --events-out or --summary.")
    }
  }

  private var mode: RunMode {
    if dryRun { return .dryRun(sends: !skipsUpload) }
    return skipsUpload ? .noUpload : .run
  }

  func run() throws {
    let connects = onlinePlan != nil || !(dryRun || skipsUpload)
    let session = RunSession(
      output: output, explanations: explanation.format, usesSandbox: sandbox, connects: connects)
    try session.run { now, missed in
      let loaded = try load(at: now, asksService: !sandbox, for: missed)
      var request = try RunRequest(loaded: loaded, of: .installed, mode: mode, now: now)
      if onlinePlan != nil || plan != nil, loaded.refusal == nil, !request.job.identity {
        Streams.note("\(named.job): error: 'identity' is not true, so there is nothing to plan")
        throw ExitCode(.configuration)
      }
      request.allowsFuture = future.allowFuture
      request.allowsMissing = missing.allowMissing
      request.allowsEmpty = empty.allowEmpty
      request.planOut = onlinePlan
      request.planFile = plan
      return request
    }
  }
}

/// `engage-batch post`: the counterpart of the SDKs' postEventCache.
struct PostCommand: JobCommand {
  static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Send everything pending in the store of a job, without reading its inputs.")

  @OptionGroup var named: JobWithSettings
  @OptionGroup var window: WindowOptions
  @OptionGroup var places: JobPlaces
  @OptionGroup var output: OutputOptions
  @OptionGroup var explanation: ExplanationOptions

  @OptionGroup var future: FutureOptions

  @Flag(help: "Send to an in-process sandbox; no account is needed.")
  var sandbox = false

  func validate() throws {
    try explanation.check(output)
    if window.from != nil || window.to != nil || output.explain != nil {
      throw ValidationError(
        "--from, --to and --explain apply to records; 'post' reads none and sends all pending events.")
    }
  }

  func run() throws {
    try RunSession(output: output, explanations: explanation.format, usesSandbox: sandbox).run { now, _ in
      let loaded = try load(at: now, asksService: !sandbox)
      var request = try RunRequest(loaded: loaded, of: .installed, mode: .post, now: now)
      request.allowsFuture = future.allowFuture
      return request
    }
  }
}
