import BatchJSON
import Testing

@testable import BatchCommands

@Suite struct ListingTests {
  private final class Lines {
    var all: [String] = []
  }

  private func lines(_ format: OutputFormat, _ rows: [[JSONNode]]) -> [String] {
    let lines = Lines()
    var listing = Listing(format, columns: ["name", "count"]) { lines.all.append($0) }
    for row in rows { listing.add(row) }
    listing.end()
    return lines.all
  }

  @Test func writesTabsBelowTheNames() {
    #expect(
      lines(.text, [[.text("a\tb"), .number(1)], [.text(nil), .array([.flag(true), .text("\"")])]]) == [
        "name\tcount", "a\\u{9}b\t1", "\t[true,\"\\\"\"]",
      ])
    #expect(lines(.text, []) == ["name\tcount"])
  }

  @Test func writesOneArray() throws {
    let text = lines(.json, [[.text("a"), .number(1)], [.text(nil), .number(2)]]).joined(separator: "\n")
    #expect(
      text == """
        [
          {
            "name": "a",
            "count": 1
          },
          {
            "name": null,
            "count": 2
          }
        ]
        """)
    #expect(lines(.json, []) == ["[]"])
  }
}
