import BatchFoundation

/// An answer as a list of facts, each with a heading.
struct WhyAnswer {
  struct Fact {
    /// The key in JSON.
    var key: String
    /// The heading for people.
    var title: String
    var lines: [String]
  }

  var subject: String
  private(set) var facts: [Fact] = []

  init(subject: String) { self.subject = subject }

  mutating func add(_ key: String, _ title: String, _ lines: String...) { add(key, title, lines) }

  /// Adds a fact, unless it has no lines.
  mutating func add(_ key: String, _ title: String, _ lines: [String]) {
    guard !lines.isEmpty else { return }
    facts.append(Fact(key: key, title: title, lines: lines))
  }

  /// The lines for people, with the headings in a column.
  var lines: [String] {
    let width = (facts.map(\.title.unicodeScalars.count).max() ?? 0) + 2
    return [subject]
      + facts.flatMap { fact in
        fact.lines.enumerated().map { index, line in
          let title = index == 0 ? fact.title : ""
          return "  " + title + String(repeating: " ", count: width - title.unicodeScalars.count) + line
        }
      }
  }

  /// Returns the facts by key as JSON.
  func document(_ head: JSONNode) -> JSONNode {
    head.adding(["subject": .text(subject)]).adding(facts.map { JSONMember(key: $0.key, value: .texts($0.lines)) })
  }
}
