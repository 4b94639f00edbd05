import ArgumentParser

/// The way a command names its job.
protocol JobNaming: ParsableArguments {
  /// The path of the job file; nil if none was named.
  var job: String? { get }
}

/// A job named by the argument or by `--job`.
struct JobName: JobNaming {
  @Argument(help: ArgumentHelp("The job file, JSON or property list.", valueName: "job"))
  var file: String?

  @Option(name: .customLong("job"), help: ArgumentHelp("The job file, in place of the argument.", valueName: "job"))
  var option: String?

  var job: String? { file ?? option }

  func validate() throws {
    if file != nil, option != nil { throw ValidationError("Name one job, as the argument or with --job.") }
  }
}

/// A job named by `--job`, for a command whose argument is something else.
struct JobOption: JobNaming {
  @Option(help: "The job file, JSON or property list.")
  var job: String?
}
