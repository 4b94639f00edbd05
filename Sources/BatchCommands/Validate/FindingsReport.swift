import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport

/// The output format of `validate`.
enum FindingsFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json, junit
}

extension Findings {
  /// Returns the answer of `validate`, with the lines of each finding or of their causes.
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
      ? "; the first \(first.count) are shown"
      : !all && causes.count < total ? "; --all shows each" : ""
    func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
    return
      "\(count(total, "finding")): \(errors) quarantined, \(count(warnings, "warning"))\(shown)"
  }

  /// Returns a failure for each quarantined line; warnings are left out, as they are not failures.
  func junit(of job: String) -> JUnitDocument {
    let errors = first.filter { !$0.isWarning }
    return JUnitDocument(
      suite: job,
      cases: errors.isEmpty
        ? [JUnitDocument.Case(job, "every line is a record")]
        : errors.map { JUnitDocument.Case($0.file, "line \($0.line)", failure: $0.text, kind: $0.reason) })
  }
}
