import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport

/// The output format of `validate`.
enum FindingsFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json, junit
}

/// The findings about inputs on stdout.
enum FindingsReport {
  /// Returns the text to print, with each finding or their causes; nil if there are no findings.
  static func text(_ findings: Findings, job: String, _ format: FindingsFormat, all: Bool) -> String? {
    switch format {
    case .text:
      findings.total == 0
        ? nil
        : (all ? findings.first.map(\.text) : findings.causes.map(\.text)).map(\.printable).joined(separator: "\n")
    case .json: document(findings, job: job).text()
    case .junit: String(junit(findings, job: job).text.dropLast())
    }
  }

  /// Returns the number of findings, and whether more exist than were printed.
  static func total(_ findings: Findings, all: Bool) -> String {
    guard findings.total > 0 else { return "no findings" }
    let shown =
      all && findings.first.count < findings.total
      ? "; the first \(findings.first.count) are shown"
      : !all && findings.causes.count < findings.total ? "; --all shows each" : ""
    func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
    return
      "\(count(findings.total, "finding")): \(findings.errors) quarantined, \(count(findings.warnings, "warning"))\(shown)"
  }

  private static func document(_ findings: Findings, job: String) -> JSONNode {
    [
      "job": .text(job), "total": .number(findings.total), "errors": .number(findings.errors),
      "warnings": .number(findings.warnings), "causes": .array(findings.causes.map(\.document)),
      "findings": .array(
        findings.first.map {
          [
            "severity": .text($0.severity.rawValue), "file": .text($0.file), "line": .number($0.line),
            "reason": .text($0.reason), "detail": .text($0.detail),
          ]
        }),
    ]
  }

  /// Returns a failure for each quarantined line; warnings are left out, as they are not failures.
  private static func junit(_ findings: Findings, job: String) -> JUnitDocument {
    let errors = findings.first.filter { $0.severity == .error }
    guard !errors.isEmpty else {
      return JUnitDocument(suite: job, cases: [JUnitDocument.Case(group: job, name: "every line is a record")])
    }
    return JUnitDocument(
      suite: job,
      cases: errors.map {
        JUnitDocument.Case(
          group: $0.file, name: "line \($0.line)",
          failure: JUnitDocument.Failure(message: $0.text, type: $0.reason))
      })
  }
}
