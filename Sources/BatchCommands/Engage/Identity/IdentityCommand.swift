import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import Engage

struct IdentityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Look at merges, finish them, take them back.",
    discussion: """
      Plans that a fault or a kill interrupted are finished by the next run. Those in the states 'conflict' and 'held' wait for \
      'resume', 'undo' or 'abandon'. What the service refuses for good is 'refused', and each run tries it again.
      """,
    subcommands: [List.self, Show.self, Resume.self, Undo.self, Abandon.self, Renew.self, Link.self, Export.self])

  /// Runs work on the store and turns its errors into messages and exit codes.
  static func reporting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as ExitCode {
      throw error
    } catch {
      Streams.note(error is RemoteFailure ? "error: \(error)" : "\(error)")
      throw ExitCode(exit(of: error))
    }
  }

  /// Carries out an operator's request and records in the store how its run ended.
  static func noting(_ run: RunID, in store: EventStore, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      // The command's own error is reported; the missing record of its end is a consequence.
      try? store.runs.finish(run, at: .now, exit: exit(of: error).rawValue, counters: "{}")
      throw error
    }
    try store.runs.finish(run, at: .now, counters: "{}")
  }

  private static func exit(of error: any Error) -> RunExit {
    switch error {
    case let code as ExitCode: RunExit(rawValue: code.rawValue) ?? .inputOutput
    case let failure as RemoteFailure: failure.exit
    default: RunFailure.exit(of: error)
    }
  }

  static func report(_ figures: IdentityFigures, _ format: OutputFormat) {
    format.tell([
      "checks": .number(figures.checks), "created": .number(figures.created), "updated": .number(figures.updated),
      "merged": .number(figures.merged), "conflicts": .number(figures.conflicts),
      "auditRows": .number(figures.auditRows), "refused": .number(figures.refused),
    ]) {
      Streams.data(
        "checks \(figures.checks), created \(figures.created), updated \(figures.updated), merged \(figures.merged), "
          + "conflicts \(figures.conflicts), audit rows \(figures.auditRows)"
          + (figures.refused > 0 ? ", refused \(figures.refused)" : ""))
    }
  }

  /// Prints the current state of a plan.
  static func report(_ plan: Int64, of store: EventStore, _ format: OutputFormat) throws {
    guard let plan = try store.merges.plan(plan) else { throw IdentityReconciler.OperatorError.unknownPlan(plan) }
    format.tell(try PlanReport(plan, of: store, PersonalData(.hash, key: store.runs.reportKey())).facts)
  }

  /// - Throws: The error or exit code for any result other than success.
  static func end(_ result: IdentityResult) throws {
    if let failure = result.failure { throw failure }
    if result.figures.refused > 0 { throw ExitCode(.protocolRefused) }
    if result.figures.conflicts > 0 { throw ExitCode(.inputRefused) }
  }
}
