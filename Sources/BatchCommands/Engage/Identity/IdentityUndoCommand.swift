import ArgumentParser
import EngageIdentity

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
    @Flag(help: "Leave a second audit row with the roles exchanged in place of the deleted one.")
    var keepAuditHistory = false
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try service.reconciling { reconciler in
        var reconciler = reconciler
        reconciler.keepsAuditHistory = keepAuditHistory
        let result = try reconciler.undo(plan)
        try IdentityCommand.report(plan, of: reconciler.store, answer.format)
        try IdentityCommand.end(result)
      }
    }
  }
}
