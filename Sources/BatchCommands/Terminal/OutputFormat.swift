import ArgumentParser
import BatchFoundation

/// How an answer is printed on stdout.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json

  /// Says the same to a program, on stdout, or to a person.
  func tell(_ document: @autoclosure () throws -> JSONNode, words: () throws -> Void) rethrows {
    switch self {
    case .text: try words()
    case .json: Streams.data(try document().text())
    }
  }
}

/// How the answer of a verb is printed, where there is nothing else to choose.
struct AnswerOption: ParsableArguments {
  @Option(help: "text or json.")
  var format: OutputFormat = .text
}
