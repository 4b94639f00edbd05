import ArgumentParser
import BatchConfiguration
import BatchFoundation

struct ConfigSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print a JSON Schema of configuration files, for editors.")

  @OptionGroup var source: ConfigSource<JobName>

  func run() throws { Streams.data(SettingsSchema.current.jsonSchema.text()) }
}
