import ArgumentParser
import BatchFoundation
import EngageIdentity

extension IdentityCommand {
  struct Abandon: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "End a stopped plan and leave the service as it is; its check counts as finished.")

    @Argument(help: "The number of the plan.")
    var plan: Int64
    @OptionGroup var options: ChangedStoreOptions

    func run() throws {
      try options.changing { store in
        try IdentityReconciler.abandon(plan, in: store, now: .now)
        try IdentityCommand.report(plan, of: store, options.answer.format)
      }
    }
  }
}
