import BatchFoundation
import BatchPipeline
import BatchReport

/// The test results of a job.
struct JobTestReport {
  /// The job's name as on the command line.
  let job: String
  let results: [JobTestResult]

  init(_ job: String, results: [JobTestResult]) {
    self.job = job
    self.results = results
  }

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
            "name": .text($0.test.name), "file": .text($0.test.file), "line": .number($0.test.line),
            "passed": .flag($0.differences.isEmpty), "differences": .texts($0.differences),
          ]
        }),
      results.flatMap { result in
        let place = "\(result.test.file):\(result.test.line)"
        return [result.differences.isEmpty ? "  ok    \(result.test.name)" : "  FAIL  \(result.test.name) (\(place))"]
          + result.differences.map { "          \($0)" }
      } + ["  \(results.count) test\(results.count == 1 ? "" : "s"), \(failures) failed"])
    facts.add(
      "untouched", .array(untouched.map { ["kind": .text($0.kind.rawValue), "name": .text($0.name)] }),
      (untouched.isEmpty ? [] : ["  no test touches:"]) + untouched.map { "    \($0.kind.rawValue): \($0.name)" })
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
