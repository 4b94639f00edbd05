import BatchFoundation
import BatchReport
import Testing

@testable import BatchCommands

@Suite("explain") struct WordPageTests {
  static let page = WordPage(
    page: """
      # Words

      ## States

      | word | the run | what to do |
      |---|---|---|
      | `done` | read [all](x.md#y) of `inputs` | |
      | `a`, `ignored-TYPE` | is *late* | run it again |

      ## Plans

      | state | meaning |
      |---|---|
      | `done` | is over |
      """)

  @Test("A word has every meaning, each with its section, without marks of the page")
  func meanings() throws {
    let facts = try #require(Self.page.facts(for: "done"))
    #expect(
      facts.lines.map(\.text) == [
        "done (States)", "  the run  read all of inputs", "done (Plans)", "  meaning  is over",
      ])
    #expect(
      facts.document.compactText
        == #"{"word":"done","meanings":[{"section":"States","the run":"read all of inputs"},{"section":"Plans","meaning":"is over"}]}"#
    )
  }

  @Test(
    "A row has several words, and one that ends in capitals stands for all that begin like it",
    arguments: ["a", "ignored-TYPE", "ignored-location"])
  func severalWords(_ word: String) throws {
    #expect(
      try #require(Self.page.facts(for: word)).lines.map(\.text) == [
        "\(word) (States)", "  the run     is late", "  what to do  run it again",
      ])
  }

  @Test("Other words have no meaning", arguments: ["", "Done", "ignored-", "don", "word"])
  func unknown(_ word: String) { #expect(Self.page.facts(for: word) == nil) }

  @Test("Without a word, all are listed by section")
  func contents() {
    #expect(
      Self.page.contents.lines.map(\.text) == ["States", "  done", "  a", "  ignored-TYPE", "Plans", "  done"])
  }

  @Test("The program explains every word of its lists", arguments: WordsPageTests.sections.flatMap(\.words))
  func all(_ word: String) throws {
    #expect(try #require(WordPage.current.facts(for: word)).lines.count > 1)
  }
}
