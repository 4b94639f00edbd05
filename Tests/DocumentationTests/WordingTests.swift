import TestSupport
import Testing

/// Messages, help texts and comments avoid the words that docs/glossary.md lists on the left.
@Suite struct WordingTests {
  /// The phrases between asterisks in the first cells of the glossary's second table.
  private static func avoided() throws -> [String] {
    let page = try Checkout.text("docs/glossary.md")
    let table = try #require(page.firstRange(of: "## Words that are not used")).upperBound
    return page[table...].split(separator: "\n").filter { $0.hasPrefix("| *") }.flatMap { row in
      (row.split(separator: "|").first ?? "").matches(of: /\*([^*]+)\*/).map { String($0.output.1) }
    }
  }

  /// The strings and comments of a line of code.
  private static func prose(of line: Substring) -> [Substring] {
    if let comment = line.firstMatch(of: /^ *\/\/.*/) { return [comment.output] }
    return line.matches(of: /"(?:[^"\\]|\\.)*"/).map(\.output).filter { $0.contains(" ") }
  }

  /// Returns the phrases that occur in the text as whole words.
  private static func find(_ phrases: [String], in text: Substring) -> [String] {
    let words = " " + text.lowercased().map { $0.isLetter ? String($0) : " " }.joined() + " "
    let spaced = words.replacing("stands for", with: "").replacing("stand for", with: "")
    return phrases.filter { spaced.contains(" \($0) ") }
  }

  @Test("They are found as whole words, with their exception")
  func finds() throws {
    let avoided = try Self.avoided()
    #expect(avoided.count == 12, "\(avoided)")
    #expect(Self.find(avoided, in: "// What it stands on goes out.") == ["stands", "goes out"])
    #expect(Self.find(avoided, in: "/// A bit stands for each; understands") == [])
    #expect(Self.prose(of: #"  let told = "it was told" // told"#) == [#""it was told""#])
    #expect(Self.prose(of: "  /// Told.") == ["  /// Told."])
  }

  @Test("Sources have none of them", arguments: try Checkout.files(below: "Sources").filter { $0.hasSuffix(".swift") })
  func sources(path: String) throws {
    let avoided = try Self.avoided()
    for line in try Checkout.text(path).split(separator: "\n") {
      for text in Self.prose(of: line) { #expect(Self.find(avoided, in: text) == [], "\(path): \(text)") }
    }
  }

  @Test("Help has none of them")
  func help() throws {
    #expect(Self.find(try Self.avoided(), in: try Checkout.text("Tests/Goldens/help.txt")[...]) == [])
  }
}
