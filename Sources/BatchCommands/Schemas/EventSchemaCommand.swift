import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import CEmbedded
import Engage
import EngageRules
import EventSchemas
import Games

struct EngageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engage", abstract: "Check and infer schemas of an app's events.",
    subcommands: [SchemaCommand<AppSchema>.self])
}

struct SchemaCommand<Of: SchemaSubject>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "schema", abstract: "Check or infer a schema of events and their parameters.",
      subcommands: [SchemaCheckCommand<Of>.self, SchemaInferCommand<Of>.self])
  }
}

struct SchemaCheckCommand<Of: SchemaSubject>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "check",
      abstract: "Count the entries of a schema file, and print every problem.",
      discussion: "Problems are described on stderr, with line and column. Exit code 65 if there are any.")
  }

  @Argument(help: "An event schema.")
  var file: String

  func run() throws {
    let inspection = EventSchema.inspect(try InputDocument.read(file), name: file, of: Of.subject).inspection
    Streams.data(inspection.json.text())
    guard !inspection.problems.isEmpty else { return }
    for problem in inspection.problems { Streams.note(problem.fault.description) }
    throw ExitCode(.inputRefused)
  }
}

extension SchemaInspection {
  var json: JSONNode {
    .object([
      "events": .number(events),
      "parameters": .number(parameters),
      "problems": .array(problems.map { .object(["path": .text($0.path), "problem": .text($0.kind.rawValue)]) }),
    ])
  }
}

/// The kind of events that a schema describes.
protocol SchemaSubject {
  static var subject: EventSchema.Subject { get }
  static var platform: any Platform { get }
  /// Adds an event in the format that `--events-out` writes; `settings` are those of the run that produced
  /// the event.
  static func add(_ event: JSONView, _ settings: Settings, to inference: inout SchemaInference)
}

enum GameSchema: SchemaSubject {
  static var subject: EventSchema.Subject { .game }
  static var platform: any Platform { DeltaDNAPlatform() }

  static func add(_ event: JSONView, _ settings: Settings, to inference: inout SchemaInference) {
    guard let name = event["eventName"]?.string, let parameters = event["eventParams"] else { return }
    inference.add(event: name, parameters: parameters)
  }
}

enum AppSchema: SchemaSubject {
  static var subject: EventSchema.Subject { .app }
  static var platform: any Platform { EngagePlatform() }

  static func add(_ event: JSONView, _ settings: Settings, to inference: inout SchemaInference) {
    guard let code = event["eventTypeCode"]?.string, var elements = event["attributes"]?.elements else { return }
    var attributes: [(name: Text, value: Text)] = []
    while let attribute = elements.next() {
      guard let name = attribute["name"]?.string, let value = attribute["value"]?.string else { continue }
      attributes.append((name, value))
    }
    let naming = [AutomaticField.eventName, .goalName].map { settings.attributeNames[$0].utf8 }
    let name = attributes.first { attribute in
      !attribute.value.isEmpty && naming.contains { $0.elementsEqual(attribute.name) }
    }
    Array((name.map { "\(code) \($0.value)" } ?? code.description).utf8).withText {
      inference.add(event: $0, attributes: attributes.dropFirst(CoreAttribute.allCases.count))
    }
  }
}

enum DocumentSchema: String, ExpressibleByArgument, CaseIterable {
  case job, record, map, config, routes, report

  /// The JSON Schema, draft 7, ending with a newline. The schema of configurations is generated from the table of
  /// settings; the others are files in `configs/schemas`.
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
