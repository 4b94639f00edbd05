package import ArgumentParser

/// The command line (contract section 4).
package struct EngageBatch: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "engage-batch",
      LinkCommand.self, StoreCommand.self, QuarantineCommand.self, IdentityCommand.self, SandboxCommand.self,
      DoctorCommand.self, XMLAPICommand.self, StreamCommand.self,
    ])

  package init() {}
}

/// Where the executable enters.
package func engageBatch() { EngageBatch.main() }
