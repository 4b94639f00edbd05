import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchStore
import Engage

extension IdentityCommand {
  struct Link: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write a user's id into a column of an anonymous recipient and of the user's own.",
      discussion: "The SDKs' older updateAnonymousToPrimaryUser. Both recipients must exist.")

    @Option(help: ArgumentHelp("The recipient id of the anonymous recipient.", valueName: "id"))
    var anonymous: String
    @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
    var primary: String
    @Option(help: ArgumentHelp("The column that both get the user's id in.", valueName: "name"))
    var mergeColumn: String
    @Option(help: ArgumentHelp("The column by which the user's own recipient is found.", valueName: "name"))
    var primaryColumn = "EMAIL"
    @OptionGroup var source: ConfigSource<JobName>
    @OptionGroup var answer: AnswerOption

    func validate() throws {
      guard ![anonymous, primary, mergeColumn, primaryColumn].contains(where: \.isEmpty) else {
        throw ValidationError("Ids and names of columns cannot be empty.")
      }
    }

    func run() throws {
      try IdentityCommand.reporting {
        let settings = try source.load().configuration.settings
        let reconciler = try IdentityReconciler.ofOperator(
          settings, service: EngageService.of(settings.connection, sandbox: nil),
          store: EventStore.temporary(format: EngagePlatform().storeFormat),
          now: .now)
        let result = try reconciler.link(
          anonymous: anonymous, primary: primary, mergeColumn: mergeColumn, primaryColumn: primaryColumn)
        answer.format.tell([
          "changedAnonymous": .flag(result.changedAnonymous), "changedPrimary": .flag(result.changedPrimary),
        ]) {
          Streams.data(
            "anonymous \(result.changedAnonymous ? "updated" : "unchanged"), "
              + "primary \(result.changedPrimary ? "updated" : "unchanged")")
        }
      }
    }
  }
}
