import ArgumentParser
import BatchFoundation
import BatchReport
import BatchStore

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Show the report of an earlier run from its store.",
    discussion: "Without --run, shows the report of the last run that has one; 'engage-batch history' lists the runs.")

  enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, html, junit }

  @OptionGroup var choice: StoreChoice<JobName>

  @Option(name: .customLong("run"), help: "The number of the run.")
  var number: Int64?

  @Option(help: ArgumentHelp("Write the report to a new subfolder of this folder, as a run does.", valueName: "folder"))
  var report: String?

  @Option(help: "The format on stdout without --report: text, json, html or junit.")
  var format: Format = .text

  func validate() throws {
    if report.flatMap({ RemoteAddress($0) }) != nil { throw ValidationError("--report must be a local folder.") }
  }

  func run() throws {
    try choice.reading { store, _ in
      let report = try kept(in: store)
      if let folder = self.report {
        Streams.data(try ReportFolder.write(report, below: folder) + "/report.html")
        return
      }
      switch format {
      case .text: Streams.data(TextSummary(report).lines.joined(separator: "\n"))
      case .json: Streams.document(JSONReport.text(report))
      case .junit: Streams.document(JUnitReport.document(report).text)
      case .html: Streams.document(HTMLReport.text(report))
      }
    }
  }

  private func kept(in store: EventStore) throws -> RunReport {
    if let number {
      let run = try store.knownRun(number)
      guard let bytes = try store.runs.report(of: run.id) else {
        throw UnknownName(
          kind: "report of run", name: "\(number)",
          hint: "unfinished runs and those of 'identity' and 'rerun' have none")
      }
      return try StoredReport.report(bytes)
    }
    for run in try store.runs.all().reversed() {
      if let bytes = try store.runs.report(of: run.id) { return try StoredReport.report(bytes) }
    }
    throw UnknownName(kind: "report of run", name: "last", hint: "no run with a report has ended yet")
  }
}
