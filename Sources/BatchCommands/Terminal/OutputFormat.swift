import ArgumentParser
import BatchFoundation
import BatchReport

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

  func tell(_ facts: Facts) { tell(facts.document) { facts.print() } }

  func tell(_ facts: [Facts]) { tell(.array(facts.map(\.document))) { for facts in facts { facts.print() } } }
}

extension Facts {
  fileprivate func print() {
    for line in lines { line.isNote ? Streams.note(line.text) : Streams.data(line.text) }
  }
}

/// The option for the format of an answer.
struct AnswerOption: ParsableArguments {
  @Option(help: "text or json.")
  var format: OutputFormat = .text
}
