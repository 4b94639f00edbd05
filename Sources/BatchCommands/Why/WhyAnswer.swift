import BatchFoundation

/// An answer as a list of facts, each under a heading that a reader knows.
struct WhyAnswer {
  struct Fact {
    /// As JSON names it.
    var key: String
    /// As people read it.
    var title: String
    var lines: [String]
  }

  var subject: String
  private(set) var facts: [Fact] = []

  init(subject: String) { self.subject = subject }

  mutating func add(_ key: String, _ title: String, _ lines: String...) { add(key, title, lines) }

  /// Facts without a line are left out.
  mutating func add(_ key: String, _ title: String, _ lines: [String]) {
    guard !lines.isEmpty else { return }
    facts.append(Fact(key: key, title: title, lines: lines))
  }

  /// For people: titles in a column of their own.
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

  /// The same sentences by key.
  func document(_ head: JSONNode) -> JSONNode {
    head.adding(["subject": .text(subject)]).adding(facts.map { JSONMember(key: $0.key, value: .texts($0.lines)) })
  }
}
