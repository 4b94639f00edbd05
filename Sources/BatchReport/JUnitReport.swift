import BatchFoundation

/// The failures of a run as JUnit XML, for build servers and monitors.
package enum JUnitReport {
  /// Returns cases for the run, for each quarantined line in the report, and for events refused by the service.
  package static func document(_ report: RunReport) -> JUnitDocument {
    let ending = report.ending
    let words = report.failure.map { $0.split(separator: "\n").first.map(String.init) ?? ending } ?? ending
    var cases = [
      JUnitDocument.Case(
        group: report.job, name: "the run is done",
        failure: report.exit == .done
          ? nil
          : JUnitDocument.Failure(
            message: words, type: "exit code \(report.exit.rawValue)", text: report.failure ?? ""))
    ]
    let lines = report.orderedQuarantine
    if lines.isEmpty, report.summary.records.read > 0 {
      cases.append(JUnitDocument.Case(group: report.job, name: "every line is a record"))
    }
    cases += lines.map { line in
      JUnitDocument.Case(
        group: line.file, name: line.line == 0 ? "file" : "line \(line.line)",
        failure: JUnitDocument.Failure(
          message: line.detail.isEmpty ? line.reason.rawValue : "\(line.reason.rawValue): \(line.detail)",
          type: line.reason.rawValue, text: line.reason.remedy))
    }
    let failed = report.unsent.filter { $0.status == "FAILED_POST" }
    cases += failed.map {
      JUnitDocument.Case(
        group: report.job, name: "every event is taken by the service",
        failure: JUnitDocument.Failure(message: $0.words, type: $0.status))
    }
    return JUnitDocument(suite: report.job, cases: cases, seconds: report.summary.durationSeconds)
  }
}
