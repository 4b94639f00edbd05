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

  /// The words of the names that a line of code declares, and of its argument labels.
  private static func names(in line: Substring) -> [Substring] {
    guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { return [] }
    return line.matches(of: /(?:func|let|var|case|struct|enum|class|protocol) (\w+)|(\w+)(?: \w+)?: [A-Z\[(@]/).flatMap
    {
      ($0.output.1 ?? $0.output.2 ?? "").matches(of: /[A-Z]?[a-z]+/).map(\.output)
    }
  }

  @Test("They are found as whole words, with their exception")
  func finds() throws {
    let avoided = try Self.avoided()
    #expect(avoided.count == 19, "\(avoided)")
    #expect(Self.find(avoided, in: "// What it stands on goes out.") == ["stands", "goes out"])
    #expect(Self.find(avoided, in: "/// A bit stands for each; understands") == [])
    #expect(Self.prose(of: #"  let told = "it was told" // told"#) == [#""it was told""#])
    #expect(Self.prose(of: "  /// Told.") == ["  /// Told."])
    #expect(Self.names(in: "  func isTold(of a: Int, behind b: Int) {").contains { $0 == "Told" })
    #expect(Self.names(in: "  func place(behind isBefore: (Element) -> Bool) {").contains { $0 == "behind" })
  }

  @Test("Sources have none of them", arguments: try Checkout.files(below: "Sources").filter { $0.hasSuffix(".swift") })
  func sources(path: String) throws {
    let avoided = try Self.avoided()
    let text = try Checkout.text(path)
    let lowercased = text.lowercased()
    // Nearly all files have none of the words even as part of another, and their names need no look.
    let mayName = avoided.contains { lowercased.contains($0) }
    for line in text.split(separator: "\n") {
      for text in Self.prose(of: line) + (mayName ? Self.names(in: line) : []) {
        #expect(Self.find(avoided, in: text) == [], "\(path): \(text)")
      }
    }
  }

  @Test("Help has none of them")
  func help() throws {
    #expect(Self.find(try Self.avoided(), in: try Checkout.text("Tests/Goldens/help.txt")[...]) == [])
  }
}
