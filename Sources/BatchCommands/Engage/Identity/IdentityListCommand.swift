import ArgumentParser
import BatchFoundation
import BatchReport
import Engage

extension IdentityCommand {
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List plans, oldest first.")

    @OptionGroup var choice: StoreChoice<JobName>
    @OptionGroup var personal: PersonalDataOption
    @Flag(help: "Only plans that are not ended.")
    var open = false
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try IdentityCommand.reporting {
        let store = try choice.identities.reading()
        let personal = try personal.policy(for: store)
        let reports = try (open ? store.merges.openPlans() : store.merges.plans()).map {
          try PlanReport($0, of: store, personal)
        }
        answer.format.tell(.array(reports.map(\.facts.document))) {
          var listing = Listing(.text, columns: PlanReport.columns)
          for report in reports { listing.add(report.cells) }
          listing.end()
        }
      }
    }
  }
}
