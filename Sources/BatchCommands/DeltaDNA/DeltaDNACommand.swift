import ArgumentParser

/// `engage-batch deltadna`: commands only for games that report to deltaDNA (reference deltadna 10).
struct DeltaDNACommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deltadna",
    abstract: "Check and infer event schemas, and explain which campaigns an event triggers.",
    subcommands: [SchemaCommand<GameSchema>.self, TriggersCommand.self])
}
