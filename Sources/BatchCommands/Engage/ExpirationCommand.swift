import ArgumentParser
import BatchFoundation

struct ExpirationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expiration",
    abstract: "Print when a text like '1 day 15m' or '2014/12/25 11:12:13' expires.",
    discussion: """
      The expiry is printed on stdout in RFC 3339, what was understood on stderr. A text that is not an expiration prints \
      nothing on stdout and ends with exit code 65; with --compat it prints what the iOS SDK made of it.
      """)

  @Argument(help: "The text, as in a campaign or a configuration.")
  var text: String

  @Option(name: .customLong("from"), help: "When it begins. (default: now)", transform: Instant.argument)
  var start: Instant?

  @Flag(help: "Show what the SDKs of 2014 made of the text.")
  var compat = false

  @OptionGroup var answer: AnswerOption

  func run() throws {
    let report = ExpirationReport(text, from: start ?? .now, comparesSDKs: compat)
    answer.format.tell(report.facts)
    if report.expiry == nil { throw ExitCode(.inputRefused) }
  }
}
