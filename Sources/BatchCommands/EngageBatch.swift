import ArgumentParser
import BatchFoundation
import BatchStore
import BatchWire
import CCommit
import Glibc

/// The command line (reference command-line 1).
struct EngageBatch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engage-batch",
    abstract:
      "Replay recorded mobile events as the marketing SDK would have reported them, and send them.",
    discussion:
      "--color auto, always or never, anywhere on the command line, sets whether errors and warnings are colored; NO_COLOR is respected.",
    version: Versions.text,
    groupedSubcommands: [
      CommandGroup(
        name: "Run",
        subcommands: [
          InitCommand.self, RunCommand.self, PostCommand.self, BackfillCommand.self, RerunCommand.self,
          StreamCommand.self,
        ]),
      CommandGroup(
        name: "Ask",
        subcommands: [
          ValidateCommand.self, TestCommand.self, CompareCommand.self, VerifyCommand.self, HistoryCommand.self,
          ReportCommand.self, WhyCommand.self, ExplainCommand.self, PersonCommand.self, ExpirationCommand.self,
          LinkCommand.self,
        ]),
      CommandGroup(
        name: "Repair",
        subcommands: [
          StoreCommand.self, QuarantineCommand.self, IdentityCommand.self, ForgetCommand.self, XMLAPICommand.self,
        ]),
      CommandGroup(
        name: "Set up",
        subcommands: [
          DoctorCommand.self, ConfigCommand.self, ServiceCommand.self, SandboxCommand.self, MapCommand.self,
          DocumentSchemaCommand.self, EngageCommand.self, DeltaDNACommand.self,
        ]),
      CommandGroup(
        name: "Several machines", subcommands: [PartitionCommand.self, DecideCommand.self, CollectCommand.self]),
    ])
}

/// The entry point of the executable.
package func engageBatch() {
  ProcessSetup.begin()
  let (arguments, colour) = Colour.take(from: Array(CommandLine.arguments.dropFirst()))
  Streams.begin(colour ?? .never)
  if colour == nil {
    Streams.note("error: --color must be auto, always or never")
    exit(RunExit.usage.rawValue)
  }
  if let unknown = UnknownCommand.find(arguments, below: EngageBatch.self) {
    Streams.note("\(unknown)")
    exit(RunExit.usage.rawValue)
  }
  do {
    var command = try EngageBatch.parseAsRoot(arguments)
    do {
      try command.run()
    } catch let error as ValidationError {
      refuse(error, of: type(of: command))
    } catch {
      throw Failures.report(error)
    }
  } catch {
    // A message about missing arguments does not help if an option was mistyped.
    if EngageBatch.exitCode(for: error).rawValue == RunExit.usage.rawValue,
      let unknown = UnknownOption.find(arguments, below: EngageBatch.self)
    {
      Streams.note("\(unknown)")
      exit(RunExit.usage.rawValue)
    }
    end(error)
  }
  endDone()
}

/// Prints a usage error and the command's usage, as the argument parser does before a command runs.
private func refuse(_ error: ValidationError, of command: any ParsableCommand.Type) -> Never {
  let usage = EngageBatch.helpMessage(for: command).matches(of: /USAGE: (engage-batch(?: [a-z][a-z-]*)*).*/).first
  Streams.note("Error: \(error)")
  if let usage {
    Streams.note(
      "Usage: \(usage.output.0.dropFirst("USAGE: ".count))\n  See '\(usage.output.1) --help' for more information.")
  }
  exit(RunExit.usage.rawValue)
}

/// Ends the process as the argument parser would, but reports a failure to write to stdout.
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

/// Ends a successful command, with an error if its data did not reach stdout.
private func endDone() -> Never { exit((Streams.hasFailed ? RunExit.cannotWrite : RunExit.done).rawValue) }

/// The versions of the product and of the libraries found at run time.
enum Versions {
  static let product = "0.1.0"

  /// The commit of the build, with `+` for uncommitted changes; nil if the build did not record it.
  static var commit: String? {
    let commit = unsafe String(cString: engage_commit())
    return commit.isEmpty ? nil : commit
  }

  static var libraries: [(name: String, version: String)] {
    [
      ("SQLite", EventStore.libraryVersion), ("libcurl", HTTPClient.libraryVersion),
      ("libxml2", XMLDocument.libraryVersion),
    ]
  }

  /// The output of `--version`, one line for each version.
  static var text: String {
    let own = ("engage-batch", product + (commit.map { " (\($0))" } ?? ""))
    return ([own] + libraries).map { "\($0.0) \($0.1)" }.joined(separator: "\n")
  }
}
