import ArgumentParser
import BatchFoundation

/// The format of an answer on stdout.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json

  /// Prints the document on stdout, or the words for people.
  func tell(_ document: @autoclosure () throws -> JSONNode, words: () throws -> Void) rethrows {
    switch self {
    case .text: try words()
    case .json: Streams.data(try document().text())
    }
  }
}

/// The option for the format of an answer.
struct AnswerOption: ParsableArguments {
  @Option(help: "text or json.")
  var format: OutputFormat = .text
}
