import ArgumentParser
import BatchFoundation
import Engage

extension IdentityCommand {
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show one plan with its steps, its images and its journal.")

    @Argument(help: "The number of the plan.")
    var plan: Int64
    @OptionGroup var choice: StoreChoice<JobOption>
    @OptionGroup var personal: PersonalDataOption
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try IdentityCommand.reporting {
        let store = try choice.identities.reading()
        guard let plan = try store.merges.plan(plan) else { throw IdentityReconciler.OperatorError.unknownPlan(plan) }
        let report = try PlanReport(plan, of: store, personal.policy(for: store))
        answer.format.tell(report.facts(try store.merges.journal(of: plan.id)))
      }
    }
  }
}
