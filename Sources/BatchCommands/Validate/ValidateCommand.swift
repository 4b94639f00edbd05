import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport

/// `engage-batch validate`: a dry run that fails if any line was quarantined, and lists the findings.
struct ValidateCommand: JobCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate",
    abstract: "Read and decide everything, change nothing, and exit with 65 if any line was quarantined.",
    discussion: """
      What is wrong with the inputs is printed on stdout by its cause, with the number of lines and the first of them, unless stdout \
      is taken by another output; with --all as file:line: reason: detail, by file and line. Warnings are about records that count all \
      the same.
      """)

  @OptionGroup var named: JobWithSettings
  @OptionGroup var window: WindowOptions
  @OptionGroup var places: JobPlaces
  @OptionGroup var output: OutputOptions
  @OptionGroup var missing: MissingOptions
  @OptionGroup var empty: EmptyOptions

  @Option(help: "How findings are printed: text, json or junit.")
  var format: FindingsFormat = .text

  @Flag(help: "Print each finding.")
  var all = false

  @Flag(help: "Validate for a run with --sandbox: its store, and no account.")
  var sandbox = false

  @Option(help: "Print at most this many findings with --all; stderr has the total.")
  var limit = 200

  func validate() throws {
    guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit takes a number from 1 to 1000000.") }
  }

  func run() throws {
    // Only one document goes to stdout.
    let isTaken = output.takesStdout || output.explain != nil
    let session = RunSession(
      output: output, explanations: format == .json ? .json : .text, usesSandbox: sandbox, connects: false,
      namesLines: isTaken)
    try session.run { now, _ in
      let loaded = try load(at: now, asksService: false)
      var request = try RunRequest(loaded: loaded, of: .installed, mode: .dryRun(sends: true), now: now)
      request.refusesQuarantined = true
      request.allowsMissing = missing.allowMissing
      request.allowsEmpty = empty.allowEmpty
      request.findingLimit = limit
      return request
    } tell: { outcome in
      guard !isTaken else { return }
      let (findings, job) = (outcome.findings, outcome.report.job)
      switch format {
      case .text: OutputFormat.text.tell(findings.facts(of: job, all: all))
      case .json: OutputFormat.json.tell(findings.facts(of: job, all: all))
      case .junit: Streams.document(findings.junit(of: job).text)
      }
      if findings.total > 0 || outcome.exit == .done { Streams.note(findings.words(all: all)) }
    }
  }
}
