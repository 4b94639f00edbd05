import ArgumentParser
import BatchConfiguration
import BatchFoundation

struct ConfigExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract:
      "Print what a setting means and every layer that gave it a value, with file and line; the first one holds.")

  @Argument(help: "Section.key, in any spelling; a key alone; or a section for all its keys.")
  var key: String

  @OptionGroup var source: ConfigSource<JobOption>
  @OptionGroup var answer: AnswerOption

  func validate() throws {
    if let problem = SettingsSchema.current.problem(withName: key) { throw ValidationError(problem) }
  }

  func run() throws {
    let settings = try source.load().configuration.resolved(matching: key)
    switch answer.format {
    case .text: Streams.document(settings.map(\.explanation).joined(separator: "\n"))
    case .json where settings.count == 1:
      for setting in settings { Streams.data(setting.explanationDocument.text()) }
    case .json: Streams.data(JSONNode.array(settings.map(\.explanationDocument)).text())
    }
  }
}
