import TestSupport
import Testing

/// Comments name the rule that they follow as `(reference events 3.3)`: page and number of a heading below `docs`.
@Suite("References to the rules") struct ReferenceTests {
  /// Rules that are a section of another page, where this letter is before their numbers.
  static let sections = ["unity": (page: "deltadna-service", letter: "U")]

  /// The numbers of all pages with rules, by the name of the page.
  static func numbers() throws -> [String: Set<String>] {
    var numbers: [String: Set<String>] = [:]
    for path in try MarkdownPage.documents() {
      numbers[String(path.split(separator: "/").last?.dropLast(3) ?? "")] = try MarkdownPage(path).numbers
    }
    for (name, section) in sections {
      let own = (numbers[section.page] ?? []).filter { $0.hasPrefix(section.letter) }
      numbers[name] = Set(own.map { String($0.dropFirst(section.letter.count)) })
    }
    return numbers.filter { !$0.value.isEmpty }
  }

  /// What is read for references: everything that is written by hand and is not a page.
  static func sources() throws -> [String] {
    let below = try ["Sources", "Tests", "Benchmarks", "scripts", "jobs", "deploy", ".ci"].flatMap(
      Checkout.files(below:))
    let files = below + ["Package.swift", "Makefile"]
    // What this suite looks for is written in it.
    return files.filter {
      !$0.hasSuffix(".md") && !$0.hasPrefix("Tests/Vectors/") && !$0.hasPrefix("Tests/DocumentationTests/")
    }
  }

  @Test("Each names a page and a heading that exist")
  func everyReferenceIsKept() throws {
    let numbers = try Self.numbers()
    var count = 0
    for path in try Self.sources() {
      for (page, number) in Self.references(in: try Checkout.text(path), pages: Set(numbers.keys)) {
        count += 1
        #expect(numbers[page]?.contains(number) == true, "\(path): reference \(page) \(number)")
      }
    }
    #expect(count > 180)
  }

  @Test(
    "A list of numbers is read whole",
    arguments: [
      ("/// Ends (reference events 3.3).", ["events 3.3"]),
      ("/// Ends (reference events 3.3 rule 7, and more).", ["events 3.3"]),
      ("/// (reference\n  /// events 4.1 and 4.2), then decisions 4", ["events 4.1", "events 4.2"]),
      (
        "# (reference events 1.4 to 1.7, decisions 3, 10 and D1).",
        [
          "events 1.4", "events 1.7", "decisions 3", "decisions 10", "decisions D1",
        ]
      ),
      ("// a reference to events 3", []),
    ])
  func listsAreRead(comment: String, expected: [String]) {
    let found = Self.references(in: comment, pages: ["events", "decisions"])
    #expect(found.map { "\($0.page) \($0.number)" } == expected)
  }

  @Test("No number stands for two rules of a page")
  func numbersAreUnique() throws {
    for path in try MarkdownPage.documents() {
      #expect(try MarkdownPage(path).repeatedNumbers == [], "\(path)")
    }
  }

  @Test("No source names a document or a folder that the checkout does not have")
  func nothingOutsideIsNamed() throws {
    let strange =
      /\b(?:contract(?:-deltadna)? (?:section|decision)|spec (?:engage-|deeplinks|deltadna|reliability|[0-9])|bug B[0-9])|\.\.\/shared\b/
    for path in try Self.sources() {
      let text = Self.unwrapped(try Checkout.text(path))
      #expect(text.firstMatch(of: strange)?.output == nil, "\(path)")
      #expect(path == "Tests/TestSupport/Checkout.swift" || !text.contains("#filePath"), "\(path): use Checkout")
    }
  }

  /// Page and number of each reference, in order.
  private static func references(in text: String, pages: Set<String>) -> [(page: String, number: String)] {
    var found: [(String, String)] = []
    for passage in unwrapped(text).split(separator: "reference ", omittingEmptySubsequences: false).dropFirst() {
      var page: String?
      for word in passage.split(separator: " ").prefix(40) {
        let bare = String(word.prefix { !",.;:)".contains($0) || $0 == "." }.reversed().drop { $0 == "." }.reversed())
        if pages.contains(bare) {
          page = bare
        } else if let page, bare.wholeMatch(of: /[A-Z]?\d+(\.\d+)*/) != nil {
          found.append((page, bare))
        } else if page == nil || !["and", "to"].contains(bare) {
          break
        }
        if word.last.map({ ".;:)".contains($0) }) == true || word.contains(")") { break }
      }
    }
    return found
  }

  /// The text with comments that go over several lines on one.
  private static func unwrapped(_ text: String) -> String {
    text.replacing(/\n[ \t]*(?:\/\/\/?|#|\*)[ \t]?/, with: " ")
  }
}
