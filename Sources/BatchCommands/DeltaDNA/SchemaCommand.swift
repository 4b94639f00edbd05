import ArgumentParser
import BatchFoundation
import BatchJSON
import DeltaDNASchema

/// `engage-batch deltadna schema`: the events that an environment knows.
struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "The events and parameters that an environment knows.",
    subcommands: [SchemaCheckCommand.self, SchemaInferCommand.self])
}

struct SchemaCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Count what a schema file holds, and print every reason why it could not be used.",
    discussion: "The reasons are told in words on stderr, with line and column. Ends with exit code 65 if there is any."
  )

  @Argument(help: "An event schema.")
  var file: String

  func run() throws {
    let inspection = EventSchema.inspect(try InputDocument.read(file)).inspection
    Streams.data(inspection.json.text())
    guard !inspection.problems.isEmpty else { return }
    let error = EventSchemaError(file: file, problems: inspection.problems)
    for line in error.lines { Streams.note(line.printable) }
    throw ExitCode(.inputRefused)
  }
}

extension SchemaInspection {
  /// As `deltadna schema check` prints it.
  var json: JSONNode {
    .object([
      "events": .number(events),
      "parameters": .number(parameters),
      "problems": .array(problems.map { .object(["path": .text($0.path), "problem": .text($0.kind.rawValue)]) }),
    ])
  }
}
