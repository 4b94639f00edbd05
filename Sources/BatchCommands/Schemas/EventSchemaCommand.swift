import ArgumentParser
import BatchFoundation
import EventSchemas

struct EngageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engage", abstract: "Check and infer schemas of an app's events.",
    subcommands: [SchemaCommand<AppSchema>.self])
}

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
  /// The output of `schema check`.
  var json: JSONNode {
    .object([
      "events": .number(events),
      "parameters": .number(parameters),
      "problems": .array(problems.map { .object(["path": .text($0.path), "problem": .text($0.kind.rawValue)]) }),
    ])
  }
}
