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

  /// The lines for people.
  var lines: [String] {
    var lines = [job]
    for result in results {
      let isPassed = result.differences.isEmpty
      lines.append(
        "  \(isPassed ? "ok  " : "FAIL")  \(result.test.name)\(isPassed ? "" : " (\(result.test.file):\(result.test.line))")"
      )
      lines += result.differences.map { "          \($0)" }
    }
    lines.append("  \(results.count) test\(results.count == 1 ? "" : "s"), \(failures) failed")
    let untouched = untouched
    if !untouched.isEmpty {
      lines.append("  no test touches:")
      lines += untouched.map { "    \($0.kind.rawValue): \($0.name)" }
    }
    return lines
  }

  static func document(_ reports: [JobTestReport]) -> JSONNode {
    .array(
      reports.map { report in
        [
          "job": .text(report.job), "failed": .number(report.failures),
          "tests": .array(
            report.results.map {
              [
                "name": .text($0.test.name), "file": .text($0.test.file), "line": .number($0.test.line),
                "passed": .flag($0.differences.isEmpty), "differences": .texts($0.differences),
              ]
            }),
          "untouched": .array(
            report.untouched.map { ["kind": .text($0.kind.rawValue), "name": .text($0.name)] }),
        ]
      })
  }

  static func junit(_ reports: [JobTestReport]) -> JUnitDocument {
    JUnitDocument(
      suite: "engage-batch test",
      cases: reports.flatMap { report in
        report.results.map { result in
          JUnitDocument.Case(
            group: report.job, name: result.test.name,
            failure: result.differences.first.map {
              JUnitDocument.Failure(
                message: $0, type: "difference", text: result.differences.dropFirst().joined(separator: "\n"))
            })
        }
      })
  }
}
