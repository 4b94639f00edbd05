import ArgumentParser
import BatchFoundation
import BatchIngest
import GameRules

struct TriggersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "triggers",
    abstract: "Explain the campaigns that events trigger.",
    subcommands: [TriggersExplainCommand.self])
}

struct TriggersExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Print the result of each trigger for an event, on a device whose trigger counts are zero.",
    discussion: """
      Triggers are listed in the order in which they are evaluated, up to the first that responds. Results: responds, condition \
      (not met), showCondition (none is met yet) or limit (the trigger is limited to 0 responses per session). Warnings \
      about the configuration are printed on stderr; the exit code is 78 for an invalid configuration, and 65 for an \
      invalid event.
      """)

  @Option(help: "A saved Engage response for the decision point 'config'.")
  var configuration: String

  @Option(help: "A file with one event, as written by --events-out, or - for stdin.")
  var event: String

  func run() throws {
    let document = try InputDocument.read(configuration)
    let configuration = try SessionConfiguration.read(document, name: self.configuration)
    for note in configuration.notes { Streams.note(note.description) }
    let bytes = try InputDocument.read(event)
    guard let results = TriggerExplanation.results(of: bytes, by: configuration) else {
      throw CommandError(
        .inputRefused,
        "\(event.printable): error: the file must contain a single event: an object with 'eventName' and 'eventParams'")
    }
    Streams.data(results.text())
  }
}

enum TriggerExplanation {
  /// Returns nil if the bytes are not exactly one event.
  static func results(of bytes: [UInt8], by configuration: SessionConfiguration) -> JSONNode? {
    guard unsafe bytes.withUnsafeBufferPointer(firstInvalidUTF8) == nil else { return nil }
    return LineParser().parse(bytes) { event -> JSONNode? in
      guard let name = event["eventName"]?.string, let parameters = event["eventParams"], parameters.kind == .object
      else { return nil }
      let results = configuration.explain(event: name, parameters: parameters)
      return .array(
        results.map { trigger, result in
          [
            "campaignID": .number(trigger.campaignID), "variantID": .number(trigger.variantID),
            "result": .text(result.rawValue),
          ]
        })
    } ?? nil
  }
}
