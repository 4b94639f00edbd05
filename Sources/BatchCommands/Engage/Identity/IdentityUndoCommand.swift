import ArgumentParser
import Engage

extension IdentityCommand {
  struct Undo: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take a plan back, from wherever it is; the same merge is not made again.",
      discussion: """
        Restored are the columns that the plan changed, its audit row and who the device is. Events that were sent meanwhile, \
        opt-ins and contact lists are not.
        """)

    @Argument(help: "The number of the plan.")
    var plan: Int64
    @OptionGroup var service: ServiceOptions
    @Flag(help: "Keep the audit row, and write a second one with the roles exchanged.")
    var keepAuditHistory = false
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try service.reconciling { reconciler in
        let result = try reconciler.undo(plan, keepsAuditHistory: keepAuditHistory)
        try IdentityCommand.report(plan, of: reconciler.store, answer.format)
        try IdentityCommand.end(result)
      }
    }
  }
}
