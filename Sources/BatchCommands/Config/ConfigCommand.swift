import ArgumentParser

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show, explain and check the configuration of a job, or print its schema.",
    subcommands: [ConfigShowCommand.self, ConfigExplainCommand.self, ConfigCheckCommand.self, ConfigSchemaCommand.self])
}
