package import ArgumentParser

/// The command line (contract section 4).
package struct EngageBatch: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "engage-batch",
    abstract: "Turn recorded mobile events into what the phones should have told the marketing platform, and deliver it.",
    version: "0.1.0",
    subcommands: [
      RunCommand.self, ValidateCommand.self, PostCommand.self, ConfigCommand.self, ExpirationCommand.self,
      LinkCommand.self, IdentityCommand.self,
    ])

  package init() {}
}

/// Where the executable enters.
package func engageBatch() { EngageBatch.main() }
