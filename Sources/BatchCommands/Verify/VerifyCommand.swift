import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare what the store says that the service has with what the service can tell.",
    discussion: """
      Nothing is changed. What is missing, different or unknown is listed, with what repairs it. The exit code is 0 when there is \
      nothing of that, 65 when there is, 69 when the service cannot be asked.
      """)

  @OptionGroup var job: StoredJob

  @Option(help: ArgumentHelp("List at most this many findings; all are counted.", valueName: "findings"))
  var limit = 20

  @OptionGroup var personal: PersonalDataOption
  @OptionGroup var answer: AnswerOption

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit takes a number from 0.") }
  }

  func run() throws {
    let interruption = try Signals.interruption()
    let arrivals = try Failures.reported {
      var request = try job.request(.dryRun(sends: true), job.load())
      let server = try job.sandbox ? EmbeddedSandbox.start(for: request) : nil
      defer { EmbeddedSandbox.stop(server) }
      request.sandboxAddress = server?.baseURL
      return try Pipeline(request, interruption: interruption)
        .verify(limit: limit, personal.showPersonalData ? .clear : .hash)
    }
    answer.format.tell(arrivals.facts)
    if !arrivals.areWhole { throw ExitCode(.inputRefused) }
  }
}
