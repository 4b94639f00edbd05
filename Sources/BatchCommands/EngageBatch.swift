package import ArgumentParser
import BatchFoundation

/// The command line (reference command-line 1).
package struct EngageBatch: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "engage-batch",
    abstract:
      "Turn recorded mobile events into what the phones should have told the marketing platform, and deliver it.",
    version: Versions.text,
    subcommands: [
      InitCommand.self,
      RunCommand.self, ValidateCommand.self, PostCommand.self, HistoryCommand.self, WhyCommand.self, ConfigCommand.self,
      ExpirationCommand.self,
      LinkCommand.self, StoreCommand.self, QuarantineCommand.self, IdentityCommand.self, SandboxCommand.self,
      DoctorCommand.self, XMLAPICommand.self, StreamCommand.self, DocumentSchemaCommand.self,
      DeltaDNACommand.self,
    ])

  package init() {}
}

/// Where the executable enters.
package func engageBatch() {
  if let unknown = UnknownCommand.find(Array(CommandLine.arguments.dropFirst()), below: EngageBatch.self) {
    Streams.note("\(unknown)")
    EngageBatch.exit(withError: ExitCode(.usage))
  }
  EngageBatch.main()
}
