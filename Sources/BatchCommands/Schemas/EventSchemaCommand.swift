import ArgumentParser
import BatchFoundation
import EventSchemas

/// `engage-batch engage`: what only apps that report to Engage have.
struct EngageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engage", abstract: "Check and infer schemas of an app's events.",
    subcommands: [SchemaCommand<AppSchema>.self])
}

/// `engage-batch deltadna schema` and `engage-batch engage schema`: the events that events are checked against.
struct SchemaCommand<Of: SchemaSubject>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "schema", abstract: "The events that are expected, with their parameters.",
      subcommands: [SchemaCheckCommand<Of>.self, SchemaInferCommand<Of>.self])
  }
}

struct SchemaCheckCommand<Of: SchemaSubject>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "check",
      abstract: "Count what a schema file holds, and print every reason why it could not be used.",
      discussion: "Reasons are printed in words on stderr, with line and column. Exit code 65 if there are any.")
  }

  @Argument(help: "An event schema.")
  var file: String

  func run() throws {
    let inspection = EventSchema.inspect(try InputDocument.read(file), of: Of.subject).inspection
    Streams.data(inspection.json.text())
    guard !inspection.problems.isEmpty else { return }
    let error = EventSchemaError(file: file, problems: inspection.problems)
    for line in error.lines { Streams.note(line.printable) }
    throw ExitCode(.inputRefused)
  }
}

extension SchemaInspection {
  /// As `schema check` prints it.
  var json: JSONNode {
    .object([
      "events": .number(events),
      "parameters": .number(parameters),
      "problems": .array(problems.map { .object(["path": .text($0.path), "problem": .text($0.kind.rawValue)]) }),
    ])
  }
}
