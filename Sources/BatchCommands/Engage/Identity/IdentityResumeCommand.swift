import ArgumentParser
import Engage

extension IdentityCommand {
  struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Go on with all plans that are not ended, or with one; decide held checks anew.")

    @Argument(help: "The number of the plan. (default: all)")
    var plan: Int64?
    @OptionGroup var service: ServiceOptions
    @OptionGroup var answer: AnswerOption

    func run() throws {
      try service.reconciling { reconciler in
        let result = try reconciler.resume(plan)
        IdentityCommand.report(result.figures, answer.format)
        try IdentityCommand.end(result)
      }
    }
  }
}
