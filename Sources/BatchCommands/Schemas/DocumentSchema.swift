import ArgumentParser
import BatchConfiguration
import BatchFoundation
import CEmbedded

/// What there is a JSON Schema of.
enum DocumentSchema: String, ExpressibleByArgument, CaseIterable {
  case job, record, map, config, routes, report

  /// JSON Schema, draft 7, with a line end behind it: that of configurations is made from the table of settings, the
  /// others are the files of `configs/schemas`.
  var text: String {
    switch self {
    case .job: unsafe String(cString: engage_schema_job())
    case .record: unsafe String(cString: engage_schema_record())
    case .map: unsafe String(cString: engage_schema_map())
    case .config: SettingsSchema.current.jsonSchema.text() + "\n"
    case .routes: unsafe String(cString: engage_schema_routes())
    case .report: unsafe String(cString: engage_schema_report())
    }
  }
}

/// `engage-batch schema`: what editors and other programs check files against.
struct DocumentSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the JSON Schema of jobs, records, maps, configurations, routes or reports, for editors.")

  @Argument(help: "job, record, map, config, routes or report.")
  var document: DocumentSchema

  func run() throws { Streams.document(document.text) }
}
