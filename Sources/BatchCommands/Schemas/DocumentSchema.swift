import ArgumentParser
import BatchConfiguration
import BatchFoundation
import CEmbedded

/// The documents that have a JSON Schema.
enum DocumentSchema: String, ExpressibleByArgument, CaseIterable {
  case job, record, map, config, routes, report

  /// The JSON Schema, draft 7, ending with a newline. The one of configurations is generated from the table of
  /// settings; the others are files of `configs/schemas`.
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

struct DocumentSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the JSON Schema of jobs, records, maps, configurations, routes or reports, for editors.")

  @Argument(help: "job, record, map, config, routes or report.")
  var document: DocumentSchema

  func run() throws { Streams.document(document.text) }
}
