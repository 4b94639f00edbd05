package import ArgumentParser
import BatchFoundation
import Glibc

/// The command line (reference command-line 1).
package struct EngageBatch: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "engage-batch",
    abstract:
      "Turn recorded mobile events into what the phones should have told the marketing platform, and deliver it.",
    version: Versions.text,
    subcommands: [
      InitCommand.self, BackfillCommand.self, RerunCommand.self,
      RunCommand.self, ValidateCommand.self, TestCommand.self, CompareCommand.self, PostCommand.self,
      VerifyCommand.self, PartitionCommand.self, DecideCommand.self, CollectCommand.self,
      HistoryCommand.self, ReportCommand.self,
      WhyCommand.self, ConfigCommand.self, ExpirationCommand.self, LinkCommand.self, StoreCommand.self,
      QuarantineCommand.self, ForgetCommand.self, IdentityCommand.self, SandboxCommand.self,
      DoctorCommand.self, ServiceCommand.self, XMLAPICommand.self, StreamCommand.self, DocumentSchemaCommand.self,
      DeltaDNACommand.self,
    ])

  package init() {}
}

/// Where the executable enters.
package func engageBatch() {
  ProcessSetup.begin()
  if let unknown = UnknownCommand.find(Array(CommandLine.arguments.dropFirst()), below: EngageBatch.self) {
    Streams.note("\(unknown)")
    exit(RunExit.usage.rawValue)
  }
  do {
    var command = try EngageBatch.parseAsRoot()
    try command.run()
  } catch {
    end(error)
  }
  endDone()
}

/// Ends as the argument parser would, but notices when its words for stdout cannot be written.
private func end(_ error: any Error) -> Never {
  let code = EngageBatch.exitCode(for: error).rawValue
  var words = EngageBatch.fullMessage(for: error)
  let arguments = Array(CommandLine.arguments.dropFirst())
  if code == 0, words.hasPrefix("OVERVIEW:"), let example = Examples.asked(by: arguments, below: EngageBatch.self) {
    words += "\n\n\(example)"
  }
  if !words.isEmpty { code == 0 ? Streams.data(words) : Streams.note(words) }
  if code == 0 { endDone() }
  exit(code)
}

/// Ends a command that did what it should, unless its data did not reach stdout.
private func endDone() -> Never { exit((Streams.hasFailed ? RunExit.cannotWrite : RunExit.done).rawValue) }
