package import ArgumentParser
import BatchConfiguration

/// What there is a JSON Schema of.
enum DocumentSchema: String, ExpressibleByArgument, CaseIterable {
  case job, record, map, config, routes, report

  /// JSON Schema, draft 7, with a line end behind it.
  var text: String {
    switch self {
    case .job: Self.jobText + "\n"
    case .record: Self.recordText + "\n"
    case .map: Self.mapText + "\n"
    case .config: DocumentText.json(SettingsSchema.current.jsonSchema)
    case .routes: Self.routesText + "\n"
    case .report: Self.reportText + "\n"
    }
  }
}

/// `engage-batch schema`: what editors and other programs check files against.
package struct DocumentSchemaCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the JSON Schema of jobs, records, maps, configurations, routes or reports, for editors.")

  @Argument(help: "job, record, map, config, routes or report.")
  var document: DocumentSchema

  package init() {}

  package func run() throws { Streams.document(document.text) }
}
