import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import FoundationEssentials

struct TestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Run the tests of jobs, and exit with 65 if any of them fails.",
    discussion: """
      Each test processes its own records with the rules, routes and settings of the job; the job's inputs and store are not \
      touched, and nothing is sent. Rules and functions of the job that no test covers are listed at the end.
      """)

  @Argument(help: ArgumentHelp("The job files.", valueName: "job"))
  var files: [String] = []

  @Option(help: "A job file, instead of the arguments. Repeatable.")
  var job: [String] = []

  @OptionGroup var given: JobChanges
  @OptionGroup var answer: AnswerOption

  @Option(help: ArgumentHelp("Also write the results as JUnit XML; - for stdout.", valueName: "file"))
  var junit: String?

  func validate() throws {
    if (files + job).isEmpty { throw ValidationError("Give the job files, as arguments or with --job.") }
  }

  func run() throws {
    let named = try (files + job).map { job in (job, try JobSource.load(job, given.changes, asksService: false)) }
    if let junit {
      for (_, loaded) in named {
        try RunRequest(loaded: loaded, of: .installed, mode: .dryRun(sends: false), now: .now)
          .checkOutputs([FileUse("--junit", junit)])
      }
    }
    let reports = try named.map { job, loaded in try JobTestReport(job: job, results: results(of: job, loaded)) }
    if junit != "-" { answer.format.show(reports.map(\.facts)) }
    if let junit { try OutputFile.write(JobTestReport.junit(reports).text, to: junit) }
    guard reports.allSatisfy({ $0.failures == 0 }) else { throw ExitCode(.inputRefused) }
  }

  private func results(of job: String, _ loaded: LoadedJob) throws -> [JobTestResult] {
    guard !loaded.job.tests.isEmpty else {
      throw CommandError(
        .noInput, "\(job.printable): error: the job has no tests; list test files under 'tests' (docs/cookbook.md)")
    }
    let folder = FileManager.default.currentDirectoryPath
    let run = JobTestRun(.installed) { changes in
      var changes = changes
      (changes.settings, changes.profile) = (given.set + changes.settings, given.profile)
      // Problems with the job itself have already been reported.
      return try JobSource.loader(asksService: false).load(job: job, changes)
    }
    return try loaded.job.tests.flatMap { path in
      try JobTest.read(InputBytes.read(path), file: PathText.shown(path, from: folder)).map(run.run)
    }
  }
}

struct JobTestReport {
  /// The job as named on the command line.
  let job: String
  let results: [JobTestResult]

  var failures: Int { results.count { !$0.differences.isEmpty } }

  /// The rules and functions of the job that no test exercised.
  var untouched: [RuleCoverage] {
    guard var coverage = results.first?.coverage else { return [] }
    for result in results.dropFirst() {
      // A test's settings can switch rules off, but never reorder them.
      for index in coverage.indices {
        coverage[index].count +=
          result.coverage.first { $0.kind == coverage[index].kind && $0.name == coverage[index].name }?.count ?? 0
      }
    }
    return coverage.filter { $0.count == 0 }
  }

  var facts: Facts {
    let untouched = untouched
    var facts = Facts()
    facts.add("job", .text(job), job)
    facts.add("failed", .number(failures))
    facts.add(
      "tests",
      .array(
        results.map {
          [
            "name": .text($0.test.name), "file": .text($0.test.place.source), "line": .number($0.test.place.line),
            "passed": .flag($0.differences.isEmpty), "differences": .texts($0.differences),
          ]
        }),
      results.flatMap { result in
        let place = "\(result.test.place)"
        return [result.differences.isEmpty ? "  ok    \(result.test.name)" : "  FAIL  \(result.test.name) (\(place))"]
          + result.differences.map { "          \($0)" }
      } + ["  \(results.count) test\(results.count == 1 ? "" : "s"), \(failures) failed"])
    facts.add(
      "untouched", .array(untouched.map { ["kind": .text($0.kind.rawValue), "name": .text($0.name)] }),
      (untouched.isEmpty ? [] : ["  no test covers:"]) + untouched.map { "    \($0.kind.rawValue): \($0.name)" })
    return facts
  }

  static func junit(_ reports: [JobTestReport]) -> JUnitDocument {
    JUnitDocument(
      suite: "engage-batch test",
      cases: reports.flatMap { report in
        report.results.map { result in
          JUnitDocument.Case(
            report.job, result.test.name, failure: result.differences.first, kind: "difference",
            text: result.differences.dropFirst().joined(separator: "\n"))
        }
      })
  }
}
