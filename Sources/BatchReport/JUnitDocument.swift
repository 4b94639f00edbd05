import BatchFoundation

/// Results as JUnit XML, for build servers.
package struct JUnitDocument: Sendable {
  package struct Case: Sendable {
    /// The tested object, such as a file.
    var group: String
    var name: String
    /// Nil if the case passed.
    var failure: String?
    var kind: String
    /// Further lines; empty for none.
    var text: String

    package init(_ group: String, _ name: String, failure: String? = nil, kind: String = "", text: String = "") {
      (self.group, self.name, self.failure, self.kind, self.text) = (group, name, failure, kind, text)
    }
  }

  package var suite: String
  package var cases: [Case]
  package var seconds: Double

  package init(suite: String, cases: [Case], seconds: Double = 0) {
    self.suite = suite
    self.cases = cases
    self.seconds = seconds
  }

  /// The document, ending with a line feed.
  package var text: String {
    let escape = Markup.escaped
    let failures = cases.count { $0.failure != nil }
    let counts =
      "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" time=\"\(seconds.inSeconds.dropLast(2))\""
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites \(counts)>",
      "  <testsuite name=\"\(escape(suite))\" \(counts)>",
    ]
    for test in cases {
      let head = "    <testcase classname=\"\(escape(test.group))\" name=\"\(escape(test.name))\""
      guard let failure = test.failure else {
        lines.append(head + "/>")
        continue
      }
      let text = test.text.split(separator: "\n", omittingEmptySubsequences: false).map { escape(String($0)) }
      lines.append(head + ">")
      lines.append(
        "      <failure message=\"\(escape(failure))\" type=\"\(escape(test.kind))\">"
          + text.joined(separator: "\n") + "</failure>")
      lines.append("    </testcase>")
    }
    lines += ["  </testsuite>", "</testsuites>"]
    return lines.joined(separator: "\n") + "\n"
  }
}

/// The failures of a run as JUnit XML, for build servers and monitors.
package enum JUnitReport {
  /// Returns a document with a test case for the run, one for each quarantined line in the report, and one for each
  /// reason for which events are `FAILED_POST`.
  package static func document(_ report: RunReport) -> JUnitDocument {
    let ending = report.ending
    let words = report.failure.map { $0.split(separator: "\n").first.map(String.init) ?? ending } ?? ending
    var cases = [
      JUnitDocument.Case(
        report.job, "the run is done", failure: report.exit == .done ? nil : words,
        kind: "exit code \(report.exit.rawValue)", text: report.failure ?? "")
    ]
    let lines = report.orderedQuarantine
    if lines.isEmpty, report.summary.records.read > 0 {
      cases.append(JUnitDocument.Case(report.job, "every line is a record"))
    }
    cases += lines.map { line in
      JUnitDocument.Case(
        line.file, line.line == 0 ? "file" : "line \(line.line)",
        failure: line.reason.rawValue + (line.detail.isEmpty ? "" : ": \(line.detail)"), kind: line.reason.rawValue,
        text: line.reason.remedy)
    }
    let failed = report.unsent.filter { $0.status == "FAILED_POST" }
    cases += failed.map {
      JUnitDocument.Case(report.job, "the service accepts every event", failure: $0.words, kind: $0.status)
    }
    return JUnitDocument(suite: report.job, cases: cases, seconds: report.summary.durationSeconds)
  }
}
