import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport

/// `engage-batch validate`: a dry run that fails if any line was quarantined, and lists the findings.
struct ValidateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate",
    abstract:
      "Check the configuration and every record without changing anything, and exit with 65 if any line would be quarantined.",
    discussion: """
      Findings in the inputs are printed to stdout by cause, each with the number of lines and the first line, unless another \
      output uses stdout. With --all, each finding is printed as file:line: reason: detail, ordered by file and line. Records \
      with warnings are accepted.
      """)

  @OptionGroup var named: JobWithSettings
  @OptionGroup(title: "Window") var window: WindowOptions
  @OptionGroup(title: "Inputs") var missing: MissingOptions
  @OptionGroup(title: "Inputs") var empty: EmptyOptions
  @OptionGroup(title: "Inputs") var limits: LimitOptions
  @OptionGroup(title: "Output") var places: JobPlaces
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Explanation") var explain: ExplainOptions
  @OptionGroup(title: "Messages") var messages: MessageOptions

  @Option(help: "The format of the findings: text, json or junit.")
  var format: FindingsFormat = .text

  @Flag(help: "Print each finding.")
  var all = false

  @Flag(help: "Validate as for runs with --sandbox, which use their own store and need no account.")
  var sandbox = false

  @Option(help: "Print at most this many findings with --all, json or junit; the total is printed to stderr.")
  var limit = 200

  func validate() throws {
    guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 1000000.") }
  }

  func run() throws {
    // Only one document goes to stdout.
    let isTaken = output.takesStdout || explain.explain != nil
    let session = RunSession(
      output: output, messages: messages, limits: limits, explain: explain,
      explanations: format == .json ? .json : .text, usesSandbox: sandbox, connects: false, namesLines: isTaken)
    try session.run { now, _ in
      let loaded = try JobSource.loadForRun(
        named.job, window.added(to: named.changes), places, at: now, asksService: false)
      var request = try RunRequest(loaded: loaded, of: .installed, mode: .dryRun(sends: true), now: now)
      request.refusesQuarantined = true
      request.allowsMissing = missing.allowMissing
      request.allowsEmpty = empty.allowEmpty
      request.findingLimit = limit
      return request
    } receive: { outcome in
      guard !isTaken else { return }
      let (findings, job) = (outcome.findings, outcome.report.job)
      switch format {
      case .text: OutputFormat.text.show(findings.facts(of: job, all: all))
      case .json: OutputFormat.json.show(findings.facts(of: job, all: all))
      case .junit: Streams.document(findings.junit(of: job).text)
      }
      if findings.total > 0 || outcome.exit == .done { Streams.note(findings.words(all: all)) }
    }
  }
}

enum FindingsFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json, junit
}

extension Findings {
  /// Returns the output of `validate`, with a line for each finding or, unless `all`, for each cause.
  func facts(of job: String, all: Bool) -> Facts {
    var facts: Facts = [
      "job": .text(job), "total": .number(total), "errors": .number(errors), "warnings": .number(warnings),
    ]
    facts.add("causes", .array(causes.map(\.document)), all ? [] : causes.map(\.text))
    facts.add(
      "findings",
      .array(
        first.map {
          [
            "severity": .text($0.severity), "file": .text($0.file), "line": .number($0.line),
            "reason": .text($0.reason), "detail": .text($0.detail),
          ]
        }), all ? first.map(\.text) : [])
    return facts
  }

  /// Returns the number of findings, and whether more exist than were printed.
  func words(all: Bool) -> String {
    guard total > 0 else { return "no findings" }
    let shown =
      all && first.count < total
      ? (first.count == 1 ? "; the first is shown" : "; the first \(first.count) are shown")
      : !all && causes.count < total ? "; --all shows each" : ""
    func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
    return
      "\(count(total, "finding")): \(errors) quarantined, \(count(warnings, "warning"))\(shown)"
  }

  /// Returns a document with a failure for each quarantined line; warnings are omitted, because they are not failures.
  func junit(of job: String) -> JUnitDocument {
    guard errors > 0 else {
      return JUnitDocument(suite: job, cases: [JUnitDocument.Case(job, "every line is a record")])
    }
    let shown = first.filter { !$0.isWarning }
    var cases = shown.map { JUnitDocument.Case($0.file, "line \($0.line)", failure: $0.text, kind: $0.reason) }
    if shown.count < errors {
      let rest =
        "\((errors - shown.count).counted("more line", "more lines")) would be quarantined; raise --limit"
      cases.append(JUnitDocument.Case(job, "other lines", failure: rest, kind: "limit"))
    }
    return JUnitDocument(suite: job, cases: cases)
  }
}
