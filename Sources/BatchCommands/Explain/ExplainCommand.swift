import ArgumentParser
import BatchFoundation
import BatchReport
import CEmbedded

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain a word in the program's output, and say what to do about it.",
    discussion: """
      Such words include statuses of events, reasons for quarantine, warnings, findings, and states of nights, identity plans \
      and attempts. Without a word, all are listed.
      """)

  @Argument(help: "The word as it was printed, such as line-too-long or HOLD.")
  var word: String?

  @OptionGroup var answer: AnswerOption

  func run() throws {
    let page = WordPage.current
    guard let word else { return answer.format.show(page.contents) }
    guard let facts = page.facts(for: word) else {
      let hint = NearestName.of(word, among: page.rows.flatMap(\.words)).map { NearestName.question($0) + " " }
      throw CommandError(
        .usage,
        "error: there is no explanation of '\(word.printable)'; \(hint ?? "")'explain' lists the words that have one")
    }
    answer.format.show(facts)
  }
}

/// The rows of `docs/words.md`, in page order.
struct WordPage {
  struct Row {
    /// The heading of its section, such as `Quarantine reasons`.
    var section: String
    /// The words of the first cell. One that ends in capitals, such as `ignored-TYPE`, covers all words that begin with
    /// the part before the capitals.
    var words: [String]
    /// The other cells with the headings of their columns, as plain text. Empty cells are left out.
    var cells: [(title: String, text: String)]

    func has(_ word: String) -> Bool {
      words.contains { known in
        let stem = known.prefix { !$0.isUppercase }
        return known == word || (stem.hasSuffix("-") && word.count > stem.count && word.hasPrefix(stem))
      }
    }
  }

  var rows: [Row] = []

  static var current: WordPage { unsafe WordPage(page: String(cString: engage_words())) }

  /// Reads the table rows of a page whose first cell begins with a word in backquotes.
  init(page: String) {
    var section = ""
    var titles: [String] = []
    for line in page.split(separator: "\n") {
      if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
      guard line.hasPrefix("| ") else { continue }
      let cells = Self.cells(of: line)
      guard let first = cells.first, first.hasPrefix("`") else {
        titles = cells
        continue
      }
      let others = zip(titles, cells).dropFirst().filter { !$1.isEmpty }
      rows.append(
        Row(
          section: section, words: first.matches(of: /`([^`]+)`/).map { String($0.output.1) },
          cells: others.map { ($0, Self.plain($1)) }))
    }
  }

  /// Returns the meanings of a word; nil if the page does not contain the word.
  func facts(for word: String) -> Facts? {
    let meanings = rows.filter { $0.has(word) }
    guard !meanings.isEmpty else { return nil }
    var facts: Facts = [
      "word": .text(word),
      "meanings": .array(
        meanings.map { row in
          .object([("section", .text(row.section))] + row.cells.map { ($0.title, .text($0.text)) })
        }),
    ]
    for row in meanings {
      let width = row.cells.map(\.title.count).max() ?? 0
      facts.add(
        "lines", nil,
        ["\(word) (\(row.section))"] + row.cells.map { "  \($0.title.filled(to: width + 2))\($0.text)" })
    }
    return facts
  }

  var contents: Facts {
    var facts: Facts = [:]
    var sections: [(heading: String, words: [String])] = []
    for row in rows {
      if sections.last?.heading != row.section { sections.append((row.section, [])) }
      sections[sections.count - 1].words += row.words
    }
    for section in sections {
      facts.add(section.heading, .texts(section.words), [section.heading] + section.words.map { "  " + $0 })
    }
    return facts
  }

  private static func cells(of line: Substring) -> [String] {
    line.split(separator: "|").map { cell in
      String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// Returns the cell without link targets, backquotes or asterisks.
  private static func plain(_ cell: String) -> String {
    cell.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }.replacing("`", with: "").replacing("*", with: "")
  }
}
